"""How far a hand is from four sets and a pair, by table lookup.

A hand is int8 (34,) counts of concealed tiles beside ``num_melds`` melds. Shanten is the number of tiles missing for a
complete hand minus one: 0 = ready, -1 = complete.

The tables say what each suit still lacks for m sets with or without a pair. A suit of nine kinds with counts c0..c8 has
the code sum(c_i * 5**i); the seven honours follow at ``HONOUR_BASE``. Codes that lack the same for every number of
sets, with and without a pair, are of one *class*. Two groups of suits together lack what their classes say, so classes
merge: there are only 180 of them, all merged ones included. So there is no search, but seven lookups a hand.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import cast

import numpy as np

from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I32, I64, U8, Records, field, record_dtype
from suphx.kernel.source_closure import load_or_build

SUIT_CODES = 5**9
HONOUR_CODES = 5**7
HONOUR_BASE = SUIT_CODES
POWERS_OF_5 = tuple(5 ** (kind % 9) for kind in range(34))
NUM_CLASSES = 180

# A row, 32 bits. The counts (bits 8 and up) of four suits can be added: no sum runs into its neighbour.
#
#   31      28 27       24 23        20 19       14 13       8 7         0
#   +---------+-----------+------------+-----------+----------+----------+
#   |    0    | pairs of  | terminals, | kinds two | kinds    |  class   |
#   |         | those     | honours    | or more   | one or   |  0..179  |
#   |         |           | (kinds)    | times     | more     |          |
#   +---------+-----------+------------+-----------+----------+----------+
#              END_PAIRS   ENDS         PAIRS                  CLASS_MASK
#
# The shifts of counts are those after ``row >> COUNTS_SHIFT``.
CLASS_MASK = 0xFF
COUNTS_SHIFT = 8
PAIRS_SHIFT, ENDS_SHIFT, END_PAIRS_SHIFT = 6, 12, 16
KINDS_MASK = PAIRS_MASK = 0x3F
ENDS_MASK = END_PAIRS_MASK = 0xF

_FAR = 14


class Suits:
    """All tables in one record, so that kernels hand on a single pointer."""

    rows: I32 = field("i4", SUIT_CODES + HONOUR_CODES)
    """By code: the class, and how many kinds, pairs, terminals and honours, pairs of those there are."""
    merged: U8 = field("u1", NUM_CLASSES, NUM_CLASSES)
    """The class of two groups of suits together."""
    shanten: I8 = field("i1", NUM_CLASSES, 5)
    """By the class of all suits together and the number of melds: the shanten to four sets and a pair."""
    lacking: I64 = field("i8", NUM_CLASSES, 2)
    """By class, without and with a pair: five bytes, byte m = tiles missing for m sets. Bits 39 to 0 ::

        39       32 31       24 23       16 15        8 7         0
        +----------+-----------+-----------+-----------+----------+
        |  4 sets  |  3 sets   |  2 sets   |  1 set    |  0 sets  |
        +----------+-----------+-----------+-----------+----------+
    """


SUITS = record_dtype(Suits)


@cache
def load_suits() -> Suits:
    """Return the tables, read-only; built once (2 s) and mapped from the cache folder afterwards."""
    stored: Records = load_or_build("suits", Path(__file__), build_suits)
    # A record that has its fields as attributes in Python, too.
    return cast(Suits, stored.view(np.dtype((np.record, SUITS)))[0])


def build_suits() -> Records:
    """Compute the tables, SUITS (1,), from the definition of a set: three alike, or three in a row in a suit."""
    missing = np.concatenate([_missing(9, True), _missing(7, False)])
    found, found_index = np.unique(missing, return_inverse=True)
    classes = _close(found)
    lacking = _unpack(classes)
    tables: Records = np.zeros(1, SUITS)
    table = tables[0]
    table["rows"] = np.searchsorted(classes, found)[found_index]
    table["rows"][:SUIT_CODES] += _counts(9, (0, 8)) << COUNTS_SHIFT
    table["rows"][HONOUR_BASE:] += _counts(7, range(7)) << COUNTS_SHIFT
    table["merged"] = np.searchsorted(classes, _merge(classes))
    table["shanten"] = lacking[:, 1, ::-1] - 1
    table["lacking"] = lacking @ (1 << 8 * np.arange(5))
    return tables


def _missing(num_kinds: int, has_runs: bool) -> I64:
    """Return int64 (codes,): what every code lacks, packed."""
    lacking = np.empty((5**num_kinds, 2, 5), np.uint8)
    _mark_contained(lacking, num_kinds, has_runs)
    _relax(lacking, num_kinds)
    return _pack(lacking)


def _pack(lacking: U8 | I64) -> I64:
    """Pack (…, 2, 5) numbers up to 14 into four bits each.

    Sets m without a pair in bits 4m to 4m + 3, with a pair 20 bits above::

        39 36 35 32 31 28 27 24 23 20 19 16 15 12 11  8 7   4 3   0
        +----+-----+-----+-----+-----+-----+-----+-----+-----+-----+
        | 4  |  3  |  2  |  1  |  0  |  4  |  3  |  2  |  1  |  0  |  m
        +----+-----+-----+-----+-----+-----+-----+-----+-----+-----+
        |        with a pair         |      without a pair         |
    """
    packed = np.zeros(lacking.shape[:-2], np.int64)
    for p in range(2):
        for m in range(5):
            packed |= lacking[..., p, m].astype(np.int64) << 4 * (5 * p + m)
    return packed


def _unpack(packed: I64) -> I64:
    numbers: I64 = (packed[..., None] >> 4 * np.arange(10) & 0xF).reshape(*packed.shape, 2, 5)
    return numbers


def _close(classes: I64) -> I64:
    """Return, sorted, ``classes`` and all that come of merging them again and again."""
    while True:
        larger = np.union1d(classes, _merge(classes))
        if larger.size == classes.size:
            return larger
        classes = larger


def _merge(classes: I64) -> I64:
    """Return int64 (n, n): what every two classes together lack, the cheapest way to share sets and pair."""
    lacking = _unpack(classes)
    a, b = lacking[:, None], lacking[None]
    best = np.full((classes.size, classes.size, 2, 5), _FAR)
    for m in range(5):
        for i in range(m + 1):
            best[..., 0, m] = np.minimum(best[..., 0, m], a[..., 0, i] + b[..., 0, m - i])
            for p in range(2):
                best[..., 1, m] = np.minimum(best[..., 1, m], a[..., p, i] + b[..., 1 - p, m - i])
    return _pack(best)


def _counts(num_kinds: int, ends: range | tuple[int, ...]) -> I32:
    """Return int32 (codes,): kinds, pairs, and those among the kinds ``ends``, packed."""
    counts = np.zeros(5**num_kinds, np.int32)
    for kind in range(num_kinds):
        number = np.arange(counts.size) // 5**kind % 5
        for least, shift, end_shift in ((1, 0, ENDS_SHIFT), (2, PAIRS_SHIFT, END_PAIRS_SHIFT)):
            counts[number >= least] += (1 << shift) + ((1 << end_shift) if kind in ends else 0)
    return counts


@jit
def _mark_contained(lacking: U8, num_kinds: int, has_runs: bool) -> None:
    """Set 0 where a code contains m sets (and a pair), a large number elsewhere."""
    for code in range(len(lacking)):
        lacking[code] = _FAR
        lacking[code, 0, 0] = 0
        rest = code
        power = 1
        for kind in range(num_kinds):
            count = rest % 5
            if count >= 3:
                _inherit(lacking, code, code - 3 * power)
            if has_runs and kind < 7 and count >= 1 and rest // 5 % 5 >= 1 and rest // 25 % 5 >= 1:
                _inherit(lacking, code, code - 31 * power)
            if count >= 2:
                for m in range(5):
                    if lacking[code - 2 * power, 0, m] == 0:
                        lacking[code, 1, m] = 0
            rest //= 5
            power *= 5


@jit
def _inherit(lacking: U8, code: int, smaller: int) -> None:
    """``code`` is ``smaller`` and one set more."""
    for p in range(2):
        for m in range(4):
            if lacking[smaller, p, m] == 0:
                lacking[code, p, m + 1] = 0


@jit
def _relax(lacking: U8, num_kinds: int) -> None:
    """Lower every entry to one more than that of the best code with one tile more."""
    for code in range(len(lacking) - 1, -1, -1):
        rest = code
        power = 1
        for _ in range(num_kinds):
            if rest % 5 < 4:
                for p in range(2):
                    for m in range(5):
                        via = lacking[code + power, p, m] + 1
                        if via < lacking[code, p, m]:
                            lacking[code, p, m] = via
            rest //= 5
            power *= 5


@jit
def suit_code(hand: I8, suit: int) -> int:
    """Return the row of the suit table for suit 0-2, or for the honours (3)."""
    code = 0
    last = 6 if suit == 3 else 8
    for i in range(last, -1, -1):
        code = code * 5 + hand[9 * suit + i]
    return code + (HONOUR_BASE if suit == 3 else 0)


@jit
def suit_rows(suits: Suits, hand: I8) -> tuple[int, int, int, int]:
    """Return the rows of the four suits of a hand: their classes and counts."""
    return (
        suits.rows[suit_code(hand, 0)],
        suits.rows[suit_code(hand, 1)],
        suits.rows[suit_code(hand, 2)],
        suits.rows[suit_code(hand, 3)],
    )


@jit
def merge_rows(suits: Suits, a: int, b: int) -> int:
    """Return the class of two suits together."""
    return suits.merged[a & CLASS_MASK, b & CLASS_MASK]


@jit
def standard_shanten(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the shanten to four sets and a pair (melds count as sets)."""
    return rows_shanten(suits, suit_rows(suits, hand), num_melds)


@jit
def rows_shanten(suits: Suits, rows: tuple[int, int, int, int], num_melds: int) -> int:
    """Return the shanten to four sets and a pair of a hand with these ``suit_rows``."""
    m, p, s, z = rows
    whole = suits.merged[merge_rows(suits, m, p), merge_rows(suits, s, z)]
    return suits.shanten[whole, num_melds]


@jit
def special_counts(rows: tuple[int, int, int, int]) -> int:
    """Return the kinds, pairs, ends and end pairs of a whole hand, packed as in a row."""
    m, p, s, z = rows
    return (m >> COUNTS_SHIFT) + (p >> COUNTS_SHIFT) + (s >> COUNTS_SHIFT) + (z >> COUNTS_SHIFT)


@jit
def thirteen_orphans_shanten(counts: int) -> int:
    """Return the shanten to one of each terminal and honour and one more of them."""
    return 13 - (counts >> ENDS_SHIFT & ENDS_MASK) - (counts >> END_PAIRS_SHIFT & END_PAIRS_MASK != 0)


@jit
def improving_of_suit(suits: Suits, hand: I8, suit: int, rest: int, num_melds: int, now: int) -> int:
    """Return the improving kinds of one suit; ``rest`` is the class of the three others together."""
    kinds = 0
    code = suit_code(hand, suit)
    power = 1
    for kind in range(9 * suit, 34 if suit == 3 else 9 * suit + 9):
        if hand[kind] < 4:
            whole = suits.merged[rest, suits.rows[code + power] & CLASS_MASK]
            kinds |= (suits.shanten[whole, num_melds] < now) << kind
        power *= 5
    return kinds


@jit
def count_kinds(kinds: int, unseen: I8) -> int:
    """Return how many unseen tiles a bit set of kinds stands for (ukeire); ``unseen`` is int8 (34,)."""
    total = 0
    for kind in range(34):
        if kinds >> kind & 1:
            total += unseen[kind]
    return total
