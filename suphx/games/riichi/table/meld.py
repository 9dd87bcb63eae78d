"""The tiles of a meld, from its type (table.py) and its lowest kind."""

from __future__ import annotations

from suphx.games.riichi.table.table import CHI_MELD, PON_MELD
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64


@jit
def meld_size(meld_type: int) -> int:
    """Return how many tiles a meld has: 4 for a kan, else 3."""
    return 3 if meld_type in (CHI_MELD, PON_MELD) else 4


@jit
def count_in_meld(meld_type: int, lowest: int, kind: int) -> int:
    """Return how many tiles of ``kind`` a meld has."""
    if meld_type == CHI_MELD:
        return int(lowest <= kind < lowest + 3)
    return meld_size(meld_type) if kind == lowest else 0


@jit
def add_meld(counts: I8 | I64, meld_type: int, lowest: int, sign: int) -> None:
    """Add the tiles of a meld to ``counts``, (34,), ``sign`` times."""
    if meld_type == CHI_MELD:
        for kind in range(lowest, lowest + 3):
            counts[kind] += sign
    else:
        counts[lowest] += sign * meld_size(meld_type)
