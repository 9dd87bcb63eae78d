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


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A reply that is there already."""

    reply: Reply

    def result(self) -> Reply:
        """Return it."""
        return self.reply


class FetchingEngine:
    """Consumes: requests, versions. Produces: outputs. Waits for: the parameter server, until it has begun."""

    def __init__(self, config: ReinforcementConfig, server_name: str, name: str, *, has_thread: bool = False) -> None:
        """``server_name``: of the parameter server in Ray; ``name``: what this engine is called there; ``has_thread``:
        it computes in one thread of its own.
        """
        thread = engine_thread(config.engine.threads) if has_thread else None
        self._threads = config.engine.threads
        self._server: Any = ray.get_actor(server_name)
        self._name = name
        policy_sets: list[PolicySet] = ray.get(ray.get(self._server.policy_sets.remote()))
        start, weak, *_ = policy_sets
        opponents = config.simulator.opponents
        self.engine: InferenceEngine = InferenceEngine(
            config.engine,
            start,
            weak if opponents.weak else None,
            heads=config.head_numbers,
            num_older=opponents.num_older_that_play,
            thread=thread,
        )
        self._has_weights: bool = False
        self.fetch()

    def fetch(self) -> int:
        """Take the newest weights if they are newer than those here; return their version."""
        known = self.engine.version if self._has_weights else -1
        update: tuple[PolicyVersion, list[PolicyVersion]] | None = ray.get(
            self._server.newer_than.remote(known, self._name)
        )
        if update is not None:
            latest, older = update
            played = older if self.engine.has_older else []  # only what somebody plays is fetched
            self.engine.load(with_weights(latest), [with_weights(version) for version in played])
            self._has_weights = True
        return self.engine.version

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
