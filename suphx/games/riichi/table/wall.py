"""Where tiles stand in a wall, and walls from a plain integer seed.

A wall is int16 (136,) tile ids in drawing order (table.py). Tenhou's own walls come from seeded_wall.py.
"""

from __future__ import annotations

from suphx.games.riichi.table.tile import dora_of_indicator
from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix
from suphx.kernel.record import I16

DEALT = 52
LAST_DRAW = 122  # draws end before this index, earlier by one for each kan
NUM_DRAWS = LAST_DRAW - DEALT
RINSHAN = (134, 135, 132, 133)
DORA_POSITIONS = (130, 128, 126, 124, 122)
URA_POSITIONS = (131, 129, 127, 125, 123)

_MASK32 = 0xFFFFFFFF
_MAX_HONBA = 1024


@jit
def dora_indicator(wall: I16, i: int) -> int:
    """Return the tile id of the dora indicator ``i`` (0-4)."""
    return wall[DORA_POSITIONS[i]]


@jit
def dora_kind(wall: I16, i: int) -> int:
    """Return the kind that the dora indicator ``i`` makes dora."""
    return dora_of_indicator(int(wall[DORA_POSITIONS[i]]) >> 2)


@jit
def ura_kind(wall: I16, i: int) -> int:
    """Return the kind that the ura indicator under the dora indicator ``i`` makes dora."""
    return dora_of_indicator(int(wall[URA_POSITIONS[i]]) >> 2)


@jit
def shuffle_wall(seed: int, kyoku: int, honba: int, wall: I16) -> None:
    """Fill ``wall`` with the shuffled tiles of a deal of the game ``seed`` (0 <= seed < 2**62; honba < 1024).

    No two deals of a game have the same kyoku and honba. Two games with the same seed have the same wall at the same
    kyoku and honba, however many deals each has played before. A pure function: Fisher-Yates over 32-bit numbers from
    a mixed counter that is keyed with seed, kyoku and honba. The bias of the multiply-shift range reduction is below
    2**-24.
    """
    for i in range(136):
        wall[i] = i
    number = kyoku * _MAX_HONBA + honba
    key = mix((seed & _MASK32) ^ 0x9E3779B9)
    key = mix(key ^ (seed >> 32 & _MASK32))
    key = mix(key + number * 0x85EBCA6B & _MASK32)
    second = mix(key ^ 0x5851F42D)
    for i in range(135, 0, -1):
        key = key + 0x9E3779B9 & _MASK32
        bits = mix(mix(key) ^ second)
        j = bits * (i + 1) >> 32
        wall[i], wall[j] = wall[j], wall[i]
