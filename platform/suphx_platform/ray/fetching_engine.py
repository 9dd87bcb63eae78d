"""An inference engine that takes its weights from the parameter server: a part of its own, or inside a simulator."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import ray

from suphx.models.device import torch_threads
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.engine import InferenceEngine
from suphx.selfplay.requests import Reply, Request
from suphx.selfplay.weights import PolicyVersion, Versions
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.ray.process import Peer


class Fetching:
    """Weights that play, and how they are fetched.

    Consumes: versions. Waits for: the parameter server, until it has begun.
    """

    def __init__(self, engine: Any, server_name: str, name: str) -> None:
        """``engine`` has ``version`` and ``load``; ``server_name``: of the parameter server in Ray;
        ``name``: what this engine is called there.
        """
        self.engine = engine
        self._server, self._name = Peer(server_name), name
        self._has_weights = False
        self.fetch()

    def begin(self) -> int:
        """Take the newest weights, also if those here are newer; return their version."""
        self.forget()
        return self.fetch()

    def fetch(self) -> int:
        """Take the newest weights if they are newer than those here; return their version."""
        self.take(self.ask_newest())
        version: int = self.engine.version
        return version

    def forget(self) -> None:
        """Have the next weights taken whatever their version is: the run has gone back."""
        self._has_weights = False

    def ask_newest(self) -> Versions | None:
        """Return the newest versions; None if they are here."""
        known = self.engine.version if self._has_weights else -1
        versions: Versions | None = self._server.insist("newer_than", known, self._name)
        return versions

    def take(self, versions: Versions | None) -> None:
        """Play with versions that were asked for."""
        if versions is not None:
            self.engine.load([with_weights(version) for version in versions])
            self._has_weights = True


class FetchingEngine(Fetching):
    """Consumes: requests, versions. Produces: outputs."""

    engine: InferenceEngine

    def __init__(self, config: ReinforcementConfig, server_name: str, name: str) -> None:
        self._threads = config.engine.threads
        policy_sets: list[PolicySet] = ray.get(Peer(server_name).insist("policy_sets"))
        start, weak, *_ = policy_sets
        opponents = config.simulator.opponents
        engine = InferenceEngine(
            config.engine,
            start,
            weak if opponents.weak else None,
            heads=config.head_numbers,
            plays_older=opponents.older > 0,
        )
        super().__init__(engine, server_name, name)

    def evaluate_together(self, requests: Sequence[Request]) -> list[Reply]:
        """Return the replies to several requests."""
        with torch_threads(self._threads):
            return self.engine.evaluate_together(requests)

    def submit(self, request: Request) -> Future[Reply]:
        """Answer at once, in the thread that asks."""
        reply: Future[Reply] = Future()
        reply.set_result(self.evaluate_together([request])[0])
        return reply


def with_weights(version: PolicyVersion) -> PolicyVersion:
    """Return a version with the weights that its object reference stands for."""
    (reference,) = version.weights
    return PolicyVersion(version.number, ray.get(reference))
