"""Deep Monte-Carlo over Ray: a ``RoundBackend`` whose simulators and learner are actors.

>>> backend = partial(RayRounds, config, layout, "doudizhu", Rules())
>>> trained, progress = learn_values(config, game, Rules(), folder, new_backend=backend)
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import ExitStack
from typing import Any

import numpy as np
import ray
import torch
from torch import Tensor

from suphx.selfplay.backend import Fault
from suphx.selfplay.layout import RoundLayoutConfig
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo import LearnedRound, RoundLearner
from suphx.training.monte_carlo_learning import Evaluation
from suphx.training.value_nets import Figures
from suphx_platform.on_ray.actor.missing_parts import MissingParts
from suphx_platform.on_ray.monte_carlo.round_buffer import RoundBuffer
from suphx_platform.on_ray.monte_carlo.round_group import BufferedRound, RoundGroup
from suphx_platform.on_ray.monte_carlo.round_learner_driver import RoundLearnerDriver
from suphx_platform.on_ray.monte_carlo.round_topology import RoundTopology, evaluate_elsewhere, local_needs
from suphx_platform.on_ray.ray_session import ray_session
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor, first_line

_WAIT_SECONDS = 0.5
_SAY_SECONDS = 30.0
_logger = logging.getLogger(__name__)


class RayRounds:
    """Consumes: answers of actors. Produces: their next calls, and rounds that were learned from. Waits for: answers.

    At the pace lockstep one round is played, then learned from, then its weights are given out, and so on.
    """

    def __init__(
        self,
        config: MonteCarloConfig,
        layout: RoundLayoutConfig,
        game_name: str,
        rules: Any,
        learner: RoundLearner,
        dealt: int,
    ) -> None:
        """Have all actors placed; go on from ``learner`` with round ``dealt``."""
        self._config, self._game_name, self._rules = config, game_name, rules
        self._is_lockstep = layout.pace == "lockstep"
        self._syncs_always = layout.weight_sync_rounds == 1
        self._num_faults = 0
        self._has_started = False
        self._stack = ExitStack()
        try:
            self._start(layout, learner, dealt)
        except BaseException:
            self._stack.close()
            raise

    @property
    def dealt(self) -> int:
        """Number of the next round that a simulator is given.

        In lockstep a training that goes on plays again what this one has not learned from: no round is left out.
        """
        lost = self._group.num_unplayed + len(self._buffer) if self._is_lockstep else 0
        return self._group.dealt - lost

    @property
    def gauges(self) -> Mapping[str, float]:
        """Current measurements."""
        return {
            "simulators": float(len(self._supervisor.health.keys() & self._topology.simulators.keys())),
            "buffered_rounds": float(len(self._buffer)),
            "playing_seconds": self._group.playing_seconds,
            "faults": float(self._num_faults),
        }

    @property
    def is_starting(self) -> bool:
        """Tell whether the learner or all simulators have never been here yet."""
        return not self._has_started

    @property
    def processes(self) -> Mapping[str, int]:
        """Return the process of each living actor, by its name."""
        return {part: health.process for part, health in self._supervisor.health.items()}

    def learn_round(self, seconds: float) -> LearnedRound | None:
        """Let all work until a round was learned from; None if that takes longer than ``seconds``."""
        end = time.monotonic() + seconds
        while not (self._driver.learned and (not self._is_lockstep or self._is_quiet)):
            self._work()
            if time.monotonic() > end:
                return None
        return self._driver.learned.popleft()

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Do not wait for a learner that is away once a stop ``is_made``."""
        self._supervisor.is_stopping = is_made

    def settle(self) -> list[LearnedRound]:
        """Wait until the learner has learned from all that it was given; return these rounds."""
        while self._driver.is_busy:
            self._driver.check_stop()
            self._work(may_begin=False)
        learned = list(self._driver.learned)
        self._driver.learned.clear()
        return learned

    def evaluate(self) -> Evaluation:
        """Have the averaged weights play a small match on a node for simulators, while the other work goes on."""
        newest = self._driver.newest.weights[0]
        is_newest = self._syncs_always and not self._config.average_rounds
        weights = newest if is_newest else ray.put(self._driver.averaged_weights())
        match = evaluate_elsewhere.remote(self._config, self._game_name, self._rules, weights)
        figures = figures_or_loss(match.future())
        said_at = time.monotonic()
        while self._is_lockstep and not (figures.done() or self._supervisor.is_stopping()):
            wait([figures], timeout=_WAIT_SECONDS)
            if time.monotonic() >= said_at + _SAY_SECONDS:
                said_at = time.monotonic()
                _logger.info("waiting for a match: it is played, or no node for simulators has room for it")
        return Evaluation(figures, lambda: _tensors(ray.get(weights)))

    def update(self, learner: RoundLearner) -> None:
        """Give ``learner`` the state of the learner actor."""
        num_rounds, arrays = self._driver.state()
        learner.restore(_tensors(arrays), num_rounds)

    def close(self) -> None:
        """End all actors, and Ray if it was started for them."""
        self._stack.close()

    def _start(self, layout: RoundLayoutConfig, learner: RoundLearner, dealt: int) -> None:
        self._stack.enter_context(ray_session(**local_needs(layout)))
        self._topology = RoundTopology(self._config, layout, self._game_name, self._rules)
        self._stack.callback(self._end)
        parts = self._topology.parts()
        missing = MissingParts(parts, _logger.info, remedy="reduce num_simulators in [cluster]")
        self._supervisor = ActorSupervisor(layout, parts, missing=missing)
        self._buffer: RoundBuffer[BufferedRound] = RoundBuffer(layout.rounds_per_simulator * layout.num_simulators)
        self._driver = RoundLearnerDriver(
            layout, self._topology.learner, self._supervisor, self._buffer, learner, self._config.max_rounds
        )
        self._group = RoundGroup(layout, self._topology.simulators, self._supervisor, self._buffer, dealt)

    def _end(self) -> None:
        for actor in self._topology.parts().values():
            ray.kill(actor)

    @property
    def _is_quiet(self) -> bool:
        """Tell whether nobody plays or learns, and simulators would play with the newest weights."""
        return not (self._driver.is_busy or self._group.num_playing or len(self._buffer))

    def _work(self, *, may_begin: bool = True) -> None:
        """Give the actors something to do, and handle one answer; ``may_begin``: something new."""
        if may_begin:
            self._driver.work()
            if not self._is_lockstep:
                self._group.work(self._driver.newest)
            elif self._is_quiet:
                self._group.work(self._driver.newest, most=1)
        self._supervisor.wait()
        for event in self._supervisor.events():
            if isinstance(event, Fault):
                self._num_faults += 1
        self._has_started = self._has_started or (self._group.has_begun and not self._driver.is_restoring)


def figures_or_loss(found: Future[Figures]) -> Future[Figures]:
    """Return the figures of a match as they come: ChildProcessError if it was lost with its process or node."""
    figures: Future[Figures] = Future()

    def pass_on(found: Future[Figures]) -> None:
        error = found.exception()
        if error is None:
            figures.set_result(found.result())
        elif isinstance(error, ray.exceptions.RayError) and not isinstance(error, ray.exceptions.RayTaskError):
            hint = "see the logs of Ray's workers; perhaps nodes have too little memory"
            figures.set_exception(ChildProcessError(f"{first_line(error)}: {hint}"))
        else:
            figures.set_exception(error)

    found.add_done_callback(pass_on)
    return figures


def _tensors(arrays: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
