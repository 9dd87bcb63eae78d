"""Which tiles the Fanfou agents would rather discard: four lists, made by 23 steps over the counts of each suit.

Tiles that touch nothing come first, then those that touch one side, then pairs and tiles near them, then tiles beside a
pair. The steps are data. A line, such as ``34567:1[2]1``, is a pattern and the ranks for which it is tried, in order.
The pattern has a sign for each of some neighbouring ranks: how many of its tiles the hand must have.

    0 to 4: so many    +: one or more    x: any number but one    y: any number but two

The tile in brackets has the rank that is tried, and is appended if all signs fit; with two patterns, once if those of
one fit. Each step goes through all suits, bamboo, characters, dots, before the next step begins. A tile can be
appended more than once. Source: the programs of Fanfou_ba and Fanfou_op (agents.py), which have the steps as code.
"""

from __future__ import annotations

import re

import numpy as np

from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

SUIT_STARTS = (18, 0, 9)
"""First kinds of bamboo, characters and dots: the order in which the agents go through a hand."""
KINDS_IN_ORDER = tuple(start + i for start in SUIT_STARTS for i in range(9))
NUM_LISTS = 4

STEPS = (
    # number of the list, and the lines of the step: ranks:pattern, or ranks:pattern|pattern
    (1, "1:[1]00  9:00[1]  2:0[1]00  8:00[1]0"),
    (1, "34567:00[1]00"),
    (2, "9:1+0[1]  9:10+[1]  1:[1]0+1  1:[1]+01  1:[1]11100  9:00111[1]  1:[1]01|[1]10  9:10[1]|01[1]"),
    (2, "2:1[2]10  8:01[2]1"),  # _PAIRS_STEP
    (2, "2:x[1]0+1|x[1]01+  8:1+0[1]x|+10[1]x"),
    (2, "345:00[1]0+1x|00[1]01+x  567:x1+0[1]00|x+10[1]00"),
    (2, "1:[1]20  1:[1]2111  1:[1]02  1:[1]102  9:02[1]  9:1112[1]  9:20[1]  9:201[1]"),
    (2, "2:1[2]10  8:01[2]1"),
    (2, "1:[1]3x  9:x3[1]  1:[1]x3  9:3x[1]  2:0[1]3  8:3[1]0"),
    (2, "345678:00[1]3  234567:3[1]00  234567:0[1]03  345678:30[1]0"),
    (2, "234:[1]0111x  876:x1110[1]"),
    (2, "5:00[1]0111|1110[1]00"),
    (2, "345:00[1]0+1|00[1]01+  567:1+0[1]00|+10[1]00"),
    (2, "2:0[1]01  8:10[1]0"),
    (2, "34567:y0[1]01  765:10[1]0y"),
    (3, "2:2[1]00  8:00[1]2  8:20[1]0  2:0[1]02"),
    (3, "34567:0[1]00|00[1]0"),
    (3, "3:0[1]02  7:20[1]0  4567:0[1]02|111[1]02  3456:20[1]0|20[1]111"),
    (3, "1:[2]110  9:011[2]"),
    (3, "8:011[2]x  34567:11[2]0x  34567:x0[2]11  34567:01[2]10"),
    (4, "2345678:1[2]1"),
    (4, "2:0[1]20  8:02[1]0"),
    (4, "34567:[1]20|02[1]"),
)
_PAIRS_STEP = 3
"""Place in STEPS of the step that only hands with more than one pair take."""
_ALLOWED = {**{str(count): (count,) for count in range(5)}, "+": (1, 2, 3, 4), "x": (0, 2, 3, 4), "y": (0, 1, 3, 4)}


def _compile_steps() -> tuple[I64, I64]:
    """Return what ``fill_list`` reads: patterns in order, int64 (n, 3), and where the patterns of each step begin.

    Of a pattern at a rank: the counts that it forbids (``_count_bits``), the rank, and a number that it shares with
    other patterns of the same line and rank.
    """
    patterns, starts = list[tuple[int, int, int]](), [0]
    num_tried = 0
    for _, lines in STEPS:
        for line in lines.split():
            ranks, texts = line.split(":")
            for rank in map(int, ranks):
                patterns += [(_forbidden_bits(text, rank), rank, num_tried) for text in texts.split("|")]
                num_tried += 1
        starts.append(len(patterns))
    return np.array(patterns), np.array(starts)


def _forbidden_bits(pattern: str, rank: int) -> int:
    """Return the bits of all counts that a hand must not have for its tile of ``rank`` to be appended."""
    signs = re.findall(r"[^][]", pattern)
    first = rank - pattern.index("[")
    allowed = ((first + i, _ALLOWED[sign]) for i, sign in enumerate(signs))
    return sum(1 << _bit(near, count) for near, counts in allowed for count in range(5) if count not in counts)


@jit
def _bit(rank: int, count: int) -> int:
    return 5 * (rank - 1) + count


_PATTERNS, _STEP_STARTS = _compile_steps()
_LIST_STARTS = tuple(sum(number < wanted for number, _ in STEPS) for wanted in range(1, NUM_LISTS + 2))
MAX_LENGTH = 3 * len(_PATTERNS)
"""No list is longer, nor are all four together."""


@jit
def fill_list(hand: I8, number: int, kinds: I8, length: int) -> int:
    """Append list ``number``, 1 to 4, of a ``hand``, int8 (34,), to the first ``length`` of ``kinds``, int8
    (MAX_LENGTH,), and return how many these are then."""
    bits = (_count_bits(hand, SUIT_STARTS[0]), _count_bits(hand, SUIT_STARTS[1]), _count_bits(hand, SUIT_STARTS[2]))
    for step in range(_LIST_STARTS[number - 1], _LIST_STARTS[number]):
        if step != _PAIRS_STEP or count_pairs(hand) > 1:
            for suit in range(3):
                length = _append(bits[suit], SUIT_STARTS[suit], step, kinds, length)
    return length


@jit
def _append(bits: int, suit_start: int, step: int, kinds: I8, length: int) -> int:
    last = -1
    for i in range(_STEP_STARTS[step], _STEP_STARTS[step + 1]):
        if bits & _PATTERNS[i, 0] == 0 and _PATTERNS[i, 2] != last:
            last = _PATTERNS[i, 2]
            kinds[length] = suit_start + _PATTERNS[i, 1] - 1
            length += 1
    return length


@jit
def _count_bits(hand: I8, suit_start: int) -> int:
    """Return 45 bits, five a rank, of which one is set: that of the count in the hand."""
    bits = 0
    for rank in range(1, 10):
        bits |= 1 << _bit(rank, int(hand[suit_start + rank - 1]))
    return bits


@jit
def fill_first_list(hand: I8, kinds: I8) -> int:
    """Write the first list that is not empty to ``kinds``, and return its length; 0 if all are empty."""
    for number in range(1, NUM_LISTS + 1):
        length = fill_list(hand, number, kinds, 0)
        if length > 0:
            return length
    return 0


@jit
def count_pairs(hand: I8) -> int:
    """Return how many kinds the hand holds exactly two of."""
    pairs = 0
    for kind in range(27):
        pairs += hand[kind] == 2
    return pairs
