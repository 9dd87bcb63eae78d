"""Tiles and melds as all variants of mahjong have them.

Kinds: 1-9m = 0-8, 1-9p = 9-17, 1-9s = 18-26, East South West North Haku Hatsu Chun = 27-33 (1z-7z). The tiles of a meld
follow from its type and its lowest kind.
"""

from __future__ import annotations

from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

NUM_KINDS = 34
EAST, SOUTH, WEST, NORTH, HAKU, HATSU, CHUN = range(27, 34)
TERMINALS_AND_HONOURS = (0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33)
HONOUR_BITS = 0x7F << 27  # bit sets of kinds
TERMINAL_AND_HONOUR_BITS = sum(1 << kind for kind in TERMINALS_AND_HONOURS)
GREEN_BITS = (1 << 19) | (1 << 20) | (1 << 21) | (1 << 23) | (1 << 25) | (1 << HATSU)


@jit
def is_simple(kind: int) -> bool:
    """Tell whether a kind is neither a terminal nor an honour."""
    return kind < 27 and 0 < kind % 9 < 8


# kinds of melds
CHI_MELD, PON_MELD, ANKAN_MELD, MINKAN_MELD, KAKAN_MELD = 1, 2, 3, 4, 5


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
