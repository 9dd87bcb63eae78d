"""The nets of all seats as files: ``<seat>.safetensors`` each, with what is needed to make the nets again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn

from suphx.games.doudizhu import SEAT_NAMES, Rules
from suphx.models.checkpoints.tensor_file import read_tensors, write_tensors
from suphx.training.monte_carlo.value_player import new_nets

_KIND = "candidate values"
_FORMAT_VERSION = 1
FILES = tuple(f"{seat}.safetensors" for seat in SEAT_NAMES)


def save_value_nets(folder: Path, nets: nn.ModuleList, rules: Rules, extra: dict[str, Any] | None = None) -> None:
    """Write one file for each seat, atomically; ``extra``: what else the headers say, as JSON values."""
    for net, name, seat in zip(nets, FILES, SEAT_NAMES, strict=True):
        header = {"kind": _KIND, "format_version": _FORMAT_VERSION, "seat": seat, "rules": asdict(rules)}
        write_tensors(folder / name, net.state_dict(), header | {"extra": extra or {}})


def load_value_nets(folder: Path) -> tuple[nn.ModuleList, Rules]:
    """Return the nets by seat and the rules that they learned.

    FileNotFoundError if a file is missing; ValueError if one is damaged, or of another seat, kind or rules.
    """
    nets, found = new_nets(0), list[Rules]()
    for net, name, seat in zip(nets, FILES, SEAT_NAMES, strict=True):
        tensors, header = read_tensors(folder / name)
        if (header.get("kind"), header.get("format_version"), header.get("seat")) != (_KIND, _FORMAT_VERSION, seat):
            raise ValueError(f"{folder / name} has no net of the seat {seat}, format {_FORMAT_VERSION}: train it again")
        try:
            found.append(Rules(**header["rules"]))
            net.load_state_dict(tensors)
        except (KeyError, TypeError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]  # torch lists every tensor, one a line
            raise ValueError(f"{folder / name} is damaged ({reason}): train it again") from error
    if len(set(found)) > 1:
        raise ValueError(f"the nets in {folder} learned different rules: use those of one training")
    return nets.eval(), found[0]
