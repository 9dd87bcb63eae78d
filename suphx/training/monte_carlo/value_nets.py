"""The nets of all seats as files: ``<seat>.safetensors`` each, with what is needed to make the nets again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from suphx.games.candidate_game import CandidateGame, candidate_game, net_file_names
from suphx.games.registry import GAMES, candidate_games, game_of_files
from suphx.models.checkpoints.tensor_file import read_tensors, write_tensors
from suphx.models.computation import Precision
from suphx.models.device import uses_bf16
from suphx.printable_text import shortened
from suphx.training.monte_carlo.value_player import ValuePlayer, new_nets

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
