"""What learns from rounds of self-play: the nets of all seats with their optimizer."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from suphx.games.candidate_game import F32, CandidateGame
from suphx.models.device import find_device, uses_bf16
from suphx.training.loop.training_state import restore_tensors, state_tensors
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.monte_carlo_step import Samples, learn_samples, new_value_optimizer
from suphx.training.monte_carlo.value_player import new_nets

_LEARN = 1  # round_player.py has the other stream of random numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedRound:
    """One round was learned from."""

    number: int
    """0, 1, … over the whole training: rounds that were learned from before."""
    samples: int
    """Samples of all seats."""
    loss_sum: float
    """Of the losses of all samples."""
    staleness: float = 0.0
    """Rounds that the nets had learned from since they played this one."""


class RoundLearner:
    """Consumes: the samples of rounds. Produces: weights. Waits for: nothing."""

    def __init__(self, config: MonteCarloConfig, game: CandidateGame) -> None:
        """ValueError if the device is cuda and there is none."""
        self._config = config
        self.device = find_device(config.device)
        self.is_bf16 = uses_bf16(config.precision, self.device)
        self.nets = new_nets(game, config.seed).to(self.device)
        self.optimizer = new_value_optimizer(self.nets, config)
        self.num_rounds = 0
        """Rounds that were learned from."""

    def learn(self, samples: Sequence[Samples], staleness: float = 0.0) -> LearnedRound:
        """Learn from the samples of each seat, ``batches`` steps each; DivergedError if a loss is not finite."""
        config = self._config
        rng = np.random.default_rng([config.seed, self.num_rounds, _LEARN])
        for group in self.optimizer.param_groups:
            group["lr"] = rate_of_round(config, self.num_rounds)
        rows, loss_sum = 0, 0.0
        for net, own in zip(self.nets, samples, strict=True):
            net.train()
            for indices in np.array_split(rng.permutation(len(own)), config.batches):
                if not len(indices):  # fewer samples than batches
                    continue
                part = own.rows(indices)
                loss = learn_samples(net, self.optimizer, part, config.max_grad_norm, is_bf16=self.is_bf16)
                rows += len(indices)
                loss_sum += loss * len(indices)
        learned = LearnedRound(number=self.num_rounds, samples=rows, loss_sum=loss_sum, staleness=staleness)
        self.num_rounds += 1
        self._average()
        return learned

    def weights(self) -> dict[str, F32]:
        """Return a copy of the weights of all nets, by name."""
        return _arrays(self.nets)

    def averaged_weights(self) -> dict[str, F32]:
        """Return a copy of the averaged weights of all nets, by name (``MonteCarloConfig.average_rounds``)."""
        return _arrays(self.averaged_nets())

    def averaged_nets(self) -> nn.ModuleList:
        """Return copies of the nets, with averaged weights if they are wanted; they stay as they are."""
        nets = copy.deepcopy(self.nets)
        with torch.no_grad():
            for averaged, parameter in zip(nets.parameters(), self.nets.parameters(), strict=True):
                averaged.copy_(self.optimizer.state[parameter].get(_AVERAGE, parameter))
        return nets

    def _average(self) -> None:
        """Move the averages towards the weights as they are now; in the first rounds, they are means of fewer."""
        rounds = self._config.average_rounds
        if not rounds:
            return
        share = 1 / min(rounds, self.num_rounds)
        with torch.no_grad():
            for parameter in self.nets.parameters():
                state = self.optimizer.state[parameter]
                if _AVERAGE in state:
                    state[_AVERAGE].lerp_(parameter, share)
                elif state:  # that of an optimizer that has made a step: an empty one it would not complete
                    state[_AVERAGE] = parameter.detach().clone()

    def state(self) -> dict[str, Tensor]:
        """Return a copy, on the CPU, of all that ``restore`` needs besides the number of rounds."""
        return {name: tensor.detach().cpu().clone() for name, tensor in self.tensors().items()}

    def tensors(self) -> dict[str, Tensor]:
        """Return the weights and the optimizer's state themselves."""
        return state_tensors(self.nets, self.optimizer)

    def restore(self, state: Mapping[str, Tensor], num_rounds: int) -> None:
        """Go on from a ``state`` in which ``num_rounds`` rounds had been learned from."""
        restore_tensors(state, self.nets, self.optimizer)
        self.resume(num_rounds)

    def resume(self, num_rounds: int) -> None:
        """Go on with nets and an optimizer that were restored; ``num_rounds`` rounds had been learned from."""
        self.num_rounds = num_rounds
        if not self._config.average_rounds:
            for state in self.optimizer.state.values():
                state.pop(_AVERAGE, None)


def rate_of_round(config: MonteCarloConfig, number: int) -> float:
    """Return the learning rate of the round ``number``, 0, 1, …"""
    share = min(1.0, number / config.decay_rounds) if config.decay_rounds else 0.0
    return config.learning_rate * (1 - share * (1 - config.last_rate_share))


_AVERAGE = "average"
"""Name of averaged weights in the optimizer's state, with which they are saved and restored."""


def _arrays(nets: nn.ModuleList) -> dict[str, F32]:
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in nets.state_dict().items()}


def load_weights(nets: torch.nn.Module, weights: Mapping[str, F32]) -> None:
    """Give ``nets`` the ``weights`` of ``RoundLearner.weights``; the arrays may be read-only."""
    nets.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})
