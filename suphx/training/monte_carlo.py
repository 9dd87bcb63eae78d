"""Deep Monte-Carlo (DouZero, section 3.1): rounds of whole games as samples, and nets that learn their returns."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import RMSprop

from suphx.experience.observation import F32, SeatObservations
from suphx.experience.segments import segment_rows, taken_segments
from suphx.games.game import CandidateGame, Player
from suphx.kernel.record import I64, U8
from suphx.models.device import find_device, uses_bf16
from suphx.training.config import MonteCarloConfig
from suphx.training.optimizer import make_step
from suphx.training.training_state import restore_tensors, state_tensors
from suphx.training.value_nets import PlayedMoves, ValuePlayer, move_features, new_nets


class Samples(Protocol):
    """What one net learns from."""

    def __len__(self) -> int: ...

    def rows(self, indices: I64) -> Self:
        """Return the samples at ``indices``."""
        ...

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the mean loss of ``net``, which is on ``device``."""
        ...


@dataclass(frozen=True, slots=True)
class ValueSamples:
    """Moves of one seat, and what its games were worth to it at their ends (gamma is 1)."""

    states: U8
    """uint8 [n, columns]."""
    history: U8
    """uint8 [n, 5, 162]."""
    candidates: U8
    """uint8 [n, 54]: the move that was played."""
    returns: NDArray[np.float32]
    """float32 (n,)."""

    def __len__(self) -> int:
        return len(self.returns)

    def rows(self, indices: I64) -> Self:
        """Return the samples at ``indices``."""
        return type(self)(self.states[indices], self.history[indices], self.candidates[indices], self.returns[indices])

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the mean squared error of the values against the returns."""
        arrays = (self.states, self.history, self.candidates, np.arange(len(self)))
        values = candidate_values(net, arrays, device, is_bf16=is_bf16)
        return value_loss(values, torch.from_numpy(self.returns).to(device))


def candidate_values(
    net: nn.Module, arrays: Sequence[NDArray[np.generic]], device: torch.device, *, is_bf16: bool
) -> Tensor:
    """Return float32 [m]: what ``net`` gives each candidate; ``arrays``: the inputs of its ``forward``."""
    with torch.autocast(device.type, torch.bfloat16, enabled=is_bf16):
        return cast(Tensor, net(*(torch.from_numpy(array).to(device) for array in arrays)))


def value_loss(values: Tensor, returns: Tensor) -> Tensor:
    """Return the mean squared error of ``values`` [n] against ``returns`` [n]."""
    return (values - returns).square().mean()


def new_value_optimizer(nets: nn.Module, config: MonteCarloConfig) -> RMSprop:
    """Return RMSprop over all nets; a step changes those only that have gradients."""
    return RMSprop(nets.parameters(), lr=config.learning_rate, alpha=config.smoothing, eps=config.rms_epsilon)


def learn_samples(
    net: nn.Module, optimizer: RMSprop, samples: Samples, max_grad_norm: float, *, is_bf16: bool = False
) -> float:
    """Do one step of ``net`` alone, on its device; return its loss. DivergedError if loss or gradient is not finite.

    ``is_bf16``: the net is computed in bf16 (autocast); weights, loss and optimizer stay float32.
    """
    loss = samples.loss(net, next(net.parameters()).device, is_bf16=is_bf16)
    return make_step(net, optimizer, loss, max_grad_norm, "the values")


@dataclass(frozen=True, slots=True)
class ChoiceSamples:
    """Decisions of one seat with more than one legal move, all of their candidates, and which of them was made."""

    states: U8
    """uint8 [n, columns]."""
    history: U8
    """uint8 [n, lines, columns]."""
    candidates: U8
    """uint8 [m, columns]: the legal moves of all decisions."""
    offsets: I64
    """int64 (n + 1,): where the candidates of each decision begin, and the end of the last."""
    chosen: I64
    """int64 (n,): the row in ``candidates`` of the move that was made."""

    def __len__(self) -> int:
        return len(self.chosen)

    def rows(self, indices: I64) -> Self:
        """Return the decisions at ``indices`` with their candidates."""
        offsets, rows = taken_segments(self.offsets, indices)
        chosen = self.chosen[indices] - self.offsets[indices] + offsets[:-1]
        return type(self)(self.states[indices], self.history[indices], self.candidates[rows], offsets, chosen)

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the mean over decisions of ``choice_loss``."""
        arrays = (self.states, self.history, self.candidates, segment_rows(self.offsets))
        values = candidate_values(net, arrays, device, is_bf16=is_bf16)
        return choice_loss(values, self.offsets, self.chosen)


def choice_loss(values: Tensor, offsets: I64, chosen: I64) -> Tensor:
    """Return the mean over decisions of the weighted binary cross-entropy of ``values`` [m], which are logits.

    In a decision with k candidates the move that was made has the weight 1/2, each other one 1 / (2 (k - 1)).
    """
    labels = np.zeros(len(values), np.float32)
    labels[chosen] = 1
    counts = np.diff(offsets)
    weights = np.repeat(0.5 / (counts - 1), counts).astype(np.float32)
    weights[chosen] = 0.5
    costs = functional.binary_cross_entropy_with_logits(
        values, torch.from_numpy(labels).to(values.device), torch.from_numpy(weights).to(values.device), reduction="sum"
    )
    return costs / len(chosen)


@dataclass(slots=True)
class ObservedPlayer:
    """A player whose decisions with more than one legal move are written down, in the order of the games."""

    player: Player
    decisions: list[tuple[SeatObservations, I64]] = field(default_factory=list)
    """What was seen, and the indices of the moves in it."""

    def choose(self, simulator: Any, seen: SeatObservations) -> I64:
        """Return what the player chooses."""
        chosen = self.player.choose(simulator, seen)
        self.decisions.append((seen, chosen))
        return chosen

    def samples(self, seat: int, columns: U8) -> ChoiceSamples:
        """Return the decisions of ``seat``; ``columns`` [moves, columns] are those of each move."""
        own = [(seen, chosen) for seen, chosen in self.decisions if seen.seat == seat]
        starts = np.cumsum([0, *(len(seen.moves) for seen, _ in own)])
        counts = np.concatenate([np.diff(seen.offsets) for seen, _ in own])
        every = ChoiceSamples(
            np.concatenate([seen.states for seen, _ in own]),
            np.concatenate([seen.history for seen, _ in own]),
            columns[np.concatenate([seen.moves for seen, _ in own])],
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([start + chosen for start, (_, chosen) in zip(starts[:-1], own, strict=True)]),
        )
        return every.rows(np.flatnonzero(counts > 1))


_FIRST_SEED = 2**40  # of the deals to learn from; those of evaluations begin at 0
_PLAY, _LEARN = 0, 1  # two streams of random numbers in each round


class RoundPlayer:
    """Consumes: nets. Produces: the samples of rounds. Waits for: nothing.

    What a round gives depends on its number, the settings and the weights of the nets, and on nothing before it.
    """

    def __init__(
        self, config: MonteCarloConfig, game: CandidateGame, rules: Any, nets: nn.ModuleList, *, is_bf16: bool
    ) -> None:
        """``nets`` play; whoever has them may change their weights between two rounds."""
        self._config, self._game, self._rules, self._nets = config, game, rules, nets
        self._columns = move_features(game, rules)
        self._is_bf16 = is_bf16

    def play(self, number: int) -> list[Samples]:
        """Play round ``number`` to the end of all its games; return the samples of each seat."""
        config = self._config
        first_seed = _FIRST_SEED * (1 + config.seed) + config.games * number
        seeds = range(first_seed, first_seed + config.games)
        if config.imitates:
            return self._imitate(seeds)
        rng = np.random.default_rng([config.seed, number, _PLAY])
        played: list[PlayedMoves] = []
        player = ValuePlayer(self._nets.eval(), self._columns, config.epsilon, rng, played, self._is_bf16)
        scores = self._game.play(self._rules, seeds, player)
        samples: list[Samples] = []
        for seat in range(len(self._nets)):
            own = [part for part in played if part.seat == seat]
            states, history = (np.concatenate([getattr(part, name) for part in own]) for name in ("states", "history"))
            tables, moves = (np.concatenate([getattr(part, name) for part in own]) for name in ("tables", "moves"))
            samples.append(ValueSamples(states, history, self._columns[moves], scores[tables, seat]))
        return samples

    def _imitate(self, seeds: Sequence[int]) -> list[Samples]:
        """Return the decisions of the scripted agent in games against itself."""
        teacher = ObservedPlayer(self._game.scripted_agent(self._config.imitates))
        self._game.play(self._rules, seeds, teacher)
        return [teacher.samples(seat, self._columns) for seat in range(len(self._nets))]


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

    def averaged_nets(self) -> nn.ModuleList:
        """Return copies of the nets, with averaged weights if ``average_rounds`` wants them; they stay as they are."""
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
