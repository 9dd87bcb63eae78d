"""Health of all parts: a heartbeat from each, a new actor for one that died or hangs, a limit on failures in a row.

There is one rule: an actor that died, whose node is gone or drained, or that does not answer in time is killed, and
another one is made in its place, which has to begin again. Ray itself restarts nothing. All that is known of a part
belongs to its present life, so that the calls that end with one death are one fault. A part for which no node has room
is not a fault: it is waited for. RLlib's FaultTolerantActorManager has no new actors, hangs or limits.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Any

import ray

from suphx.printable_text import first_line
from suphx.selfplay.backend import Event, Fault
from suphx.selfplay.layout import RayLayoutConfig
from suphx.selfplay.requests import EngineCounts
from suphx.training.trainer import DivergedError, PartUnavailableError
from suphx_platform.ray.process import Health, PeerLostError

LOST = "lost"
"""Method of the answer that says that a part has lost all and is to begin again."""

_CHECKS = 4
"""Health checks of each part within ``hang_seconds``."""
_WATCHED_SECONDS = 2.0
"""Engines and buffers are checked more often: only other parts call them, so the driver would not notice a death."""
_WAIT_SECONDS = 0.5
_CHECK_SECONDS = 5.0
"""Time for the answer to a health check."""
_LOOK_SECONDS = 0.5
_SAY_SECONDS = 30.0
_SHOWN = ("CPU", "GPU", "simulator", "inference", "learner")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a part answered to a call of its present life."""

    part: str
    method: str
    value: Any = None


@dataclass(slots=True)
class _Call:
    part: str
    method: str
    life: int
    ends: float
    seconds: float
    future: Future[Any]


class Supervisor:
    """Consumes: answers of actors. Produces: answers for its caller, faults. Waits for: the first answer.

    >>> supervisor.call("simulator 0", "play", 16)
    >>> for answer in supervisor.wait():
    ...     print(answer.part, answer.method, answer.value)
    """

    def __init__(
        self,
        layout: RayLayoutConfig,
        parts: Mapping[str, Any],
        *,
        renew: Callable[[str], Any],
        needs: Mapping[str, Collection[str]] | None = None,
        remedy: str = "",
        needs_text: Mapping[str, str] | None = None,
    ) -> None:
        """``parts``: actors by name; ``renew`` kills one and makes another in its place.

        ``needs``: by part, the parts of which one must live for it to work; until one does, it waits. ``remedy``: what
        helps if the nodes do not offer enough; ``needs_text``: sentences about what some parts wait for.
        """
        self._layout, self._parts, self._renew = layout, dict(parts), renew
        self._needs, self._missing = needs or {}, MissingParts(parts, _logger.info, remedy=remedy, needs=needs_text)
        self.is_stopping: Callable[[], bool] = lambda: False
        """Whether the run is to stop, and no part that is unavailable is waited for."""
        self._stop_seen_at: float | None = None
        self.health: dict[str, Health] = {}
        """What each living part said last."""
        self.engine_rates = EngineRates()
        self._events: deque[Event] = deque()
        self._numbers = itertools.count()
        self._open: dict[int, _Call] = {}
        self._num_open: Counter[str] = Counter()
        self._answered: Queue[int] = Queue()
        self._answered_at: dict[str, float] = {}
        """When each part last answered a call that was no health check."""
        self._looked_at = time.monotonic()
        self._lives: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._due = [(0.0, part, 0) for part in parts]
        """Health checks: when, of which part, of which actor of it."""
        self._actors: Counter[str] = Counter()
        """How many actors each part has had before."""

    # calls

    def call(self, part: str, method: str, *arguments: Any) -> None:
        """Call a method of a part; its answer comes out of ``wait``: LOST if it fails, or takes ``start_seconds``."""
        self._num_open[part] += 1
        self._call(part, method, self._layout.start_seconds, arguments)

    def num_calls(self, part: str | None = None) -> int:
        """Return the calls under way, of one part or of all, without health checks and those of earlier lives."""
        return self._num_open.total() if part is None else self._num_open[part]

    def wait(self, seconds: float = _WAIT_SECONDS) -> list[Answer]:
        """Return answers of the present lives of parts: all that are there, or the first that comes within ``seconds``.

        Makes the health checks that are due, replaces parts that died or hang, and logs which parts are unavailable.
        Raises the error of a part that cannot be made, or that failed more than ``max_failures`` times in a row;
        DivergedError.
        """
        while self._due and self._due[0][0] <= time.monotonic():
            _, part, actor = heapq.heappop(self._due)
            if actor == self._actors[part]:
                is_known = part in self.health
                self._call(part, "health", self._layout.hang_seconds if is_known else self._layout.start_seconds, ())
        answers: list[Answer] = []
        try:
            number = self._answered.get(timeout=seconds)
            while True:
                self._handle(self._open.pop(number), answers)
                number = self._answered.get_nowait()
        except Empty:
            pass
        if time.monotonic() > self._looked_at + _LOOK_SECONDS:
            self._look(answers)
        self._missing.look(self.health)
        return answers

    def begin_life(self, part: str) -> None:
        """Forget the calls of a part that are under way: it begins again."""
        self._lives[part] += 1
        self._num_open[part] = 0

    # events and faults

    def emit(self, event: Event) -> None:
        """Keep an event for ``events``; a fault is logged at once, as nobody may ask for events for a long time."""
        if isinstance(event, Fault):
            _logger.info("%s %s: %s", event.part, event.kind, event.message)
        self._events.append(event)

    def events(self) -> list[Event]:
        """Return, and forget, what happened."""
        events, self._events = list(self._events), deque()
        return events

    def succeed(self, part: str) -> None:
        """Note that ``part`` did its work: its failures so far do not count any more."""
        del self._failures[part]

    def check_stop(self, part: str) -> None:
        """Raise PartUnavailableError if the run is to stop while ``part`` is unavailable, or waits for a part that is.

        A part may be back and not have answered a health check yet: it is unavailable if it has not until the next one.
        """
        if not self.is_stopping():
            return
        now = time.monotonic()
        self._stop_seen_at = now if self._stop_seen_at is None else self._stop_seen_at
        has_been_asked = now - self._stop_seen_at >= self._layout.hang_seconds / _CHECKS + _CHECK_SECONDS
        if has_been_asked and (part not in self.health or self._is_waiting(part)):
            raise PartUnavailableError(f"{part} is unavailable")

    # inside

    def _call(self, part: str, method: str, seconds: float, arguments: tuple[Any, ...]) -> None:
        number, now = next(self._numbers), time.monotonic()
        life = self._actors[part] if method == "health" else self._lives[part]
        future: Future[Any] = getattr(self._parts[part], method).remote(*arguments).future()
        self._open[number] = _Call(part, method, life, now + seconds, seconds, future)
        future.add_done_callback(lambda _: self._answered.put(number))

    def _is_of_present(self, call: _Call) -> bool:
        lives = self._actors if call.method == "health" else self._lives
        return call.life == lives[call.part]

    def _handle(self, call: _Call, answers: list[Answer]) -> None:
        error = call.future.exception()
        if not self._is_of_present(call):
            return
        if call.method != "health":
            self._answered_at[call.part] = time.monotonic()
            self._num_open[call.part] -= 1
        if isinstance(error, Exception):
            self._fail(call, error, answers)
        elif error is not None:
            raise error
        elif call.method != "health":
            answers.append(Answer(call.part, call.method, call.future.result()))
        else:
            self._note_health(call.part, call.future.result(), answers)

    def _note_health(self, part: str, health: Health, answers: list[Answer]) -> None:
        self.health[part] = health
        if health.counts is not None:
            self.engine_rates.add(part, health.counts, time.monotonic())
        if health.waiting_seconds > self._layout.hang_seconds:
            self._hang(part, self._layout.hang_seconds, answers)
            return
        seconds = self._layout.hang_seconds / _CHECKS
        if part.startswith(("engine", "buffer")):
            seconds = min(seconds, _WATCHED_SECONDS)
        heapq.heappush(self._due, (time.monotonic() + seconds, part, self._actors[part]))

    def _look(self, answers: list[Answer]) -> None:
        """Replace the parts whose calls are overdue.

        Answers that wait to be handled, as after a long match, are in time. A part handles its calls one after
        another: the time of a call that waits for others begins with the last answer.
        """
        now = self._looked_at = time.monotonic()
        overdue: dict[str, float] = {}
        for call in self._open.values():
            since_answer = 0.0 if call.method == "health" else self._answered_at.get(call.part, 0.0)
            is_late = now > max(call.ends, since_answer + call.seconds) and not call.future.done()
            if is_late and self._is_of_present(call):
                overdue[call.part] = call.seconds
                call.ends = now + call.seconds
        for part, seconds in overdue.items():
            if not self._is_waiting(part):
                self._hang(part, seconds, answers)

    def _fail(self, call: _Call, error: Exception, answers: list[Answer]) -> None:
        """Go on after the error of a call: one of a part that is gone, or an error that the part raised."""
        part, cause = call.part, cause_of(error)
        if isinstance(cause, DivergedError):
            raise cause
        if isinstance(cause, PeerLostError):  # another part is to blame
            answers.append(Answer(part, LOST))
            return
        has_raised = isinstance(error, ray.exceptions.RayTaskError)
        fault = Fault(part, "failed" if has_raised else "died", first_line(cause))
        if is_final(error):
            self.emit(fault)
            raise cause
        self._count(fault, cause)
        if has_raised and call.method != "health":
            answers.append(Answer(part, LOST))
        else:
            self._replace(part, answers)

    def _hang(self, part: str, seconds: float, answers: list[Answer]) -> None:
        """Replace a part that has not answered for ``seconds``.

        One that has never answered is not a fault: no node has room for it, or it waits for other parts.
        """
        if part in self.health:
            message = f"no answer for {seconds:.0f} s: it is started again"
            self._count(Fault(part, "hung", message), TimeoutError(f"{part}: {message}"))
        self._replace(part, answers)

    def _count(self, fault: Fault, cause: Exception) -> None:
        self.emit(fault)
        self._failures[fault.part] += 1
        if self._failures[fault.part] > self._layout.max_failures:
            raise cause

    def _replace(self, part: str, answers: list[Answer]) -> None:
        self.health.pop(part, None)
        self.engine_rates.forget(part)
        self._answered_at.pop(part, None)
        self._actors[part] += 1
        self.begin_life(part)
        self._parts[part] = self._renew(part)
        heapq.heappush(self._due, (0.0, part, self._actors[part]))
        answers.append(Answer(part, LOST))

    def _is_waiting(self, part: str) -> bool:
        """Tell whether ``part`` cannot answer, because none of the parts lives of which it needs one."""
        return part in self._needs and not any(other in self.health for other in self._needs[part])


class EngineRates:
    """Consumes: counts of engines. Produces: rates between the last two reports of each. Waits for: nothing."""

    def __init__(self) -> None:
        self._reports: dict[str, tuple[tuple[float, EngineCounts], tuple[float, EngineCounts]]] = {}

    def add(self, part: str, counts: EngineCounts, at: float) -> None:
        """Add the counts of ``part`` at a time in seconds; lower counts than before mean that it was restarted."""
        now = (at, counts)
        _, last = self._reports.get(part, (now, now))
        self._reports[part] = (now if counts.requests < last[1].requests else last, now)

    def forget(self, part: str) -> None:
        """Drop the reports of a dead part."""
        self._reports.pop(part, None)

    def gauges(self) -> dict[str, float]:
        """Return rows a second of all engines, and the share of their time in which they had nothing to answer."""
        known = [(now[0] - last[0], last[1], now[1]) for last, now in self._reports.values() if now[0] > last[0]]
        if not known:
            return {}
        busy = [(now.busy_seconds - last.busy_seconds) / seconds for seconds, last, now in known]
        return {
            "engine_observations_per_second": sum(
                (now.observations - last.observations) / seconds for seconds, last, now in known
            ),
            "engine_waiting_share": max(0.0, 1 - sum(busy) / len(busy)),
        }


class MissingParts:
    """Consumes: the names of the parts that live. Produces: lines. Waits for: nothing."""

    def __init__(
        self, parts: Collection[str], say: Callable[[str], None], *, remedy: str, needs: Mapping[str, str] | None = None
    ) -> None:
        self._needs = needs or {}
        self._parts, self._say, self._remedy = set(parts), say, remedy
        self._said_at, self._has_waited = time.monotonic(), False

    def look(self, living: Collection[str]) -> None:
        """Say which parts are missing among the ``living``, if that has not been said for a while."""
        missing = self._parts.difference(living)
        now = time.monotonic()
        if not missing:
            if self._has_waited:
                self._say("all parts are there")
            self._said_at, self._has_waited = now, False
        elif now > self._said_at + _SAY_SECONDS:
            self._said_at, self._has_waited = now, True
            names = ", ".join(sorted(missing)[:5])
            needs = "".join(f"; {self._needs[part]}" for part in sorted(missing & self._needs.keys()))
            offered = {name: n for name, n in ray.cluster_resources().items() if name in _SHOWN}
            self._say(
                f"waiting for {names}: starting or not scheduled yet{needs}; the nodes offer {offered}. If that is not "
                f"enough, add nodes, or {self._remedy}"
            )


def is_final(error: Exception) -> bool:
    """Tell whether a part cannot be started: its first steps failed, which they would again."""
    is_dead = isinstance(error, ray.exceptions.ActorDiedError) and bool(error.args)
    return is_dead and isinstance(error.args[0], ray.exceptions.RayTaskError)


def cause_of(error: Exception) -> Exception:
    """Return what a part raised itself, where that is what the error is about."""
    if isinstance(error, ray.exceptions.ActorDiedError) and error.args:  # its first steps failed
        (error, *_) = error.args if isinstance(error.args[0], Exception) else (error,)
    if isinstance(error, ray.exceptions.RayTaskError) and isinstance(error.cause, Exception):
        return error.cause
    return error
