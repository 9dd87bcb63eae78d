"""Nets that give every candidate a value: as players, in a match on the way, and as files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from suphx.experience.seat_observations import SeatObservations
from suphx.experience.segments import segment_argmax, segment_rows
from suphx.games.candidate_game import CandidateGame, candidate_game, net_file_names
from suphx.games.registry import GAMES, candidate_games, game_of_files
from suphx.kernel.record import I32, I64, U8
from suphx.models.checkpoints.tensor_file import read_tensors, write_tensors
from suphx.models.computation import Precision
from suphx.models.device import first_weights, uses_bf16
from suphx.models.nets.candidate_value import CandidateValueConfig, CandidateValueNet
from suphx.printable_text import shortened
from suphx.training.config import MonteCarloConfig

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


_KIND = "candidate values"
_FORMAT_VERSION = 2


@dataclass(frozen=True, slots=True)
class ValueNets:
    """Nets that learned a game by Deep Monte-Carlo."""

    game: CandidateGame
    rules: Any
    nets: nn.ModuleList

    def player(self, precision: Precision = "auto") -> ValuePlayer:
        """Return the agent that plays the move with the highest value, on the CPU."""
        is_bf16 = uses_bf16(precision, torch.device("cpu"))
        return ValuePlayer(self.nets.eval(), self.game.candidate_columns(self.rules), is_bf16=is_bf16)


def save_value_nets(folder: Path, trained: ValueNets, extra: dict[str, Any] | None = None) -> None:
    """Write one file for each seat, atomically; ``extra``: what else the headers say, as JSON values."""
    game = trained.game
    for net, name, seat in zip(trained.nets, net_file_names(game), game.seat_names, strict=True):
        header = {"kind": _KIND, "format_version": _FORMAT_VERSION, "game": game.name, "seat": seat}
        header |= {"rules": trained.game.rules_values(trained.rules), "extra": extra or {}}
        write_tensors(folder / name, net.state_dict(), header)


def load_value_nets(folder: str | Path) -> ValueNets:
    """Return the nets of a folder, on the CPU, with their game and the rules that they learned.

    FileNotFoundError if a file is missing; ValueError if one is damaged, or of another seat, kind or rules.
    """
    folder = Path(folder)
    name = game_of_files(path.name for path in folder.glob("*.safetensors"))
    if name is None:
        needed = ", ".join(str(GAMES[each].net_file) for each in candidate_games())
        raise FileNotFoundError(f"{folder} has no nets: it needs {needed} and those of the other seats")
    game = candidate_game(name)
    nets, found = new_nets(game, 0), list[Any]()
    for net, name, seat in zip(nets, net_file_names(game), game.seat_names, strict=True):
        tensors, header = read_tensors(folder / name)
        kind = tuple(header.get(key) for key in ("kind", "format_version", "game", "seat"))
        if kind != (_KIND, _FORMAT_VERSION, game.name, seat):
            raise ValueError(f"{folder / name} has no net of the seat {seat}, format {_FORMAT_VERSION}: train it again")
        try:
            found.append(game.new_rules(header["rules"]))
            net.load_state_dict(tensors)
        except (KeyError, TypeError, RuntimeError) as error:
            reason = shortened(str(error), 200)  # torch lists every tensor, one a line
            raise ValueError(f"{folder / name} is damaged ({reason}): train it again") from error
    if len(set(found)) > 1:
        raise ValueError(f"the nets in {folder} learned different rules: use those of one training")
    return ValueNets(game, found[0], nets.eval())
