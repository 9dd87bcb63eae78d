"""Tiles, melds and shuffled walls as all variants of mahjong have them.

Kinds: 1-9m = 0-8, 1-9p = 9-17, 1-9s = 18-26, East South West North Haku Hatsu Chun = 27-33 (1z-7z). The tiles of a meld
follow from its type and its lowest kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix
from suphx.kernel.record import I8, I16, I64

NUM_KINDS = 34
EAST, SOUTH, WEST, NORTH, HAKU, HATSU, CHUN = range(27, 34)
TERMINALS_AND_HONOURS = (0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32, 33)
HONOUR_BITS = 0x7F << 27  # bit sets of kinds
TERMINAL_AND_HONOUR_BITS = sum(1 << kind for kind in TERMINALS_AND_HONOURS)
GREEN_BITS = (1 << 19) | (1 << 20) | (1 << 21) | (1 << 23) | (1 << 25) | (1 << HATSU)

_GROUP = re.compile(r"([0-9]+)([mpsz])")
_MASK32 = 0xFFFFFFFF


def kind_name(kind: int) -> str:
    """Return the name of a kind: ``"5m"``, ``"7z"``."""
    return f"{kind % 9 + 1}{'mpsz'[kind // 9]}"


def parse_names(text: str, tiles: Mapping[str, int]) -> list[int]:
    """Return the ``tiles``, by name, of a text such as ``"340m22z"``; ValueError for anything else."""
    cleaned = text.replace(" ", "")
    if not re.fullmatch(f"(?:{_GROUP.pattern})*", cleaned):
        raise ValueError(f"{text!r} is not a list of tiles: write digits and a suit, such as 123m406p77z")
    names = [digit + suit for digits, suit in _GROUP.findall(cleaned) for digit in digits]
    for name in names:
        if name not in tiles:
            raise ValueError(f"{name} in {text!r} is not a tile{': honours are 1z to 7z' if name[1] == 'z' else ''}")
    return [tiles[name] for name in names]


def join_names(names: Iterable[str]) -> str:
    """Return names of tiles in the short form, suit by suit: ``"340m22z"``."""
    listed = list(names)
    groups = {suit: "".join(name[0] for name in listed if name[1] == suit) for suit in "mpsz"}
    return "".join(digits + suit for suit, digits in groups.items() if digits)


@jit
def shuffle_tiles(seed: int, deal: int, wall: I16) -> None:
    """Fill ``wall`` int16 (n,) with the tile ids 0 … n - 1, shuffled for a ``deal`` of the game ``seed``.

    0 <= seed < 2**62. A pure function: Fisher-Yates over 32-bit numbers from a mixed counter that is keyed with seed
    and deal. The bias of the multiply-shift range reduction is below 2**-24.
    """
    for i in range(len(wall)):
        wall[i] = i
    key = mix((seed & _MASK32) ^ 0x9E3779B9)
    key = mix(key ^ (seed >> 32 & _MASK32))
    key = mix(key + deal * 0x85EBCA6B & _MASK32)
    second = mix(key ^ 0x5851F42D)
    for i in range(len(wall) - 1, 0, -1):
        key = key + 0x9E3779B9 & _MASK32
        bits = mix(mix(key) ^ second)
        j = bits * (i + 1) >> 32
        wall[i], wall[j] = wall[j], wall[i]


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
