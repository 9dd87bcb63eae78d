"""Which parts of a run live, what was said when one died or hung, and how often one may do so."""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import ray

from suphx_platform.cluster_config import ClusterConfig
from suphx_platform.engine_rates import EngineRates
from suphx_platform.flow import Event, Fault
from suphx_platform.ray_calls import Call, Calls
from suphx_platform.ray_part import Health, NotBegunError

_CHECKS = 4
"""Times within ``hang_seconds`` that every part is asked how it is."""
_ENGINE_SECONDS = 2.0
"""Engines are asked more often: they work for simulators, so that nobody here would hear that one is dead."""


class PartWatch:
    """Consumes: answers to questions of health. Produces: faults. Waits for: nothing.

    A part that hangs is killed; Ray starts it again like any other dead part.
    """

    def __init__(self, config: ClusterConfig, parts: Mapping[str, Any]) -> None:
        self.calls = Calls(self._hung)
        self.health: dict[str, Health] = {}
        """What each living part said last."""
        self.engine_rates = EngineRates()
        self._config = config
        self._parts = parts
        self._events: deque[Event] = deque()
        self._failures: dict[str, int] = {}
        self._killed: set[str] = set()
        self._down: set[str] = set()
        self._died_at: dict[str, float] = {}
        self._forgetful: set[str] = set()
        self._begin: dict[str, Callable[[], None]] = {}
        self._due = [(0.0, part) for part in parts]

    def work(self) -> None:
        """Ask those who were not asked for a while."""
        while self._due and self._due[0][0] <= time.monotonic():
            _, part = heapq.heappop(self._due)
            self._ask(part)

    def when_awaiting(self, part: str, begin: Callable[[], None]) -> None:
        """Have ``begin`` called whenever ``part`` says that it awaits it."""
        self._begin[part] = begin

    def emit(self, event: Event) -> None:
        """Keep an event for ``events``."""
        self._events.append(event)

    def events(self) -> list[Event]:
        """Return, and forget, what happened."""
        events = list(self._events)
        self._events.clear()
        return events

    def succeed(self, part: str) -> None:
        """Note that ``part`` did its work: its failures so far do not count any more."""
        self._failures.pop(part, None)
        self._down.discard(part)
        self._forgetful.discard(part)

    def fail(self, part: str, error: Exception) -> None:
        """Emit the fault of a part, once until it lives again; raise the error if it is one too many in a row."""
        self.health.pop(part, None)
        self.engine_rates.forget(part)
        is_dead = is_death(error)
        is_final = isinstance(error, ray.exceptions.ActorDiedError)  # Ray will not start it again
        if is_dead and not is_final and (part in self._down or self.calls.handled_since < self._died_at.get(part, 0)):
            return  # of the same death
        if isinstance(cause_of(error), NotBegunError) and part in self._forgetful:
            return  # its death was told, and nobody has told it to begin since
        if is_dead:
            self._forgetful.add(part)
            self._died_at[part] = time.monotonic()
        if isinstance(error, ray.exceptions.RayActorError):
            self._down.add(part)
        if part in self._killed:  # it hung, and that was said
            self._killed.discard(part)
        else:
            self.emit(Fault(part, "died" if is_dead else "failed", first_line(error)))
        self._failures[part] = self._failures.get(part, 0) + 1
        if is_final or self._failures[part] > self._config.max_failures:
            raise cause_of(error)

    def _ask(self, part: str) -> None:
        is_known = part in self.health
        seconds = self._config.hang_seconds if is_known else self._config.start_seconds
        actor = self._parts[part]
        call = Call(
            part=part,
            actor=actor,
            then=lambda health: self._hear(part, health),
            lost=lambda error: self._miss(part, error),
            seconds=seconds,
            is_aside=True,
        )
        self.calls.add(actor.health.remote(), call)

    def _hear(self, part: str, health: Health) -> None:
        self.health[part] = health
        if health.counts is not None:
            self.engine_rates.hear(part, health.counts, time.monotonic())
        self._down.discard(part)
        if health.awaits_begin and part in self._begin:
            self._begin[part]()
        if health.waiting_seconds > self._config.hang_seconds:
            ray.kill(self._parts[part], no_restart=False)
            self._hung(part, self._config.hang_seconds)
        self._ask_later(part)

    def miss(self, part: str, error: Exception) -> None:
        """Emit the fault of a part that did not do something small, unless it is known to be dead already."""
        if part in self.health or isinstance(error, ray.exceptions.ActorDiedError):
            self.fail(part, error)

    def _miss(self, part: str, error: Exception) -> None:
        """Deal with a part that gives no answer."""
        self.miss(part, error)
        self.health.pop(part, None)
        self._ask_later(part)

    def _ask_later(self, part: str) -> None:
        seconds = self._config.hang_seconds / _CHECKS
        if part.startswith("engine"):
            seconds = min(seconds, _ENGINE_SECONDS)
        heapq.heappush(self._due, (time.monotonic() + seconds, part))

    def _hung(self, part: str, seconds: float) -> None:
        """Note that ``part`` was killed because it did not answer for ``seconds``."""
        self._killed.add(part)
        self.emit(Fault(part, "hung", f"no answer for {seconds:.0f} s: it is started again"))


def is_death(error: Exception) -> bool:
    """Tell whether an error means that a part is dead, or was and has forgotten all."""
    return isinstance(error, ray.exceptions.RayActorError) or isinstance(cause_of(error), NotBegunError)


def cause_of(error: Exception) -> Exception:
    """Return what a part raised itself, where that is what the error is about."""
    if isinstance(error, ray.exceptions.ActorDiedError) and error.args:  # its first steps failed
        (error, *_) = error.args if isinstance(error.args[0], Exception) else (error,)
    if isinstance(error, ray.exceptions.RayTaskError) and isinstance(error.cause, Exception):
        return error.cause
    return error


def first_line(error: Exception) -> str:
    """Return what an error says, without tracebacks and advice."""
    cause = cause_of(error)
    text = str(cause).strip()
    return text.splitlines()[0][:300] if text else type(cause).__name__
