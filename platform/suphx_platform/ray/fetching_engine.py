"""An inference engine that takes its weights from the parameter server: a part of its own, or inside a simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ray

from suphx.models.device import torch_threads
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.engine import InferenceEngine, engine_thread
from suphx.selfplay.requests import Reply, Request
from suphx.selfplay.weights import PolicyVersion
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.ray.process import Peer


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A reply that is there already."""

    reply: Reply

    def result(self) -> Reply:
        """Return it."""
        return self.reply


class Fetching:
    """Weights that play, and how they are fetched.

    Consumes: versions. Waits for: the parameter server, until it has begun.
    """

    def __init__(self, engine: Any, server_name: str, name: str) -> None:
        """``engine`` has ``version``, ``has_older`` and ``load``; ``server_name``: of the parameter server in Ray;
        ``name``: what this engine is called there.
        """
        self.engine = engine
        self._server, self._name = Peer(server_name), name
        self._has_weights = False
        self.fetch()

    def begin(self) -> int:
        """Take the newest weights, also if those here are newer: the run has gone back; return their version."""
        self._has_weights = False
        return self.fetch()

    def fetch(self) -> int:
        """Take the newest weights if they are newer than those here; return their version."""
        known = self.engine.version if self._has_weights else -1
        update: tuple[PolicyVersion, list[PolicyVersion]] | None = self._server.insist("newer_than", known, self._name)
        if update is not None:
            latest, older = update
            played = older if self.engine.has_older else []  # only what somebody plays is fetched
            self.engine.load(with_weights(latest), [with_weights(version) for version in played])
            self._has_weights = True
        version: int = self.engine.version
        return version


class FetchingEngine(Fetching):
    """Consumes: requests, versions. Produces: outputs."""

    engine: InferenceEngine

    def __init__(self, config: ReinforcementConfig, server_name: str, name: str, *, has_thread: bool = False) -> None:
        """``has_thread``: it computes in one thread of its own."""
        self._threads = config.engine.threads
        policy_sets: list[PolicySet] = ray.get(Peer(server_name).insist("policy_sets"))
        start, weak, *_ = policy_sets
        opponents = config.simulator.opponents
        engine = InferenceEngine(
            config.engine,
            start,
            weak if opponents.weak else None,
            heads=config.head_numbers,
            num_older=opponents.num_older_that_play,
            thread=engine_thread(config.engine.threads) if has_thread else None,
        )
        super().__init__(engine, server_name, name)

    def evaluate(self, request: Request) -> Reply:
        """Return what ``InferenceEngine.evaluate`` returns."""
        with torch_threads(self._threads):
            return self.engine.evaluate(request)

    def submit(self, request: Request) -> GivenReply:
        """Answer at once, in the thread that asks."""
        return GivenReply(self.evaluate(request))


def with_weights(version: PolicyVersion) -> PolicyVersion:
    """Return a version with the weights that its object reference stands for."""
    (reference,) = version.weights
    return PolicyVersion(version.number, ray.get(reference))
