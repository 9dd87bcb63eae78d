"""Health of all parts: a heartbeat from each, an end for one that hangs, a new start for one that ended, a limit on
failures in a row.

Ray starts a dead actor again where there is room (``max_restarts=-1``) and repeats ``begin`` for its next process
(``max_task_retries=-1``). What is added here: parts that hang are killed; an actor that has ended by itself, which Ray
counts as wanted and never starts again, is made anew; the death of one process is one fault, however many calls fail
because of it; a part for which no node has room is no fault. RLlib's FaultTolerantActorManager has none of these.
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

from suphx.printable_text import shortened
from suphx.selfplay.backend import Event, Fault
from suphx.selfplay.layout import RayLayoutConfig
from suphx.selfplay.requests import EngineCounts
from suphx.training.trainer import PartAwayError
from suphx_platform.ray.process import Health, NotBegunError

RESTARTED = "restarted"
"""Method of the answer that says that a part was started again, and has forgotten all."""

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
_UNREPORTED = "its process has ended, and another one has taken its place"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a part answered to a call of its present life."""

    part: str
    method: str
    value: Any
    error: Exception | None = None


@dataclass(slots=True)
class _Call:
    part: str
    method: str
    life: int
    began: float
    ends: float
    seconds: float
    future: Future[Any]


class Supervisor:
    """Consumes: answers of actors. Produces: answers for its caller, faults. Waits for: the first answer.

    >>> supervisor.call("simulator 0", "play", 16)
    >>> for answer in supervisor.wait():
    ...     print(answer.part, answer.method, answer.value, answer.error)
    """

    def __init__(
        self,
        layout: RayLayoutConfig,
        parts: dict[str, Any],
        *,
        renew: Callable[[str], Any],
        needs: Mapping[str, Collection[str]] | None = None,
        remedy: str = "",
        needs_text: Mapping[str, str] | None = None,
    ) -> None:
        """``parts``: actors by name; ``renew`` makes another one in the place of one that Ray does not start again.

        ``needs``: by part, the parts of which one must live for it to work; until one does, it waits. ``remedy``: what
        helps if the nodes do not offer enough; ``needs_text``: sentences about what some parts wait for.
        """
        self._layout, self._parts, self._renew = layout, parts, renew
        self._needs, self._missing = needs or {}, MissingParts(parts, _logger.info, remedy=remedy, needs=needs_text)
        self.is_stopping: Callable[[], bool] = lambda: False
        """Whether the run is to stop, and no part that is away is waited for."""
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
        self._kept: deque[Answer] = deque()
        self._looked_at = time.monotonic()
        self._handled_call_began = 0.0
        self._lives: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        self._incarnations: dict[str, str] = {}
        self._dead: dict[str, float] = {}  # since when, of those whose next incarnation has not been heard of
        self._restarted: dict[str, float] = {}  # since when the incarnation is known that is not the first one
        self._due = [(0.0, part) for part in parts]

    # calls

    def call(self, part: str, method: str, *arguments: Any) -> None:
        """Call a method of a part; its answer comes out of ``wait``.

        A part that does not answer within ``start_seconds`` is killed, which is an error of most calls; those that Ray
        repeats for the next process wait on.
        """
        self._num_open[part] += 1
        self._call(part, method, self._layout.start_seconds, arguments)

    def num_calls(self, part: str | None = None) -> int:
        """Return the calls under way, of one part or of all, without health checks and those of earlier lives."""
        return sum(self._num_open.values()) if part is None else self._num_open[part]

    def wait(self, seconds: float = _WAIT_SECONDS) -> list[Answer]:
        """Return answers of the present lives of parts: all that are there, or the first that comes within ``seconds``.

        Makes the health checks that are due, kills parts that hang, and logs which parts are away.
        """
        while self._due and self._due[0][0] <= time.monotonic():
            _, part = heapq.heappop(self._due)
            is_known = part in self.health
            self._call(part, "health", self._layout.hang_seconds if is_known else self._layout.start_seconds, ())
        answers, self._kept = list(self._kept), deque()
        try:
            number = self._answered.get(timeout=0 if answers else seconds)
            while True:
                self._handle(self._open.pop(number), answers)
                number = self._answered.get_nowait()
        except Empty:
            pass
        if time.monotonic() > self._looked_at + _LOOK_SECONDS:
            self._look()
        self._missing.look(self.health)
        return answers

    def ask(self, part: str, method: str, *arguments: Any) -> Any:
        """Return what a call gives; other answers come out of the next ``wait``.

        Raises the error of the call; PartAwayError as ``check_stop``.
        """
        self.call(part, method, *arguments)
        others: list[Answer] = []
        try:
            while True:
                self.check_stop(part)
                answers = self.wait()
                for place, answer in enumerate(answers):
                    if (answer.part, answer.method) == (part, method):
                        others += answers[place + 1 :]
                        if answer.error is not None:
                            raise answer.error
                        return answer.value
                    others.append(answer)
        finally:
            self._kept.extendleft(reversed(others))

    def begin_life(self, part: str) -> None:
        """Forget the calls of a part that are under way: it begins again."""
        self._lives[part] = self._lives.get(part, 0) + 1
        self._num_open[part] = 0
        self._kept = deque(answer for answer in self._kept if answer.part != part)

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
        self._failures.pop(part, None)

    def fail(self, part: str, error: Exception) -> None:
        """Emit one fault for each process of a part that died or failed; make an actor that has ended anew.

        Raises the cause if the first steps of a part fail, or after more than ``max_failures`` in a row.
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
            if part not in self._dead and self._handled_call_began >= self._restarted.get(part, 0):
                self._dead[part] = time.monotonic()
                self._count(Fault(part, "died", first_line(error)), cause)
        else:
            self._count(Fault(part, "failed", first_line(error)), cause)
        if is_ended(error, self._parts[part]):
            self._parts[part] = self._renew(part)

    def fail_unless_dead(self, part: str, error: Exception) -> None:
        """Emit the fault of a part that did not do something small, unless it is known to be dead already."""
        if part in self.health or is_final(error) or is_ended(error, self._parts[part]):
            self.fail(part, error)

    def check_stop(self, part: str) -> None:
        """Raise PartAwayError if the run is to stop while ``part`` is away, or waits for a part that is.

        A part may be back and not have answered a health check yet: it is away if it has not until the next one.
        """
        if not self.is_stopping():
            return
        now = time.monotonic()
        self._stop_seen_at = now if self._stop_seen_at is None else self._stop_seen_at
        has_been_asked = now - self._stop_seen_at >= self._layout.hang_seconds / _CHECKS + _CHECK_SECONDS
        if has_been_asked and (part not in self.health or self._is_waiting(part)):
            raise PartAwayError(f"{part} is away")

    # inside

    def _call(self, part: str, method: str, seconds: float, arguments: tuple[Any, ...]) -> None:
        number, now = next(self._numbers), time.monotonic()
        future: Future[Any] = getattr(self._parts[part], method).remote(*arguments).future()
        self._open[number] = _Call(part, method, self._lives.get(part, 0), now, now + seconds, seconds, future)
        future.add_done_callback(lambda _: self._answered.put(number))

    def _handle(self, call: _Call, answers: list[Answer]) -> None:
        error = call.future.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        self._handled_call_began = call.began
        if call.method == "health":
            self._handle_health(call.part, error, None if error is not None else call.future.result(), answers)
            return
        self._answered_at[call.part] = time.monotonic()
        if call.life == self._lives.get(call.part, 0):
            self._num_open[call.part] -= 1
            value = None if error is not None else call.future.result()
            answers.append(Answer(call.part, call.method, value, error))

    def _handle_health(self, part: str, error: Exception | None, health: Health | None, answers: list[Answer]) -> None:
        if health is None:
            assert error is not None
            if part in self.health or is_final(error) or is_ended(error, self._parts[part]):
                self.fail(part, error)
                answers.append(Answer(part, RESTARTED, None))
            self.health.pop(part, None)
        else:
            self.health[part] = health
            if health.counts is not None:
                self.engine_rates.add(part, health.counts, time.monotonic())
            if self._is_unreported_restart(part, health.incarnation):
                self._count(Fault(part, "died", _UNREPORTED), RuntimeError(f"{part}: {_UNREPORTED}"))
                answers.append(Answer(part, RESTARTED, None))
            if health.waiting_seconds > self._layout.hang_seconds:
                ray.kill(self._parts[part], no_restart=False)
                self._note_hang(part, self._layout.hang_seconds)
        seconds = self._layout.hang_seconds / _CHECKS
        if part.startswith(("engine", "buffer")):
            seconds = min(seconds, _WATCHED_SECONDS)
        heapq.heappush(self._due, (time.monotonic() + seconds, part))

    def _look(self) -> None:
        """Kill the parts whose calls are overdue: the calls fail then like those of any dead part.

        Answers that wait to be handled, as after a long match, are in time. A part handles its calls one after
        another: the time of a call that waits for others begins with the last answer.
        """
        now = self._looked_at = time.monotonic()
        overdue: dict[str, float] = {}
        for call in self._open.values():
            since_answer = 0.0 if call.method == "health" else self._answered_at.get(call.part, 0.0)
            if now > max(call.ends, since_answer + call.seconds) and not call.future.done():
                overdue[call.part] = call.seconds
                call.ends = now + call.seconds
        for part, seconds in overdue.items():
            if not self._is_waiting(part):
                ray.kill(self._parts[part], no_restart=False)
                self._note_hang(part, seconds)

    def _note_hang(self, part: str, seconds: float) -> None:
        """Note that ``part`` was killed because it did not answer for ``seconds``.

        A process that has never answered does not count: no node has room for it, or it waits for other parts.
        """
        self._dead[part] = time.monotonic()
        if self.health.pop(part, None) is None:
            return
        message = f"no answer for {seconds:.0f} s: it is started again"
        self._count(Fault(part, "hung", message), TimeoutError(f"{part}: {message}"))

    def _count(self, fault: Fault, cause: Exception) -> None:
        self.emit(fault)
        self._failures[fault.part] = self._failures.get(fault.part, 0) + 1
        if self._failures[fault.part] > self._layout.max_failures:
            raise cause

    def _is_unreported_restart(self, part: str, incarnation: str) -> bool:
        """Note which ``incarnation`` a part is in; tell whether it is a new one and the old one's end was not told."""
        known, told_at = self._incarnations.get(part), self._dead.get(part)
        if incarnation == known:
            if told_at is not None and self._handled_call_began > told_at:
                del self._dead[part]  # only the line was broken
            return False
        self._incarnations[part] = incarnation
        self._dead.pop(part, None)
        if known is None:
            return False
        self._restarted[part] = time.monotonic()
        return told_at is None

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
        self,
        parts: Collection[str],
        say: Callable[[str], None],
        *,
        remedy: str,
        needs: Mapping[str, str] | None = None,
    ) -> None:
        """As for ``Supervisor``."""
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


def is_ended(error: Exception, actor: Any) -> bool:
    """Tell whether ``actor`` is dead and Ray will not start it again: its process has ended as if that was wanted.

    A part whose node was drained (``kubectl delete pod``, ``kubectl drain``, a reclaimed spot node) has the same class
    of error, but Ray starts it on another node.
    """
    if not isinstance(error, ray.exceptions.ActorDiedError) or error.preempted or is_final(error):
        return False
    return bool(error.actor_id == actor._actor_id.hex())


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
