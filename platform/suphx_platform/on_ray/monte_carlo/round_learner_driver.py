"""Has the learner actor learn from buffered rounds, publishes its weights, and restores it after it died.

Its state is copied every ``learner_copy_rounds`` rounds. The rounds since then are kept (as references, in Ray's object
store): a learner that Ray restarts gets the copy and learns from these rounds once more, in the same order, so that it
ends where it was. Copies and weights are kept where this process is: they outlive the learner's machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray

from suphx.training.loop.loss_watch import DivergedError
from suphx.training.monte_carlo.round_learner import LearnedRound, RoundLearner
from suphx_platform.backend.backend import Fault
from suphx_platform.on_ray.actor_supervisor import (
    CALL_ERRORS,
    ActorSupervisor,
    cause_of,
    first_line,
    has_lost_answer,
    is_death,
)
from suphx_platform.on_ray.in_flight_calls import InFlightCall
from suphx_platform.on_ray.monte_carlo.round_actors import LearnerState, WeightVersion, state_of
from suphx_platform.on_ray.monte_carlo.round_buffer import RoundBuffer
from suphx_platform.on_ray.monte_carlo.round_group import BufferedRound
from suphx_platform.on_ray.monte_carlo.round_topology import LEARNER
from suphx_platform.parts.round_layout_config import RoundLayoutConfig

_AHEAD = 2
"""Rounds that the learner has at a time, so that it never waits for the next one."""
_WAIT_SECONDS = 0.5


@dataclass(slots=True, eq=False)
class _SentRound:
    """A round that was sent to the learner since the last copy of its state."""

    samples: Any
    staleness: float
    number: int | None = None
    """Of ``LearnedRound``; None until it was learned from."""


class RoundLearnerDriver:
    """Consumes: buffered rounds. Produces: rounds that were learned from, and weights. Waits for: the learner."""

    def __init__(
        self,
        layout: RoundLayoutConfig,
        actor: Any,
        supervisor: ActorSupervisor,
        buffer: RoundBuffer[BufferedRound],
        first: RoundLearner,
        max_rounds: int,
    ) -> None:
        """``first``: what to go on from; ``max_rounds``: learn from no more, those before included."""
        self.newest = WeightVersion(first.num_rounds, [ray.put(first.weights())])
        """The weights that simulators play with."""
        self.learned: deque[LearnedRound] = deque()
        """What nobody has heard of yet."""
        self._layout, self._actor, self._supervisor, self._buffer = layout, actor, supervisor, buffer
        self._max_rounds = max_rounds
        self._num_learned = first.num_rounds
        self._copy = ray.put(state_of(first))
        self._sent: deque[_SentRound] = deque()
        self._ahead = 1 if layout.pace == "lockstep" else _AHEAD
        self._incarnation = 0
        self._is_restoring = self._is_publishing = self._is_copying = False
        self._restore()

    @property
    def is_busy(self) -> bool:
        """Tell whether the learner restarts or learns, or simulators are to get newer weights."""
        return self._is_restoring or self._is_publishing or self._num_open > 0 or self._has_due

    def work(self) -> None:
        """Send the next round if the learner has not enough to do."""
        while not self._is_restoring and self._num_open < self._ahead:
            if self._num_learned + self._num_open >= self._max_rounds:
                return
            taken = self._buffer.take()
            if taken is None:
                return
            sent = _SentRound(taken.samples, float(self._num_learned + self._num_open - taken.report.version))
            self._sent.append(sent)
            self._learn(sent)

    def state(self) -> LearnerState:
        """Return the learner's state; one that died first learns again from the rounds since the copy of its state."""
        while True:
            while self._is_restoring or self._num_open:
                self._wait()
            incarnation = self._incarnation
            try:
                state: LearnerState = self._supervisor.answer(LEARNER, self._actor, self._actor.state.remote())
            except CALL_ERRORS as error:
                self._recover(incarnation, error)
            else:
                self._keep_copy(state)
                return state

    @property
    def _num_open(self) -> int:
        """Rounds that the learner has and has not learned from."""
        return sum(sent.number is None for sent in self._sent)

    @property
    def _has_due(self) -> bool:
        """Tell whether the weights of the simulators have not seen ``weight_sync_rounds`` rounds."""
        return self._num_learned - self.newest.number >= self._layout.weight_sync_rounds

    def _wait(self) -> None:
        self._supervisor.work()
        self._supervisor.calls.wait(_WAIT_SECONDS)

    def _learn(self, sent: _SentRound) -> None:
        incarnation = self._incarnation

        def on_result(learned: LearnedRound) -> None:
            if self._incarnation == incarnation:
                self._count(sent, learned)

        def on_error(error: Exception) -> None:
            if self._incarnation == incarnation:
                self._handle_failure(sent, error)

        self._add(self._actor.learn.remote(sent.samples, sent.staleness), on_result, on_error)

    def _count(self, sent: _SentRound, learned: LearnedRound) -> None:
        """Count a round, unless it repeats one that was counted before the learner died."""
        self._supervisor.succeed(LEARNER)
        sent.number = learned.number
        if learned.number >= self._num_learned:
            self._num_learned = learned.number + 1
            self.learned.append(learned)
        self._publish_if_due()
        if sum(each.number is not None for each in self._sent) >= self._layout.learner_copy_rounds:
            self._copy_state()

    def _handle_failure(self, sent: _SentRound, error: Exception) -> None:
        cause = cause_of(error)
        if isinstance(cause, DivergedError):
            raise cause
        if is_death(error):
            self._recover(self._incarnation, error)
            return
        self._sent.remove(sent)  # it cannot be learned from
        if isinstance(error, ray.exceptions.ObjectLostError):
            self._supervisor.emit(Fault(LEARNER, "failed", f"a round is lost with its node: {first_line(error)}"))
        else:
            self._supervisor.fail(LEARNER, error)

    def _publish_if_due(self) -> None:
        """Fetch the weights if it is time to."""
        if not self._has_due or self._is_publishing or self._is_restoring:
            return
        self._is_publishing = True
        incarnation = self._incarnation

        def on_result(answer: tuple[int, Mapping[str, np.ndarray]]) -> None:
            if self._incarnation != incarnation:
                return
            self._is_publishing = False
            number, weights = answer
            if number > self.newest.number:
                self.newest = WeightVersion(number, [ray.put(weights)])
            self._publish_if_due()

        self._add(self._actor.weights.remote(), on_result, lambda error: self._recover(incarnation, error))

    def _copy_state(self) -> None:
        if self._is_copying:
            return
        self._is_copying = True
        incarnation = self._incarnation

        def on_result(state: LearnerState) -> None:
            if self._incarnation == incarnation:
                self._is_copying = False
                self._keep_copy(state)

        self._add(self._actor.state.remote(), on_result, lambda error: self._recover(incarnation, error))

    def _keep_copy(self, state: LearnerState) -> None:
        """Keep a copy of the learner's state: the rounds before it are not needed any more."""
        self._copy = ray.put(state)
        self._sent = deque(sent for sent in self._sent if sent.number is None or sent.number >= state[0])

    def _recover(self, incarnation: int, error: Exception) -> None:
        """Restore the learner if its ``incarnation`` has died, or its answer is lost; raise any other error."""
        if not has_lost_answer(error):
            raise cause_of(error)
        if self._incarnation == incarnation:  # else it is being restored already
            self._supervisor.fail(LEARNER, error)
            self._restore()

    def _restore(self) -> None:
        """Give a learner that has just been started the last copy, and all rounds since then."""
        self._incarnation += 1
        self._is_restoring, self._is_publishing, self._is_copying = True, False, False
        incarnation = self._incarnation

        def on_result(_: None) -> None:
            if self._incarnation != incarnation:
                return
            self._is_restoring = False
            for sent in self._sent:
                sent.number = None
            for sent in list(self._sent):
                self._learn(sent)
            self._publish_if_due()  # after these rounds

        def on_error(error: Exception) -> None:
            if self._incarnation == incarnation:
                self._supervisor.fail(LEARNER, error)
                self._restore()

        self._add(self._actor.begin.remote(self._copy), on_result, on_error)

    def _add(self, reference: Any, on_result: Any, on_error: Any) -> None:
        call = InFlightCall(
            part=LEARNER,
            actor=self._actor,
            on_result=on_result,
            on_error=on_error,
            seconds=self._layout.start_seconds,
        )
        self._supervisor.calls.add(reference, call)
