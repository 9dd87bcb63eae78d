"""Health of all parts: a heartbeat from each, an end for one that hangs, a limit on failures in a row."""

from __future__ import annotations

import heapq
import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from typing import Any, Protocol

import ray

from suphx.printable_text import shortened
from suphx.selfplay.backend import Event, Fault
from suphx.training.trainer import PartAwayError
from suphx_platform.on_ray.actor.missing_parts import MissingParts
from suphx_platform.on_ray.actor.ray_actor import Health, NotBegunError
from suphx_platform.on_ray.supervision.engine_rates import EngineRates
from suphx_platform.on_ray.supervision.in_flight_calls import InFlightCall, InFlightCalls

_CHECKS = 4
"""Health checks of each part within ``hang_seconds``."""
_ENGINE_SECONDS = 2.0
"""Engines are checked more often: only simulators call them, so the driver would not notice that one is dead."""

CALL_ERRORS = (ray.exceptions.RayActorError, ray.exceptions.RayTaskError, ray.exceptions.ObjectLostError)
"""What the answer to a call may be if its part, or the node of the answer, is gone, or the part raised an error."""
_WAIT_SECONDS = 0.5
_CHECK_SECONDS = 5.0
"""Time for the answer to a health check."""

_UNREPORTED = "its process has ended, and another one has taken its place"
_logger = logging.getLogger(__name__)


class SupervisionLimits(Protocol):
    """The settings of a supervisor: a layout of any kind of run has them."""

    @property
    def hang_seconds(self) -> float:
        """Time without a heartbeat after which a part is killed."""
        ...

    @property
    def start_seconds(self) -> float:
        """Time after which a start is tried again; time limit for the answer to any other call."""
        ...

    @property
    def max_failures(self) -> int:
        """Number of times in a row that one part may die or fail."""
        ...


class ActorSupervisor:
    """Consumes: results of health checks. Produces: faults. Waits for: nothing.

    A part that hangs is killed; Ray starts it again like any other dead part. The death of one incarnation of a part
    is one fault, however many calls fail because of it. A part for which no node has room is no fault.
    """

    def __init__(
        self,
        config: SupervisionLimits,
        parts: Mapping[str, Any],
        needs: Mapping[str, Collection[str]] | None = None,
        *,
        missing: MissingParts | None = None,
    ) -> None:
        """``needs``: by part, the parts of which one must live for it to work; until one does, it waits.

        ``missing`` logs which parts are away while an answer is waited for.
        """
        self._needs = needs or {}
        self._missing = missing
        self.is_stopping: Callable[[], bool] = lambda: False
        """Whether the run is to stop, and no part that is away is waited for."""
        self._stop_seen_at: float | None = None
        self.calls = InFlightCalls(self._hung, self._is_waiting)
        self.health: dict[str, Health] = {}
        """What each living part said last."""
        self.engine_rates = EngineRates()
        self._config = config
        self._parts = parts
        self._events: deque[Event] = deque()
        self._failures: dict[str, int] = {}
        self._incarnations: dict[str, str] = {}
        self._dead: dict[str, float] = {}  # since when, of those whose next incarnation has not been heard of
        self._restarted: dict[str, float] = {}  # since when the incarnation is known that is not the first one
        self._begin: dict[str, Callable[[], None]] = {}
        self._due = [(0.0, part) for part in parts]

    def work(self) -> None:
        """Make the health checks that are due."""
        while self._due and self._due[0][0] <= time.monotonic():
            _, part = heapq.heappop(self._due)
            self._ask(part)

    def wait(self) -> None:
        """Handle one answer if one comes soon; make the health checks that are due, and log which parts are away."""
        self.work()
        self.calls.wait(_WAIT_SECONDS)
        if self._missing is not None:
            self._missing.look(self.health)

    def check_stop(self, part: str) -> None:
        """Raise PartAwayError if the run is to stop while ``part`` is away, or waits for a part that is.

        A part may be back and not have answered a health check yet: it is away if it has not until the next one.
        """
        if not self.is_stopping():
            return
        now = time.monotonic()
        self._stop_seen_at = now if self._stop_seen_at is None else self._stop_seen_at
        has_been_asked = now - self._stop_seen_at >= self._config.hang_seconds / _CHECKS + _CHECK_SECONDS
        if has_been_asked and (part not in self.health or self._is_waiting(part)):
            raise PartAwayError(f"{part} is away")

    def call(
        self, part: str, reference: Any, on_result: Callable[[Any], None], on_error: Callable[[Exception], None]
    ) -> None:
        """Give the answer of a part, for which ``reference`` stands, to ``on_result``, or its error to ``on_error``.

        A part that does not answer within ``start_seconds`` is killed, which is an error of most calls; those that Ray
        repeats for the next incarnation wait on.
        """
        call = InFlightCall(
            part=part,
            actor=self._parts[part],
            on_result=on_result,
            on_error=on_error,
            seconds=self._config.start_seconds,
        )
        self.calls.add(reference, call)

    def answer(self, part: str, reference: Any) -> Any:
        """Return what a ``call`` gives, and handle all other answers meanwhile.

        Raises the error of the call; PartAwayError as ``check_stop``.
        """
        outcome: Future[Any] = Future()
        self.call(part, reference, outcome.set_result, outcome.set_exception)
        while not outcome.done():
            self.check_stop(part)
            self.wait()
        return outcome.result()

    def when_awaiting(self, part: str, begin: Callable[[], None]) -> None:
        """Have ``begin`` called whenever ``part`` says that it awaits it."""
        self._begin[part] = begin

    def emit(self, event: Event) -> None:
        """Keep an event for ``events``; a fault is logged at once, as nobody may ask for events for a long time."""
        if isinstance(event, Fault):
            _logger.info("%s %s: %s", event.part, event.kind, event.message)
        self._events.append(event)

    def events(self) -> list[Event]:
        """Return, and forget, what happened."""
        events = list(self._events)
        self._events.clear()
        return events

    def succeed(self, part: str) -> None:
        """Note that ``part`` did its work: its failures so far do not count any more."""
        self._failures.pop(part, None)

    def fail(self, part: str, error: Exception) -> None:
        """Emit one fault for each incarnation of a part that died or failed.

        Raises the cause if Ray will not restart the part, or after more than ``max_failures`` in a row.
        """
        self.health.pop(part, None)
        self.engine_rates.forget(part)
        cause = cause_of(error)
        if is_final(error):
            self.emit(Fault(part, "died", first_line(error)))
            raise cause
        if isinstance(cause, NotBegunError):
            if self._is_unreported_restart(part, cause.incarnation):
                self._count(Fault(part, "died", first_line(error)), cause)
        elif isinstance(error, ray.exceptions.RayActorError):
            if part not in self._dead and self.calls.handled_call_began >= self._restarted.get(part, 0):
                self._dead[part] = time.monotonic()
                self._count(Fault(part, "died", first_line(error)), cause)
        else:
            self._count(Fault(part, "failed", first_line(error)), cause)

    def _count(self, fault: Fault, cause: Exception) -> None:
        self.emit(fault)
        self._failures[fault.part] = self._failures.get(fault.part, 0) + 1
        if self._failures[fault.part] > self._config.max_failures:
            raise cause

    def _is_unreported_restart(self, part: str, incarnation: str) -> bool:
        """Note which ``incarnation`` a part is in; tell whether it is a new one and the old one's end was not told."""
        known, told_at = self._incarnations.get(part), self._dead.get(part)
        if incarnation == known:
            if told_at is not None and self.calls.handled_call_began > told_at:
                del self._dead[part]  # only the line was broken
            return False
        self._incarnations[part] = incarnation
        self._dead.pop(part, None)
        if known is None:
            return False
        self._restarted[part] = time.monotonic()
        return told_at is None

    def _ask(self, part: str) -> None:
        is_known = part in self.health
        seconds = self._config.hang_seconds if is_known else self._config.start_seconds
        actor = self._parts[part]
        call = InFlightCall(
            part=part,
            actor=actor,
            on_result=lambda health: self._note_health(part, health),
            on_error=lambda error: self._handle_no_health(part, error),
            seconds=seconds,
            is_health_check=True,
        )
        self.calls.add(actor.health.remote(), call)

    def _note_health(self, part: str, health: Health) -> None:
        self.health[part] = health
        if health.counts is not None:
            self.engine_rates.add(part, health.counts, time.monotonic())
        if self._is_unreported_restart(part, health.incarnation):
            self._count(Fault(part, "died", _UNREPORTED), RuntimeError(f"{part}: {_UNREPORTED}"))
        if health.awaits_begin and part in self._begin:
            self._begin[part]()
        if health.waiting_seconds > self._config.hang_seconds:
            ray.kill(self._parts[part], no_restart=False)
            self._hung(part, self._config.hang_seconds)
        self._ask_later(part)

    def fail_unless_dead(self, part: str, error: Exception) -> None:
        """Emit the fault of a part that did not do something small, unless it is known to be dead already."""
        if part in self.health or is_final(error):
            self.fail(part, error)

    def _handle_no_health(self, part: str, error: Exception) -> None:
        """Handle a health check that failed."""
        self.fail_unless_dead(part, error)
        self.health.pop(part, None)
        self._ask_later(part)

    def _ask_later(self, part: str) -> None:
        seconds = self._config.hang_seconds / _CHECKS
        if part.startswith("engine"):
            seconds = min(seconds, _ENGINE_SECONDS)
        heapq.heappush(self._due, (time.monotonic() + seconds, part))

    def _is_waiting(self, part: str) -> bool:
        """Tell whether ``part`` cannot answer, because none of the parts lives of which it needs one."""
        return part in self._needs and not any(other in self.health for other in self._needs[part])

    def _hung(self, part: str, seconds: float) -> None:
        """Note that ``part`` was killed because it did not answer for ``seconds``.

        An incarnation that has never answered does not count: no node has room for it, or it waits for other parts.
        """
        self._dead[part] = time.monotonic()
        if self.health.pop(part, None) is None:
            return
        message = f"no answer for {seconds:.0f} s: it is started again"
        self._count(Fault(part, "hung", message), TimeoutError(f"{part}: {message}"))


def is_final(error: Exception) -> bool:
    """Tell whether Ray will not start a part again: its first steps failed.

    A part whose node was drained (``kubectl delete pod``, ``kubectl drain``, a reclaimed spot node) has the same class
    of error, but Ray starts it on another node.
    """
    return isinstance(error, ray.exceptions.ActorDiedError) and not error.preempted


def is_death(error: Exception) -> bool:
    """Tell whether an error means that a part is dead, or was and has forgotten all."""
    return isinstance(error, ray.exceptions.RayActorError) or isinstance(cause_of(error), NotBegunError)


def has_lost_answer(error: Exception) -> bool:
    """Tell whether an error means that a part has answered nothing, or that its answer was lost with its node.

    Only for calls whose arguments are kept elsewhere: the error is the same if the node of an argument was lost.
    """
    return is_death(error) or isinstance(error, ray.exceptions.ObjectLostError)


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
    return shortened(text.splitlines()[0]) if text else type(cause).__name__
