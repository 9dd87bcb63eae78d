"""Red fives: their faces, and the bit set of suits whose red five a hand holds (``Table.red``).

The faces 34, 35 and 36 (tile.py) are the red fives of the suits 0, 1 and 2; bit i of a set is the red five of suit i.
"""

from __future__ import annotations

from suphx.games.riichi.table.tile import is_five
from suphx.kernel.jit import jit

_FIRST_FACE = 34


@jit
def is_red(face: int) -> bool:
    """Tell whether a face (0-36) is a red five."""
    return face >= _FIRST_FACE


@jit
def red_face(kind: int) -> int:
    """Return the face of the red five in the suit of ``kind`` (0-26)."""
    return _FIRST_FACE + kind // 9


@jit
def red_bit(face: int) -> int:
    """Return the bit of a red face (34-36) in a set of red fives."""
    return 1 << (face - _FIRST_FACE)


@jit
def num_red(reds: int, kind: int) -> int:
    """Return how many tiles of ``kind`` (0-33) are red in a hand that holds the set ``reds``: 1 or 0."""
    if is_five(kind):
        return reds >> (kind // 9) & 1
    return 0


@jit
def red_kinds(reds: int) -> int:
    """Return the kinds of a set of red fives, as bits."""
    return (reds & 1) << 4 | (reds >> 1 & 1) << 13 | (reds >> 2 & 1) << 22
