"""A learner actor that may die: copies of its state, and the batches since the last one.

Ray starts a dead learner again, with nothing that it has learned. It then gets the last copy and learns from the
batches since then once more, in the same order, so that it ends where it was. Copies are kept where this process is:
they outlive the learner's machine. Batches are references in Ray's object store; what was learned from those that were
lost with their node is lost too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import ray

from suphx.selfplay.backend import Fault
from suphx_platform.on_ray.supervision.actor_supervisor import (
    CALL_ERRORS,
    ActorSupervisor,
    cause_of,
    first_line,
    has_lost_answer,
    is_death,
)

LEARNER = "learner"
L = TypeVar("L")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerRules(Generic[L]):
    """What a learner answers, and how it is treated."""

    count_of: Callable[[L], int]
    """Batches that it has learned from, with the one of this answer; a state begins with the same number."""
    diverged: type[Exception]
    """What it raises if it must not go on: the run ends with it."""
    copy_interval: int
    """Batches between two copies of its state."""


@dataclass(slots=True, eq=False)
class _SentBatch:
    """A batch that was sent to the learner since the last copy of its state."""

    data: Any
    staleness: float
    count: int | None = None
    """What the learner has learned from, with this one; None until it has."""


class RestoredLearner(Generic[L]):
    """Consumes: batches. Produces: what the learner says of each, once. Waits for: nothing but in ``answer``.

    The actor has ``begin(copy)``, ``learn(batch, staleness)`` and ``state()``; its answers come in the order of calls.
    """

    def __init__(
        self,
        actor: Any,
        supervisor: ActorSupervisor,
        rules: LearnerRules[L],
        *,
        num_learned: int,
        copy: Any,
        on_learned: Callable[[L], None],
        on_begun: Callable[[], None],
    ) -> None:
        """``copy``: reference of the state to begin with; None: that of a new actor, which answers ``begin`` with it.

        ``num_learned``: batches in it. ``on_learned`` gets each answer that repeats none; ``on_begun`` is called when
        the learner has the batches that it has to repeat.
        """
        self._actor, self._supervisor, self._rules = actor, supervisor, rules
        self.num_learned = num_learned
        """Batches that were learned from."""
        self._copy = copy
        self._on_learned, self._on_begun = on_learned, on_begun
        self._sent: deque[_SentBatch] = deque()
        self.incarnation = 0
        self.is_restoring = False
        """The learner has been started and does not have its state yet."""
        self._is_copying = self._has_lost_batches = False

    def check_stop(self) -> None:
        """Raise PartAwayError if the run is to stop while the learner is being restored, and is away."""
        if self.is_restoring:
            self._supervisor.check_stop(LEARNER)

    @property
    def num_open(self) -> int:
        """Batches from which the learner has not learned yet."""
        return sum(batch.count is None for batch in self._sent)

    def begin(self) -> None:
        """Give a learner that has just been started its last copy, if there is one, and all batches since then."""
        self.incarnation += 1
        self.is_restoring = True
        self._is_copying = self._has_lost_batches = False
        incarnation = self.incarnation

        def on_result(state: Any) -> None:
            if self.incarnation != incarnation:
                return
            self.is_restoring = False
            if self._copy is None:
                self._copy = ray.put(state)
            for batch in self._sent:
                batch.count = None
            for batch in list(self._sent):
                self._learn(batch)
            self._on_begun()

        def on_error(error: Exception) -> None:
            if self.incarnation == incarnation:
                self._supervisor.fail(LEARNER, error)
                self.begin()

        self._supervisor.call(LEARNER, self._actor.begin.remote(self._copy), on_result, on_error)

    def learn(self, data: Any, staleness: float) -> None:
        """Have it learn from a batch, a reference; while it is being restored, after that."""
        batch = _SentBatch(data, staleness)
        self._sent.append(batch)
        if not self.is_restoring:
            self._learn(batch)

    def call(self, method: str, on_result: Callable[[Any], None], on_error: Callable[[Exception], None]) -> None:
        """Call a method without arguments. ``on_error`` gets an error; ``recover`` handles it."""
        self._supervisor.call(LEARNER, getattr(self._actor, method).remote(), on_result, on_error)

    def answer(self, method: str) -> Any:
        """Return what ``method`` returns after all batches; if the learner dies meanwhile, that of the restored one.

        Raises PartAwayError.
        """
        while True:
            while self.is_restoring or self.num_open:
                self.check_stop()
                self._supervisor.wait()
            incarnation = self.incarnation
            try:
                return self._supervisor.answer(LEARNER, getattr(self._actor, method).remote())
            except CALL_ERRORS as error:
                self.recover(incarnation, error)

    def recover(self, incarnation: int, error: Exception) -> None:
        """Restore the learner if its ``incarnation`` has died, or its answer is lost; raise any other error."""
        if not has_lost_answer(error):
            raise cause_of(error)
        if self.incarnation == incarnation:  # else it is being restored already
            self._supervisor.fail(LEARNER, error)
            self.begin()

    def _learn(self, batch: _SentBatch) -> None:
        incarnation = self.incarnation

        def on_result(learned: L) -> None:
            if self.incarnation == incarnation:
                self._count(batch, learned)

        def on_error(error: Exception) -> None:
            if self.incarnation == incarnation:
                self._handle_failure(batch, error)

        reference = self._actor.learn.remote(batch.data, batch.staleness)
        self._supervisor.call(LEARNER, reference, on_result, on_error)

    def _count(self, batch: _SentBatch, learned: L) -> None:
        """Count a batch, unless it repeats one that was counted before the learner died."""
        batch.count = self._rules.count_of(learned)
        if batch.count > self.num_learned:  # repeated batches are no success: a later one may kill it each time
            self._supervisor.succeed(LEARNER)
            self.num_learned = batch.count
            self._on_learned(learned)
        if len(self._sent) - self.num_open >= self._rules.copy_interval:
            self._copy_state()

    def _handle_failure(self, batch: _SentBatch, error: Exception) -> None:
        cause = cause_of(error)
        if isinstance(cause, self._rules.diverged):
            raise cause
        if is_death(error):
            self.recover(self.incarnation, error)
            return
        self._sent.remove(batch)  # it cannot be learned from
        if not isinstance(error, ray.exceptions.ObjectLostError):
            self._supervisor.fail(LEARNER, error)
        elif not self._has_lost_batches:  # one fault for all
            self._has_lost_batches = True
            self._supervisor.emit(Fault(LEARNER, "failed", f"batches are lost with their node: {first_line(error)}"))

    def _copy_state(self) -> None:
        """Copy the learner's state; the batches before it are not needed any more then."""
        if self._is_copying:
            return
        self._is_copying = True
        incarnation = self.incarnation

        def on_result(state: Any) -> None:
            if self.incarnation != incarnation:  # it died since: the restarted one gets the copy before this one
                return
            self._is_copying = False
            self._copy = ray.put(state)
            self._sent = deque(batch for batch in self._sent if batch.count is None or batch.count > state[0])

        self.call("state", on_result, lambda error: self.recover(incarnation, error))
