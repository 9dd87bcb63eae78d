"""An inference engine that takes its weights from the parameter server: a part of its own, or inside a simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ray

from suphx.models.device import torch_threads
from suphx.selfplay.player import Player
from suphx_platform.inference_engine import InferenceEngine, Reply, Request, engine_thread
from suphx_platform.parameter_server import Version
from suphx_platform.reinforcement_config import ReinforcementConfig


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A reply that is there already."""

    reply: Reply

    def result(self) -> Reply:
        """Return it."""
        return self.reply


class FetchingEngine:
    """Consumes: requests, versions. Produces: replies. Waits for: the parameter server, until it has begun."""

    def __init__(self, config: ReinforcementConfig, server_name: str, name: str, *, has_thread: bool = False) -> None:
        """``server_name``: of the parameter server in Ray; ``name``: what this engine is called there; ``has_thread``:
        it computes in a thread of its own, whoever asks.
        """
        thread = engine_thread(config.engine.threads) if has_thread else None
        self._threads = config.engine.threads
        self._server: Any = ray.get_actor(server_name)
        self._name = name
        players: list[Player] = ray.get(ray.get(self._server.players.remote()))
        heads, num_older = config.head_numbers, config.simulator.opponents.num_older
        start, weak, *_ = players
        self.engine: InferenceEngine = InferenceEngine(
            config.engine, start, weak, heads=heads, num_older=num_older, thread=thread
        )
        self._has_weights: bool = False
        self.fetch()

    def fetch(self) -> int:
        """Take the newest weights if they are newer than those here; return their version."""
        known = self.engine.version if self._has_weights else -1
        update: tuple[Version, list[Version]] | None = ray.get(self._server.newer_than.remote(known, self._name))
        if update is not None:
            latest, older = update
            self.engine.load(with_weights(latest), [with_weights(version) for version in older])
            self._has_weights = True
        return self.engine.version

    def answer(self, request: Request) -> Reply:
        """Answer as ``InferenceEngine.answer``."""
        with torch_threads(self._threads):
            return self.engine.answer(request)

    def submit(self, request: Request) -> GivenReply:
        """Answer at once, in the thread that asks."""
        return GivenReply(self.answer(request))


def with_weights(version: Version) -> Version:
    """Return a version with the weights that its object reference stands for."""
    (reference,) = version.weights
    return Version(version.number, ray.get(reference))
