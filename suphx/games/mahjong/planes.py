"""Observation layouts and their bits: a row of planes is a bit set, bit ``plane * 34 + kind``, low bits first.

A layout is a table (name, first plane, count, meaning) that encoders take their offsets from. Encoding: the paper,
section 3.1 and figure 3.

All layouts keep what belongs to a suit in columns, never in planes of its own: exchanging suits moves columns. So one
recorded decision is six samples (``permute_suits``), as no rule but one yakuman tells the suits apart: all green.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar, TypeAlias

import numpy as np

from suphx.games.mahjong.tile import CHI_MELD, PON_MELD
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, U8

NUM_COLUMNS = 34  # one column for each tile kind
ALL_KINDS = (1 << NUM_COLUMNS) - 1

CountMasks: TypeAlias = tuple[int, int, int, int]
"""Counts of all kinds as four 34-bit sets: the kinds with at least 1, 2, 3, 4 tiles."""


@dataclass(frozen=True, slots=True)
class PlaneRange:
    """Neighbouring planes with one meaning: ``count`` planes from plane ``first`` on."""

    name: str
    first: int
    count: int
    meaning: str
    shape: tuple[int, ...] = ()
    """How the planes are counted, the last index fastest: (4, 24) is 4 seats x 24 places; () is one after another."""


@dataclass(frozen=True, slots=True)
class PlaneLayout:
    """A named table of plane ranges, one after another (``layout``).

    >>> layout("mini", 1, [("hand", 4, "own tiles"), ("riichi", 4, "who declared")])["riichi"].first
    4
    """

    name: str
    version: int
    """Goes up whenever the meaning of any plane changes: a checkpoint fits one version."""
    ranges: tuple[PlaneRange, ...]
    num_columns: ClassVar[int] = NUM_COLUMNS

    def __getitem__(self, name: str) -> PlaneRange:
        """Return the range called ``name``; ValueError for a name that is not there."""
        for part in self.ranges:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self.ranges)
        raise ValueError(f"layout {self.name} has no planes called {name!r}: use one of {names}")

    def first_planes(self) -> Any:
        """Return the first plane of each range as a named tuple, whose fields are constants for kernels."""
        new_type: Any = namedtuple  # mypy knows those with literal names only
        first_planes = new_type("FirstPlanes", [part.name for part in self.ranges])
        return first_planes(*(part.first for part in self.ranges))

    @property
    def num_planes(self) -> int:
        """The number of planes."""
        return self.ranges[-1].first + self.ranges[-1].count if self.ranges else 0

    @property
    def observation_bytes(self) -> int:
        """Bytes of one packed row; the spare bits at its end are 0."""
        return observation_bytes(self.num_planes)


def layout(name: str, version: int, parts: Iterable[tuple[str, int | tuple[int, ...], str]]) -> PlaneLayout:
    """Return the layout of ``parts`` (name, count or shape, meaning) one after another; ValueError for equal names."""
    ranges: list[PlaneRange] = []
    first = 0
    for part_name, size, meaning in parts:
        if part_name in {part.name for part in ranges}:
            raise ValueError(f"layout {name}: two ranges are called {part_name}: give each its own name")
        shape = size if isinstance(size, tuple) else ()
        count = math.prod(size) if isinstance(size, tuple) else size
        ranges.append(PlaneRange(part_name, first, count, meaning, shape))
        first += count
    return PlaneLayout(name, version, tuple(ranges))


def observation_bytes(num_planes: int) -> int:
    """Return the bytes of one packed row of ``num_planes`` planes."""
    return (num_planes * NUM_COLUMNS + 7) // 8


def unpack_planes(row: U8, num_planes: int) -> U8:
    """Return the planes of a packed row as uint8 [num_planes, 34] of 0 and 1.

    ``row``: uint8 [observation_bytes(num_planes)]; ValueError for another shape or type.
    """
    if row.dtype != np.uint8 or row.shape != (observation_bytes(num_planes),):
        raise ValueError(
            f"a row of {num_planes} planes is uint8[{observation_bytes(num_planes)}], not {row.dtype}{list(row.shape)}"
        )
    bits = np.unpackbits(row, count=num_planes * NUM_COLUMNS, bitorder="little")
    return bits.reshape(num_planes, NUM_COLUMNS)


@jit
def set_bit(row: U8, plane: int, column: int) -> None:
    """Set one column of a plane."""
    bit = plane * NUM_COLUMNS + int(column)
    row[bit >> 3] |= 1 << (bit & 7)


@jit
def set_kinds(row: U8, plane: int, kinds: int) -> None:
    """Set the columns of a plane that are in the bit set ``kinds`` (34 bits, no others)."""
    first = plane * NUM_COLUMNS
    bits = int(kinds) << (first & 7)
    # A plane starts at bit 0, 2, 4 or 6 of a byte, so that its 34 bits always lie in exactly five bytes.
    for i in range(5):
        row[(first >> 3) + i] |= bits >> (8 * i) & 255


@jit
def get_kinds(row: U8, plane: int) -> int:
    """Return the bit set of the columns that a plane has."""
    first = plane * NUM_COLUMNS
    bits = 0
    for i in range(5):
        bits |= int(row[(first >> 3) + i]) << 8 * i
    return bits >> (first & 7) & ALL_KINDS


@jit
def set_plane(row: U8, plane: int) -> None:
    """Set all 34 columns of a plane."""
    set_kinds(row, plane, ALL_KINDS)


@jit
def full_if(condition: bool) -> int:
    """Return the bit set of a full plane, or of an empty one."""
    return ALL_KINDS if condition else 0


@jit
def count_bits(kinds: int) -> int:
    """Return how many kinds a bit set (34 bits) has."""
    # The compiler knows this loop and makes it one instruction.
    bits = int(kinds)
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@jit
def count_masks(counts: I8) -> CountMasks:
    """Return the counts int8 [34] of all kinds as four bit sets (figure 3 of the paper)."""
    one = two = three = four = 0
    for kind in range(NUM_COLUMNS):
        count = counts[kind]
        bit = 1 << kind
        one |= bit if count > 0 else 0
        two |= bit if count > 1 else 0
        three |= bit if count > 2 else 0
        four |= bit if count > 3 else 0
    return one, two, three, four


@jit
def count_tiles(kinds: int, masks: CountMasks) -> int:
    """Return how many of the tiles counted by ``masks`` are of the kinds of a bit set."""
    return (
        count_bits(kinds & masks[0])
        + count_bits(kinds & masks[1])
        + count_bits(kinds & masks[2])
        + count_bits(kinds & masks[3])
    )


@jit
def add_tile(masks: CountMasks, kind: int) -> CountMasks:
    """Return the counts with one tile more; a fifth tile changes nothing."""
    one, two, three, four = masks
    bit = 1 << int(kind)
    return one | bit, two | one & bit, three | two & bit, four | three & bit


@jit
def remove_tiles(masks: CountMasks, kind: int, count: int) -> CountMasks:
    """Return the counts with ``count`` tiles of a kind less, down to 0."""
    one, two, three, four = masks
    bit = 1 << int(kind)
    for _ in range(count):
        one, two, three, four = one & ~bit | two & bit, two & ~bit | three & bit, three & ~bit | four & bit, four & ~bit
    return one, two, three, four


@jit
def set_counts(row: U8, plane: int, masks: CountMasks) -> None:
    """Set four planes from ``plane`` on: plane n has the kinds with more than n tiles."""
    set_kinds(row, plane, masks[0])
    set_kinds(row, plane + 1, masks[1])
    set_kinds(row, plane + 2, masks[2])
    set_kinds(row, plane + 3, masks[3])


@jit
def meld_masks(meld_type: int, kind: int) -> CountMasks:
    """Return the counts of one meld whose lowest kind is ``kind``."""
    if meld_type == CHI_MELD:
        return 7 << kind, 0, 0, 0
    bit = 1 << kind
    return bit, bit, bit, 0 if meld_type == PON_MELD else bit


@jit
def add_open_meld(masks: CountMasks, meld_type: int, kind: int, claimed: int) -> CountMasks:
    """Return the counts with the tiles of a meld but the ``claimed`` one, which lies in the river of its discarder."""
    if meld_type == CHI_MELD:
        for other in range(kind, kind + 3):
            if other != claimed:
                masks = add_tile(masks, other)
        return masks
    # All four tiles of a kan are seen: adding stops at four whether the river's tile comes before or after.
    for _ in range(2 if meld_type == PON_MELD else 4):
        masks = add_tile(masks, kind)
    return masks


SUIT_ORDERS = np.array(list(permutations(range(3))), np.int64)
"""int64 (6, 3): where each suit goes; line 0 leaves them where they are."""


def permute_suits(rows: U8, orders: I64) -> None:
    """Exchange the suits of packed rows in place, in the ``orders`` (int64 (n,), 0-5: rows of SUIT_ORDERS).

    Raises ValueError for another number of orders, or one that is out of range.
    """
    if orders.shape != (len(rows),) or (len(rows) and not 0 <= orders.min() <= orders.max() < len(SUIT_ORDERS)):
        raise ValueError(f"{orders.size} orders for {len(rows)} rows: give one of 0 to 5 for each")
    # Whole planes only: what is left of the last byte is always 0.
    _permute(rows, orders, SUIT_ORDERS, rows.shape[1] * 8 // NUM_COLUMNS)


@jit
def permuted_kinds(kinds: int, order: I64) -> int:
    """Return the bit set ``kinds`` (34 bits) with suit s moved to ``order[s]``."""
    moved = kinds >> 27 << 27
    for suit in range(3):
        moved |= (kinds >> 9 * suit & 511) << 9 * order[suit]
    return moved


@jit
def _permute(rows: U8, numbers: I64, orders: I64, num_planes: int) -> None:
    old = np.zeros(rows.shape[1], np.uint8)
    for i in range(len(numbers)):
        if numbers[i] == 0:
            continue
        old[:] = rows[i]
        rows[i, :] = 0
        for plane in range(num_planes):
            set_kinds(rows[i], plane, permuted_kinds(get_kinds(old, plane), orders[numbers[i]]))
