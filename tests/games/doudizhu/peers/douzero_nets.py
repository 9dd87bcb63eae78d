"""Nets of PyPI ``douzero`` as ours: the same layers under other names, with the same inputs in the same order."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu.engine.table import SEAT_NAMES
from suphx.training.monte_carlo.value_player import new_nets

_LAYERS = {"dense1": "first", **{f"dense{n + 2}": f"others.{n}" for n in range(4)}, "dense6": "output"}


def nets_of_douzero(weights: Mapping[str, Mapping[str, Tensor]]) -> nn.ModuleList:
    """Return our nets with ``weights``: seat name -> state dict of a net of DouZero."""
    nets = new_nets(candidate_game("doudizhu"), 0)
    for net, seat in zip(nets, SEAT_NAMES, strict=True):
        net.load_state_dict({_own_name(name): tensor for name, tensor in weights[seat].items()})
    return nets.eval()


def _own_name(name: str) -> str:
    layer, _, rest = name.partition(".")
    return f"{_LAYERS.get(layer, layer)}.{rest}"
