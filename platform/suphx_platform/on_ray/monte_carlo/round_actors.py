"""What runs in the processes of Deep Monte-Carlo: thin wrappers around the plain classes of suphx.training.monte_carlo.

Ray starts a dead actor again where there is room. A simulator needs nothing but the next call then; a learner has
forgotten all, and refuses to work until it is told to ``begin`` (NotBegunError). Placement is in round_topology.py.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
import torch

from suphx.games.registry import candidate_game
from suphx.models.device import uses_bf16
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo import LearnedRound, RoundLearner, RoundPlayer, Samples, load_weights
from suphx.training.value_nets import Figures, evaluate_nets, new_nets
from suphx_platform.on_ray.actor.broken_process import ends_broken_process
from suphx_platform.on_ray.actor.ray_actor import NotBegunError, RayActor

LearnerState = tuple[int, Mapping[str, np.ndarray]]
"""Rounds that were learned from, and the tensors of ``RoundLearner.state``."""


@dataclass(frozen=True, slots=True)
class WeightVersion:
    """Weights of all nets."""

    number: int
    """Rounds that had been learned from."""
    weights: Any
    """A list of one reference to them, so that Ray does not fetch them before somebody needs them."""


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """What a simulator says of a round."""

    number: int
    version: int
    """Of the weights that played."""
    seconds: float


class RoundSimulatorActor(RayActor):
    """Plays rounds on the CPU with the weights that it is given."""

    def __init__(self, config: MonteCarloConfig, game_name: str, rules: Any) -> None:
        _set_threads(config)
        game = candidate_game(game_name)
        self._nets = new_nets(game, config.seed)
        is_bf16 = uses_bf16(config.precision, torch.device("cpu"))
        self._player = RoundPlayer(config, game, rules, self._nets, is_bf16=is_bf16)
        self._version = -1

    @ray.method(max_task_retries=-1)
    def begin(self) -> None:
        """Answer as soon as this process lives: only then it is given rounds."""

    @ray.method(num_returns=2)
    def play(self, number: int, version: WeightVersion) -> tuple[PlayedRound, list[Samples]]:
        """Play round ``number``; return the report and, apart from it, the samples of each seat."""
        started = time.monotonic()
        if version.number != self._version:
            load_weights(self._nets, ray.get(version.weights[0]))
            self._version = version.number
        samples = self._player.play(number)
        return PlayedRound(number, version.number, time.monotonic() - started), samples


class RoundLearnerActor(RayActor):
    """Learns from rounds, once it has been told from where."""

    def __init__(self, config: MonteCarloConfig, game_name: str) -> None:
        _set_threads(config)
        self._learner = RoundLearner(config, candidate_game(game_name))
        self._has_begun = False

    @ends_broken_process
    @ray.method(max_task_retries=-1)
    def begin(self, state: LearnerState) -> None:
        """Go on from a ``state``."""
        num_rounds, arrays = state
        self._learner.restore({n: torch.from_numpy(np.array(array)) for n, array in arrays.items()}, num_rounds)
        self._has_begun = True

    @ends_broken_process
    def learn(self, samples: Sequence[Samples], staleness: float) -> LearnedRound:
        """Learn from a round; DivergedError if a loss is not finite."""
        return self._begun().learn(samples, staleness)

    @ends_broken_process
    def weights(self) -> tuple[int, Mapping[str, np.ndarray]]:
        """Return the number of rounds that were learned from, and the weights."""
        learner = self._begun()
        return learner.num_rounds, learner.weights()

    @ends_broken_process
    def averaged_weights(self) -> Mapping[str, np.ndarray]:
        """Return the weights that are evaluated."""
        return self._begun().averaged_weights()

    @ends_broken_process
    def state(self) -> LearnerState:
        """Return all that ``begin`` needs."""
        return state_of(self._begun())

    def _begun(self) -> RoundLearner:
        if not self._has_begun:
            raise NotBegunError("this learner was started again and has forgotten what it learned")
        return self._learner


def state_of(learner: RoundLearner) -> LearnerState:
    """Return the state of a learner as arrays."""
    return learner.num_rounds, {name: tensor.numpy() for name, tensor in learner.state().items()}


def evaluate_weights(
    config: MonteCarloConfig, game_name: str, rules: Any, weights: Mapping[str, np.ndarray]
) -> Figures:
    """Play the small match of a training with ``weights``, on the CPU."""
    _set_threads(config)
    game = candidate_game(game_name)
    nets = new_nets(game, config.seed)
    load_weights(nets, weights)
    return evaluate_nets(config, game, rules, nets, is_bf16=uses_bf16(config.precision, torch.device("cpu")))


def _set_threads(config: MonteCarloConfig) -> None:
    """Set torch's threads of this process; without a number they are the CPUs that Ray reserves for it."""
    if config.threads:
        torch.set_num_threads(config.threads)
