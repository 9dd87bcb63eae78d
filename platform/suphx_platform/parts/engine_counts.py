"""Counters of an inference engine, without torch, so that any process can import them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suphx.experience.observation import Observations, PolicyOutputs


@dataclass(slots=True)
class EngineCounts:
    """Since the engine was made."""

    requests: int = 0
    observations: int = 0
    request_bytes: int = 0
    reply_bytes: int = 0
    busy_seconds: float = 0.0
    """In which it answered."""

    def add(self, request: Sequence[Observations], outputs: Sequence[PolicyOutputs]) -> None:
        """Count a request that was answered."""
        self.requests += 1
        self.observations += sum(map(len, request))
        self.request_bytes += sum(part.num_bytes for part in request)
        self.reply_bytes += sum(part.num_bytes for part in outputs)
