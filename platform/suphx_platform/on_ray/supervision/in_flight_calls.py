"""Calls of actors that are under way, each with what is to be done when it is answered, fails, or takes too long."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Any

import ray

_LOOK_SECONDS = 0.5


@dataclass(slots=True, kw_only=True)
class InFlightCall:
    """One call."""

    part: str
    """Name of the part that was called."""
    actor: Any
    on_result: Callable[[Any], None]
    """Gets the result."""
    on_error: Callable[[Exception], None]
    """Gets the error; raises it if the run cannot go on."""
    seconds: float
    """How long it may take before the part counts as hanging."""
    is_health_check: bool = False
    """The work does not wait for it."""


class InFlightCalls:
    """Consumes: results of actors. Produces: the next steps. Waits for: the first result.

    All steps are made in the thread that calls ``wait``, one after another.
    """

    def __init__(self, hung: Callable[[str, float], None], is_waiting: Callable[[str], bool] = lambda _: False) -> None:
        """``hung`` is told the name of a part that was killed because it did not respond for so many seconds.

        ``is_waiting`` tells whether a part waits for other parts: it is not killed then, and gets the same time again.
        """
        self._hung, self._is_waiting = hung, is_waiting
        self._numbers = itertools.count()
        self._open: dict[int, tuple[InFlightCall, float, float]] = {}
        self._futures: dict[int, Future[Any]] = {}
        """Of the open calls."""
        self.handled_call_began = 0.0
        """When the call began whose result is being handled."""
        self._answered: Queue[tuple[int, Future[Any]]] = Queue()
        self._answered_at: dict[str, float] = {}
        """When each part last answered a call that was no health check."""
        self._looked_at = time.monotonic()

    @property
    def num_working(self) -> int:
        """Calls that are under way, without health checks."""
        return sum(not call.is_health_check for call, *_ in self._open.values())

    @property
    def working_parts(self) -> set[str]:
        """Names of the parts whose calls are under way, without health checks."""
        return {call.part for call, *_ in self._open.values() if not call.is_health_check}

    def add(self, reference: Any, call: InFlightCall) -> None:
        """Have ``call`` handle the result that ``reference`` stands for."""
        number = next(self._numbers)
        now = time.monotonic()
        self._open[number] = (call, now, now + call.seconds)
        future: Future[Any] = reference.future()
        self._futures[number] = future
        future.add_done_callback(lambda future: self._answered.put((number, future)))

    def wait(self, seconds: float) -> None:
        """Handle one result, if one comes within ``seconds``; kill the parts that hang."""
        try:
            number, future = self._answered.get(timeout=seconds)
        except Empty:
            self._look()
            return
        call, self.handled_call_began, _ = self._open.pop(number)
        del self._futures[number]
        if not call.is_health_check:
            self._answered_at[call.part] = time.monotonic()
        error = future.exception()
        if error is None:
            call.on_result(future.result())
        elif isinstance(error, Exception):
            call.on_error(error)
        else:
            raise error
        if time.monotonic() > self._looked_at + _LOOK_SECONDS:
            self._look()

    def _look(self) -> None:
        """Kill the parts whose calls are overdue: the calls fail then like those of any dead part.

        Answers that wait to be handled, as after a long match, are in time. A part handles its calls one after
        another: the time of a call that waits for others begins with the last answer.
        """
        now = self._looked_at = time.monotonic()
        overdue = {}
        for number, (call, since, end) in self._open.items():
            since_answer = 0.0 if call.is_health_check else self._answered_at.get(call.part, 0.0)
            if now > max(end, since_answer + call.seconds) and not self._futures[number].done():
                overdue[call.part] = call
                self._open[number] = (call, since, now + call.seconds)
        for part, call in overdue.items():
            if self._is_waiting(part):
                continue
            ray.kill(call.actor, no_restart=False)
            self._hung(part, call.seconds)
