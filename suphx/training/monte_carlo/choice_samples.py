"""The supervised variant of DouZero's nets: is this candidate the move that was made, yes or no.

As in DouZero (Zha et al. 2021, appendix), a net is asked for each legal move of a decision. There are many more moves
that were not made than made ones, so they are weighted: in each decision, yes and no count the same. To play, the move
with the highest value is made, as with nets that learned returns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from suphx.experience.seat_observations import SeatObservations
from suphx.games.candidate_game import Player
from suphx.kernel.record import I64, U8
from suphx.models.segments import segment_rows
from suphx.training.monte_carlo.monte_carlo_step import candidate_values


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
