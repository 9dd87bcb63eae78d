"""Nets that play: each seat's net gives every candidate a value, and the highest is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from suphx.experience.seat_observations import SeatObservations
from suphx.games.candidate_game import CandidateGame
from suphx.kernel.record import I32, I64, U8
from suphx.models.device import first_weights
from suphx.models.nets.candidate_value import CandidateValueConfig, CandidateValueNet
from suphx.models.segments import segment_argmax, segment_rows
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig

_MAX_CANDIDATES = 8192  # about so many go through a net at a time: more would need gigabytes


@dataclass(frozen=True, slots=True)
class PlayedMoves:
    """Moves that one seat's net chose at the same time, at different tables."""

    seat: int
    tables: I64
    states: U8
    history: U8
    moves: I32


@dataclass(slots=True)
class ValuePlayer:
    """A ``Player`` of all seats. It appends what it plays to ``played``, if there is a list.

    >>> player = ValuePlayer(nets, game.candidate_columns(rules))
    >>> results = game.play_match(100, rules, player, game.scripted_player("random"))
    """

    nets: nn.ModuleList
    """One for each seat, as ``new_nets`` gives them, all on one device."""
    columns: U8
    """uint8 [moves, columns]: what a net sees of each move."""
    epsilon: float = 0.0
    """Share of moves that are played at random."""
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    played: list[PlayedMoves] | None = None
    is_bf16: bool = False
    """Compute the values in bf16 (autocast); the last layer stays float32."""

    def choose(self, simulator: Any, seen: SeatObservations) -> I64:
        """Return the indices in ``seen.moves`` of the moves with the highest values, a few of them at random.

        ValueError if the tables have other rules than ``columns``, by which moves have other numbers.
        """
        counts = np.diff(seen.offsets)
        chosen = seen.offsets[:-1].copy()
        for rows, offsets, indices, values in self._valued(seen):
            chosen[rows] = indices[segment_argmax(values, offsets)]
        if self.epsilon:
            explores = self.rng.random(len(chosen)) < self.epsilon
            random_indices = seen.offsets[:-1] + (self.rng.random(len(chosen)) * counts).astype(np.int64)
            chosen[explores] = random_indices[explores]
        if self.played is not None:
            self.played.append(PlayedMoves(seen.seat, seen.tables, seen.states, seen.history, seen.moves[chosen]))
        return chosen

    def values(self, seen: SeatObservations) -> NDArray[np.float32]:
        """Return float32 (m,): the value of each of ``seen.moves``, nan where a table has only one.

        ValueError as for ``choose``.
        """
        found = np.full(len(seen.moves), np.nan, np.float32)
        for _, _, indices, values in self._valued(seen):
            found[indices] = values
        return found

    def _valued(self, seen: SeatObservations) -> Iterator[tuple[I64, I64, I64, NDArray[np.float32]]]:
        """Yield observations with several moves, a part at a time: their rows, offsets, indices of moves and values."""
        if seen.num_moves != len(self.columns):
            raise ValueError(
                f"these nets learned rules with {len(self.columns):,} moves, but the game is played by rules with "
                f"{seen.num_moves:,}: use nets that learned the rules of the game"
            )
        counts = np.diff(seen.offsets)
        several = np.flatnonzero(counts > 1)  # a forced move needs no value
        if not several.size:
            return
        for rows in np.array_split(several, -(-int(counts[several].sum()) // _MAX_CANDIDATES)):
            if rows.size:
                offsets = np.concatenate([[0], np.cumsum(counts[rows])])
                lists = segment_rows(offsets)
                indices: I64 = np.arange(offsets[-1]) + (seen.offsets[rows] - offsets[:-1])[lists]
                yield rows, offsets, indices, self._net_values(seen, rows, self.columns[seen.moves[indices]], lists)

    def _net_values(self, seen: SeatObservations, rows: I64, columns: U8, lists: I64) -> NDArray[np.float32]:
        arrays = (seen.states[rows], seen.history[rows], columns, lists)
        net = self.nets[seen.seat]
        device = next(net.parameters()).device
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=self.is_bf16):
            values: NDArray[np.float32] = net(*(torch.from_numpy(array).to(device) for array in arrays)).cpu().numpy()
        return values


def new_nets(game: CandidateGame, seed: int) -> nn.ModuleList:
    """Return one net for each seat; the weights follow from ``seed``, and torch's own random state stays as it was."""
    with first_weights(seed):
        return nn.ModuleList(_new_net(game, seat) for seat in range(len(game.seat_names)))


def _new_net(game: CandidateGame, seat: int) -> CandidateValueNet:
    columns = game.net_columns(seat)
    return CandidateValueNet(
        CandidateValueConfig(
            state_columns=columns.state, history_columns=columns.history, candidate_columns=columns.candidate
        )
    )


Figures = dict[str, dict[str, float]]
"""Opponent -> ``wp_<side>``, ``adp_<side>`` and the standard error of each, ``…_error``."""


def evaluate_nets(
    config: MonteCarloConfig, game: CandidateGame, rules: Any, nets: nn.ModuleList, *, is_bf16: bool
) -> Figures:
    """Play ``evaluate_decks`` deals against each opponent, with the nets on each side."""
    player = ValuePlayer(nets.eval(), game.candidate_columns(rules), is_bf16=is_bf16)
    found: Figures = {}
    for opponent in config.opponents:
        results = game.play_match(config.evaluate_decks, rules, player, game.scripted_player(opponent))
        found[opponent] = {}
        for side, reached in results.items():
            for measure, numbers in (("wp", reached.wins), ("adp", reached.points)):
                values = numbers.astype(np.float64)
                found[opponent][f"{measure}_{side}"] = float(values.mean())
                found[opponent][f"{measure}_{side}_error"] = float(values.std() / np.sqrt(len(values)))
    return found
