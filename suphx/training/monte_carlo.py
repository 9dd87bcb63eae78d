"""Rounds of whole games as samples, and nets that learn from them which candidate moves are good.

By Deep Monte-Carlo (DouZero, section 3.1): the returns of the moves that were played; by the policy gradient; or by the
choices of a scripted agent.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import RMSprop

from suphx.experience.observation import Candidates, Observations, joined_observations
from suphx.experience.segments import segment_argmax, segment_rows, taken_segments
from suphx.games.game import CandidateGame, CandidateTables
from suphx.games.registry import candidate_game, decision_names
from suphx.kernel.record import I32, I64, U8
from suphx.models.candidate_net import CandidateNet
from suphx.models.device import find_device, uses_bf16
from suphx.models.inference import CandidateInference
from suphx.models.sampling import list_actions_at
from suphx.selfplay.backend import Learned
from suphx.selfplay.weights import Weights
from suphx.training.config import MonteCarloConfig
from suphx.training.optimizer import make_step
from suphx.training.policy_gradient import padded_lists, policy_loss
from suphx.training.training_state import restore_tensors, state_tensors
from suphx.training.value_nets import move_features, new_nets, weights_of


class Samples(Protocol):
    """What one net learns from."""

    def __len__(self) -> int: ...

    def take(self, indices: I64) -> Self:
        """Return the samples at ``indices``."""
        ...

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the mean loss of ``net``, which is on ``device``."""
        ...


@dataclass(frozen=True, slots=True)
class ValueSamples:
    """Moves of one kind of decision, and what their games were worth to who made them at their ends (gamma is 1)."""

    rows: U8
    """uint8 [n, columns]: what was seen."""
    candidates: U8
    """uint8 [n, columns]: the move that was played."""
    returns: NDArray[np.float32]
    """float32 (n,)."""

    def __len__(self) -> int:
        return len(self.returns)

    def take(self, indices: I64) -> Self:
        """Return the samples at ``indices``."""
        return type(self)(self.rows[indices], self.candidates[indices], self.returns[indices])

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the mean squared error of the values against the returns."""
        arrays = (self.rows, self.candidates, np.arange(len(self)))
        values = net_values(net, arrays, device, is_bf16=is_bf16)
        return value_loss(values, torch.from_numpy(self.returns).to(device))


def net_values(net: nn.Module, arrays: Sequence[NDArray[np.generic]], device: torch.device, *, is_bf16: bool) -> Tensor:
    """Return float32 [m]: what ``net`` gives each candidate; ``arrays``: the inputs of its ``forward``."""
    with torch.autocast(device.type, torch.bfloat16, enabled=is_bf16):
        return cast(Tensor, net(*(torch.from_numpy(array).to(device) for array in arrays)))


def value_loss(values: Tensor, returns: Tensor) -> Tensor:
    """Return the mean squared error of ``values`` [n] against ``returns`` [n]."""
    return (values - returns).square().mean()


def new_value_optimizer(nets: nn.Module, config: MonteCarloConfig) -> RMSprop:
    """Return RMSprop over all nets; a step changes those only that have gradients."""
    return RMSprop(nets.parameters(), lr=config.learning_rate, alpha=0.99, eps=1e-5)  # as DouZero


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
    """Decisions of one kind with more than one legal move, all of their candidates, and which of them was made."""

    rows: U8
    """uint8 [n, columns]: what was seen."""
    candidates: U8
    """uint8 [m, columns]: the legal moves of all decisions."""
    offsets: I64
    """int64 (n + 1,): where the candidates of each decision begin, and the end of the last."""
    chosen: I64
    """int64 (n,): the row in ``candidates`` of the move that was made."""

    def __len__(self) -> int:
        return len(self.chosen)

    def take(self, indices: I64) -> Self:
        """Return the decisions at ``indices`` with their candidates."""
        offsets, rows = taken_segments(self.offsets, indices)
        chosen = self.chosen[indices] - self.offsets[indices] + offsets[:-1]
        return type(self)(self.rows[indices], self.candidates[rows], offsets, chosen)

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the mean over decisions of ``choice_loss``."""
        arrays = (self.rows, self.candidates, segment_rows(self.offsets))
        values = net_values(net, arrays, device, is_bf16=is_bf16)
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


@dataclass(frozen=True, slots=True)
class PolicySamples:
    """Decisions whose moves were drawn, and what their games were worth to who made them at their ends."""

    choices: ChoiceSamples
    log_probs: NDArray[np.float32]
    """float32 (n,): of the moves that were made, when they were made."""
    returns: NDArray[np.float32]
    """float32 (n,)."""
    entropy: float
    """Weight of the entropy in the loss."""

    def __len__(self) -> int:
        return len(self.returns)

    def take(self, indices: I64) -> Self:
        """Return the decisions at ``indices`` with their candidates."""
        choices = self.choices.take(indices)
        return type(self)(choices, self.log_probs[indices], self.returns[indices], self.entropy)

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the loss of the policy gradient; the mean return is the baseline."""
        choices = self.choices
        arrays = (choices.rows, choices.candidates, segment_rows(choices.offsets))
        logits, masks = padded_lists(net_values(net, arrays, device, is_bf16=is_bf16), choices.offsets)
        actions, log_probs, returns = (
            torch.from_numpy(array).to(device)
            for array in (choices.chosen - choices.offsets[:-1], self.log_probs, self.returns)
        )
        advantages = returns - returns.mean()
        return policy_loss(logits, masks, actions, log_probs, advantages, alpha=self.entropy, max_ratio=_MAX_RATIO).loss


_MAX_RATIO = 2.0
"""Larger importance ratios count as this much."""
_FIRST_SEED = 2**40  # of the deals to learn from; those of evaluations begin at 0
_PLAY, _LEARN = 0, 1  # two streams of random numbers in each round


Choose = Callable[[Observations, CandidateTables, I64], I64]
"""(what is seen of one kind, all tables, those of the rows) -> the place of a move in each list."""


class RoundPlayer:
    """Consumes: nets. Produces: the samples of rounds. Waits for: nothing.

    What a round gives depends on its number, the settings and the weights of the nets, and on nothing before it.
    """

    def __init__(self, config: MonteCarloConfig, game: CandidateGame, rules: Any, nets: nn.ModuleList) -> None:
        """``nets``, one for each kind, play; whoever has them may change their weights between two rounds."""
        self._config, self._game, self._rules, self._nets = config, game, rules, nets
        self._features = move_features(game, rules)
        device = next(nets.parameters()).device
        self._inference = [
            CandidateInference(net, device, self._features, config.precision)
            for net in nets
            if isinstance(net, CandidateNet)
        ]

    def play(self, number: int) -> list[Samples]:
        """Play round ``number`` to the end of all its games; return the samples of each kind of decision."""
        config = self._config
        first_seed = _FIRST_SEED * (1 + config.seed) + config.games * number
        seeds = range(first_seed, first_seed + config.games)
        if config.imitates:
            return self._imitate(seeds)
        rng = np.random.default_rng([config.seed, number, _PLAY])
        for inference, net in zip(self._inference, self._nets, strict=True):
            inference.use(inference.prepared(net))
        tables = self._game.open_tables(config.games, self._rules)
        if config.algorithm == "policy_gradient":
            return self._draw(tables, seeds, rng)
        played: list[list[tuple[U8, I32, I64, I64]]] = [[] for _ in self._nets]

        def explore(seen: Observations, tables: CandidateTables, own: I64) -> I64:
            places = self._best(seen)
            if config.epsilon:
                explores = rng.random(len(own)) < config.epsilon
                at_random = (rng.random(len(own)) * np.diff(_lists(seen).offsets)).astype(np.int64)
                places[explores] = at_random[explores]
            played[seen.decision].append((seen.planes, seen.chosen_moves(places), own, tables.actors(own)))
            return places

        self._play(tables, seeds, explore)
        scores, samples = tables.scores(), list[Samples]()
        for own in played:
            rows, moves, places, seats = map(np.concatenate, zip(*own, strict=True))
            samples.append(ValueSamples(rows, self._features[moves], scores[places, seats]))
        return samples

    def _draw(self, tables: CandidateTables, seeds: Sequence[int], rng: np.random.Generator) -> list[Samples]:
        """Return the decisions with more than one legal move of nets whose values are logits."""
        drawn: list[list[tuple[Observations, I64, NDArray[np.float32], I64, I64]]] = [[] for _ in self._nets]

        def draw(seen: Observations, tables: CandidateTables, own: I64) -> I64:
            lists = _lists(seen)
            logits = self._inference[seen.decision](seen.planes, lists)
            places, log_probs = list_actions_at(logits, lists.offsets, rng.random(len(own), np.float32))
            asked = np.flatnonzero(np.diff(lists.offsets) > 1)
            seats = tables.actors(own)
            drawn[seen.decision].append((seen.take(asked), places[asked], log_probs[asked], own[asked], seats[asked]))
            return places

        self._play(tables, seeds, draw)
        scores, samples = tables.scores(), list[Samples]()
        for parts in drawn:
            log_probs, own, seats = (np.concatenate([part[column] for part in parts]) for column in (2, 3, 4))
            choices = self._choices([(seen, places) for seen, places, *_ in parts])
            samples.append(PolicySamples(choices, log_probs, scores[own, seats], self._config.entropy))
        return samples

    def _play(self, tables: CandidateTables, seeds: Sequence[int], choose: Choose) -> None:
        """Play a game for each seed to its end."""
        learning = self._game.learning
        tables.begin(np.arange(len(seeds)), seeds)
        while (waiting := tables.waiting()).size:
            moves = np.zeros(len(waiting), np.int64)
            for places, seen in learning.observe(tables.state, waiting, learning.encoders[0]):
                moves[places] = seen.chosen_moves(choose(seen, tables, waiting[places]))
            tables.advance(waiting, moves)

    def _best(self, seen: Observations) -> I64:
        """Return the place of the highest value in each list; nets are not asked where only one move is legal."""
        candidates = _lists(seen)
        places: I64 = np.zeros(len(candidates), np.int64)
        asked = np.flatnonzero(np.diff(candidates.offsets) > 1)
        if asked.size:
            lists = candidates.take(asked)
            values = self._inference[seen.decision](seen.planes[asked], lists)
            places[asked] = segment_argmax(values.cpu().numpy(), lists.offsets) - lists.offsets[:-1]
        return places

    def _imitate(self, seeds: Sequence[int]) -> list[Samples]:
        """Return the decisions with more than one legal move of the scripted agent in games against itself."""
        teacher = self._game.scripted_agent(self._config.imitates)
        observed: list[list[tuple[Observations, I64]]] = [[] for _ in self._nets]

        def imitate(seen: Observations, tables: CandidateTables, own: I64) -> I64:
            lists = _lists(seen)
            moves = np.repeat(teacher.act(tables.state, own), np.diff(lists.offsets))
            places: I64 = np.flatnonzero(lists.moves == moves) - lists.offsets[:-1]
            asked = np.flatnonzero(np.diff(lists.offsets) > 1)
            observed[seen.decision].append((seen.take(asked), places[asked]))
            return places

        self._play(self._game.open_tables(len(seeds), self._rules), seeds, imitate)
        return [self._choices(own) for own in observed]

    def _choices(self, observed: Sequence[tuple[Observations, I64]]) -> ChoiceSamples:
        """Return the decisions of one kind, with the places of the moves that were made."""
        seen = joined_observations([each for each, _ in observed])
        lists, places = _lists(seen), np.concatenate([each for _, each in observed])
        return ChoiceSamples(seen.planes, self._features[lists.moves], lists.offsets, lists.offsets[:-1] + places)


def _lists(seen: Observations) -> Candidates:
    assert seen.candidates is not None
    return seen.candidates


class RoundLearner:
    """Consumes: the samples of rounds. Produces: weights. Waits for: nothing."""

    def __init__(self, config: MonteCarloConfig, game: str) -> None:
        """``game``: its name. ValueError if the device is cuda and there is none."""
        self._config, self._kinds = config, decision_names(game)
        self.device = find_device(config.device)
        self.is_bf16 = uses_bf16(config.precision, self.device)
        self.nets = new_nets(candidate_game(game), config.seed).to(self.device)
        self.optimizer = new_value_optimizer(self.nets, config)
        self.num_updates = 0
        """Rounds that were learned from."""

    def learn(self, parts: Sequence[Samples], staleness: float = 0.0) -> Learned:
        """Learn from the samples of each kind, ``batches`` steps each; DivergedError if a loss is not finite."""
        config, started = self._config, time.monotonic()
        rng = np.random.default_rng([config.seed, self.num_updates, _LEARN])
        for group in self.optimizer.param_groups:
            group["lr"] = rate_of_round(config, self.num_updates)
        loss_sum = 0.0
        for net, own in zip(self.nets, parts, strict=True):
            net.train()
            for indices in np.array_split(rng.permutation(len(own)), config.batches):
                if not len(indices):  # fewer samples than batches
                    continue
                part = own.take(indices)
                loss = learn_samples(net, self.optimizer, part, config.max_grad_norm, is_bf16=self.is_bf16)
                loss_sum += loss * len(indices)
        self.num_updates += 1
        self._average()
        figures = {"loss_sum": loss_sum, "staleness": staleness}
        num_decisions = dict(zip(self._kinds, map(len, parts), strict=True))
        return Learned(self.num_updates, figures, time.monotonic() - started, num_decisions)

    def weights(self) -> Weights:
        """Return copies of the weights that play, by kind."""
        return weights_of(self.nets)

    def match_weights(self) -> Weights:
        """Return copies of the weights, by kind; averaged if ``average_rounds`` wants them."""
        nets = copy.deepcopy(self.nets)
        with torch.no_grad():
            for averaged, parameter in zip(nets.parameters(), self.nets.parameters(), strict=True):
                averaged.copy_(self.optimizer.state[parameter].get(_AVERAGE, parameter))
        return weights_of(nets)

    def _average(self) -> None:
        """Move the averages towards the weights as they are now; in the first rounds, they are means of fewer."""
        rounds = self._config.average_rounds
        if not rounds:
            return
        share = 1 / min(rounds, self.num_updates)
        with torch.no_grad():
            for parameter in self.nets.parameters():
                state = self.optimizer.state[parameter]
                if _AVERAGE in state:
                    state[_AVERAGE].lerp_(parameter, share)
                elif state:  # that of an optimizer that has made a step: an empty one it would not complete
                    state[_AVERAGE] = parameter.detach().clone()

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return copies, on the CPU, of all that ``restore`` needs."""
        tensors = state_tensors(self.nets, self.optimizer)
        copies = {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}
        return copies, {"num_updates": self.num_updates}

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Go on from a ``state``."""
        restore_tensors(tensors, self.nets, self.optimizer)
        self.num_updates = values["num_updates"]
        if not self._config.average_rounds:
            for state in self.optimizer.state.values():
                state.pop(_AVERAGE, None)


def rate_of_round(config: MonteCarloConfig, number: int) -> float:
    """Return the learning rate of the round ``number``, 0, 1, …"""
    share = min(1.0, number / config.decay_rounds) if config.decay_rounds else 0.0
    return config.learning_rate * (1 - share * (1 - config.last_rate_share))


_AVERAGE = "average"
"""Name of averaged weights in the optimizer's state, with which they are saved and restored."""
