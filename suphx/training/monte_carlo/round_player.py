"""A round: whole games as samples to learn from, which the nets of all seats play, or a scripted agent to imitate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from suphx.experience.seat_observations import SeatObservations
from suphx.games.candidate_game import CandidateGame, Player
from suphx.kernel.record import I64, U8
from suphx.models.segments import segment_rows
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.monte_carlo_step import Samples, ValueSamples, candidate_values
from suphx.training.monte_carlo.value_player import PlayedMoves, ValuePlayer


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
        counts = np.diff(self.offsets)[indices]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        shifts = self.offsets[indices] - offsets[:-1]
        rows = np.arange(offsets[-1]) + np.repeat(shifts, counts)
        chosen = self.chosen[indices] - shifts
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
_PLAY = 0  # round_learner.py has the other stream of random numbers


class RoundPlayer:
    """Consumes: nets. Produces: the samples of rounds. Waits for: nothing.

    What a round gives depends on its number, the settings and the weights of the nets, and on nothing before it.
    """

    def __init__(
        self, config: MonteCarloConfig, game: CandidateGame, rules: Any, nets: nn.ModuleList, *, is_bf16: bool
    ) -> None:
        """``nets`` play; whoever has them may change their weights between two rounds."""
        self._config, self._game, self._rules, self._nets = config, game, rules, nets
        self._columns = game.candidate_columns(rules)
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
        teacher = ObservedPlayer(self._game.scripted_player(self._config.imitates))
        self._game.play(self._rules, seeds, teacher)
        return [teacher.samples(seat, self._columns) for seat in range(len(self._nets))]
