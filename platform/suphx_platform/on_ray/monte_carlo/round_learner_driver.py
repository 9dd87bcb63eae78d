"""Has the learner actor learn from buffered rounds, and publishes its weights.

restored_learner.py repeats its last rounds after it died. Weights are kept where this process is: they outlive the
learner's machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
import ray

from suphx.selfplay.layout import RoundLayoutConfig
from suphx.training.monte_carlo import LearnedRound, RoundLearner
from suphx.training.optimizer import DivergedError
from suphx_platform.on_ray.monte_carlo.round_actors import LearnerState, WeightVersion, state_of
from suphx_platform.on_ray.monte_carlo.round_buffer import RoundBuffer
from suphx_platform.on_ray.monte_carlo.round_group import BufferedRound
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.supervision.restored_learner import LearnerRules, RestoredLearner

_AHEAD = 2
"""Rounds that the learner has at a time, so that it never waits for the next one."""


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
        self._layout, self._buffer = layout, buffer
        self._max_rounds = max_rounds
        self._ahead = 1 if layout.pace == "lockstep" else _AHEAD
        self._publishes_in: int | None = None
        """The incarnation of the learner that was asked for weights; None if none was."""
        self._has_no_newer_at = 0
        """Rounds learned when the learner last had no newer weights than the simulators."""
        rules: LearnerRules[LearnedRound] = LearnerRules(
            count_of=lambda learned: learned.number + 1,
            diverged=DivergedError,
            copy_interval=layout.learner_copy_rounds,
        )
        self._learner = RestoredLearner(
            actor,
            supervisor,
            rules,
            num_learned=first.num_rounds,
            copy=ray.put(state_of(first)),
            on_learned=self._count,
            on_begun=self._publish_if_due,
        )
        self._learner.begin()

    @property
    def is_restoring(self) -> bool:
        """Tell whether the learner is not here, or takes its state."""
        return self._learner.is_restoring

    @property
    def is_busy(self) -> bool:
        """Tell whether the learner restarts or learns, or simulators are to get newer weights."""
        is_working = self._learner.is_restoring or self._learner.num_open > 0
        return is_working or self._is_publishing or self._has_due

    def work(self) -> None:
        """Send the next round if the learner has not enough to do."""
        while not self._learner.is_restoring and self._learner.num_open < self._ahead:
            number = self._learner.num_learned + self._learner.num_open
            if number >= self._max_rounds:
                return
            taken = self._buffer.take()
            if taken is None:
                return
            self._learner.learn(taken.samples, float(number - taken.report.version))

    def check_stop(self) -> None:
        """Raise PartAwayError if the training is to stop while the learner is away."""
        self._learner.check_stop()

    def state(self) -> LearnerState:
        """Return the learner's state; one that died first learns again from the rounds since the copy of its state."""
        state: LearnerState = self._learner.answer("state")
        return state

    def averaged_weights(self) -> Mapping[str, np.ndarray]:
        """Return the weights of the learner that are evaluated."""
        weights: Mapping[str, np.ndarray] = self._learner.answer("averaged_weights")
        return weights

    @property
    def _has_due(self) -> bool:
        """Tell whether the weights of the simulators have not seen ``weight_sync_rounds`` rounds.

        A learner that was restored, and whose rounds were lost with their node, has older weights for a while.
        """
        seen = max(self.newest.number, self._has_no_newer_at)
        return self._learner.num_learned - seen >= self._layout.weight_sync_rounds

    @property
    def _is_publishing(self) -> bool:
        return self._publishes_in == self._learner.incarnation

    def _count(self, learned: LearnedRound) -> None:
        self.learned.append(learned)
        self._publish_if_due()

    def _publish_if_due(self) -> None:
        """Fetch the weights if it is time to."""
        if not self._has_due or self._is_publishing or self._learner.is_restoring:
            return
        incarnation = self._publishes_in = self._learner.incarnation

        def on_result(answer: tuple[int, Mapping[str, np.ndarray]]) -> None:
            if self._learner.incarnation != incarnation:
                return
            self._publishes_in = None
            number, weights = answer
            if number > self.newest.number:
                self.newest = WeightVersion(number, [ray.put(weights)])
            else:
                self._has_no_newer_at = self._learner.num_learned
            self._publish_if_due()

        self._learner.call("weights", on_result, lambda error: self._learner.recover(incarnation, error))
