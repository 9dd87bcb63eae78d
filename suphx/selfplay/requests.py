"""Requests of simulators to an inference engine: who sends them, and how concurrent ones are answered together.

Without torch: a simulator needs it only where the engine is in its own process.

>>> batcher = RequestBatcher(max_observations=512, wait_seconds=0.001)
>>> reply = batcher.evaluate(request, evaluate_together)  # in several threads at a time
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
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
        ...


class EnginePort(Protocol):
    """Sends requests of a simulator to an engine in this or another process."""

    def submit(self, request: Request) -> PendingReply:
        """Send a request and return at once."""
        ...


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


class RequestBatcher:
    """Batches concurrent requests: the first caller waits for others, answers all requests, and wakes the others."""

    def __init__(self, max_observations: int, wait_seconds: float) -> None:
        """A batch is answered when it has ``max_observations`` observations, or after ``wait_seconds``."""
        self._max_observations = max_observations
        self._wait_seconds = wait_seconds
        self._changed = threading.Condition()
        self._waiting: list[tuple[Request, Future[Reply]]] = []
        self._open: dict[Future[Reply], float] = {}
        self._has_leader = False

    @property
    def waiting_seconds(self) -> float:
        """How long the oldest request without a reply has been waiting."""
        with self._changed:
            return time.monotonic() - min(self._open.values()) if self._open else 0.0

    def evaluate(self, request: Request, evaluate_together: _EvaluateTogether) -> Reply:
        """Return the reply to ``request``; one waiting caller calls ``evaluate_together`` for its whole batch."""
        future: Future[Reply] = Future()
        with self._changed:
            self._waiting.append((request, future))
            self._open[future] = time.monotonic()
            self._changed.notify_all()
        while not future.done():
            group = self._lead(future)
            if group:
                self._finish(group, evaluate_together)
        with self._changed:
            del self._open[future]
        return future.result()

    def _lead(self, future: Future[Reply]) -> list[tuple[Request, Future[Reply]]]:
        """Become the leader, or wait until another leader has answered; return the group to answer, if any."""
        with self._changed:
            self._changed.wait_for(lambda: future.done() or not self._has_leader)
            if future.done():
                return []
            self._has_leader = True
            end = time.monotonic() + self._wait_seconds
            while self._num_observations() < self._max_observations and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)
            group: list[tuple[Request, Future[Reply]]] = []
            rows = 0
            while self._waiting and (not group or rows < self._max_observations):
                group.append(self._waiting.pop(0))
                rows += _num_observations(group[-1][0])
            return group

    def _finish(self, group: list[tuple[Request, Future[Reply]]], evaluate_together: _EvaluateTogether) -> None:
        try:
            for (_, future), reply in zip(group, evaluate_together([request for request, _ in group]), strict=True):
                future.set_result(reply)
        except BaseException as error:  # noqa: BLE001 - it is raised again at every caller of the group
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
        finally:
            with self._changed:
                self._has_leader = False
                self._changed.notify_all()

    def _num_observations(self) -> int:
        return sum(_num_observations(request) for request, _ in self._waiting)


class _EvaluateTogether(Protocol):
    def __call__(self, requests: Sequence[Request], /) -> list[Reply]: ...


def _num_observations(request: Request) -> int:
    return sum(map(len, request))
