"""Requests of simulators to an inference engine, and its replies.

Without torch: a simulator needs it only where the engine is in its own process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from suphx.experience.observation import Observations, PolicyOutputs

Request = Sequence[Observations]
"""What one simulator asks at a time, one part for each head."""
Reply = list[PolicyOutputs]
"""The outputs to a request, part by part."""


class PendingReply(Protocol):
    """A reply that may not have arrived yet."""

    def result(self) -> Reply:
        """Wait for it."""


class EnginePort(Protocol):
    """Sends requests of a simulator to an engine in this or another process."""

    def submit(self, request: Request) -> PendingReply:
        """Send a request and return at once."""


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
        self.request_bytes += sum(part.nbytes for part in request)
        self.reply_bytes += sum(part.nbytes for part in outputs)
