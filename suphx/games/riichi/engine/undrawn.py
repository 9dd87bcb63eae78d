"""Tiles of a wall that nobody has drawn or seen: each is equally likely to be the next one, the dead wall included."""

from __future__ import annotations

from suphx.games.riichi.table.table import Table
from suphx.games.riichi.table.wall import DORA_POSITIONS, RINSHAN
from suphx.kernel.jit import jit


@jit
def is_undrawn(t: Table, position: int) -> bool:
    """Tell whether the tile at ``position``, behind all ordinary draws, is neither drawn nor an open indicator."""
    is_left = True
    for i in range(t.num_kans):
        is_left &= position != RINSHAN[i]
    for i in range(t.num_dora):
        is_left &= position != DORA_POSITIONS[i]
    return is_left
