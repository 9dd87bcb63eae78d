"""Shanten, waits and ukeire by table lookup: how far a hand is from winning and which tiles help.

A hand is int8 (34,) counts of concealed tiles beside ``num_melds`` melds. Shanten is the number of tiles missing for
a complete hand minus one: 0 = tenpai, -1 = complete. Seven pairs and thirteen orphans count for closed hands.
Each suit's code has a class, classes merge (suit_table.py): no search, seven lookups a hand.
"""

from __future__ import annotations

from suphx.games.riichi.hand.suit_table import (
    CLASS_MASK,
    COUNTS_SHIFT,
    END_PAIRS_MASK,
    END_PAIRS_SHIFT,
    ENDS_MASK,
    ENDS_SHIFT,
    HONOUR_BASE,
    KINDS_MASK,
    PAIRS_MASK,
    PAIRS_SHIFT,
    Suits,
)
from suphx.games.riichi.table.tile import TERMINALS_AND_HONOURS
from suphx.kernel.jit import jit
from suphx.kernel.record import I8


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
    m, p, s, z = suit_rows(suits, hand)
    whole = suits.merged[merge_rows(suits, m, p), merge_rows(suits, s, z)]
    return suits.shanten[whole, num_melds]


@jit
def special_counts(rows: tuple[int, int, int, int]) -> int:
    """Return the kinds, pairs, ends and end pairs of a whole hand, packed as in a row."""
    m, p, s, z = rows
    return (m >> COUNTS_SHIFT) + (p >> COUNTS_SHIFT) + (s >> COUNTS_SHIFT) + (z >> COUNTS_SHIFT)


@jit
def seven_pairs_shanten(counts: int) -> int:
    """Return the shanten to seven different pairs; ``counts``: see ``special_counts``."""
    return 6 - (counts >> PAIRS_SHIFT & PAIRS_MASK) + max(0, 7 - (counts & KINDS_MASK))


@jit
def thirteen_orphans_shanten(counts: int) -> int:
    """Return the shanten to one of each terminal and honour and one more of them."""
    return 13 - (counts >> ENDS_SHIFT & ENDS_MASK) - (counts >> END_PAIRS_SHIFT & END_PAIRS_MASK != 0)


@jit
def shanten(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the least shanten over all forms of a hand (of 13 or 14 tiles, melds counted as three)."""
    rows = suit_rows(suits, hand)
    m, p, s, z = rows
    whole = suits.merged[merge_rows(suits, m, p), merge_rows(suits, s, z)]
    best = suits.shanten[whole, num_melds]
    if num_melds == 0:
        counts = special_counts(rows)
        return min(best, seven_pairs_shanten(counts), thirteen_orphans_shanten(counts))
    return best


@jit
def improving_kinds(suits: Suits, hand: I8, num_melds: int, now: int) -> int:
    """Return the bit set of kinds that lower the shanten of a 13-tile hand from ``now`` (fifth tiles excluded)."""
    rows = suit_rows(suits, hand)
    m, p, s, z = rows
    left = merge_rows(suits, m, p)
    right = merge_rows(suits, s, z)
    kinds = _improving_of_suit(suits, hand, 0, suits.merged[right, p & CLASS_MASK], num_melds, now)
    kinds |= _improving_of_suit(suits, hand, 1, suits.merged[right, m & CLASS_MASK], num_melds, now)
    kinds |= _improving_of_suit(suits, hand, 2, suits.merged[left, z & CLASS_MASK], num_melds, now)
    kinds |= _improving_of_suit(suits, hand, 3, suits.merged[left, s & CLASS_MASK], num_melds, now)
    if num_melds == 0:
        kinds |= _improving_special(hand, special_counts(rows), now)
    return kinds


@jit
def _improving_of_suit(suits: Suits, hand: I8, suit: int, rest: int, num_melds: int, now: int) -> int:
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
def _improving_special(hand: I8, counts: int, now: int) -> int:
    """Return the bit set of kinds that bring seven pairs or thirteen orphans below ``now``."""
    kinds = 0
    if seven_pairs_shanten(counts) <= now:
        for kind in range(34):
            if hand[kind] == 1 or (hand[kind] == 0 and counts & KINDS_MASK < 7):
                kinds |= 1 << kind
    if thirteen_orphans_shanten(counts) <= now:
        has_pair = counts >> END_PAIRS_SHIFT & END_PAIRS_MASK != 0
        for kind in TERMINALS_AND_HONOURS:
            if hand[kind] == 0 or (hand[kind] == 1 and not has_pair):
                kinds |= 1 << kind
    return kinds


@jit
def waiting_kinds(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the bit set of kinds that complete a 13-tile hand; 0 when it is not tenpai."""
    if shanten(suits, hand, num_melds) != 0:
        return 0
    return improving_kinds(suits, hand, num_melds, 0)


@jit
def tenpai_discards(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the bit set of kinds whose discard leaves a 14-tile hand tenpai."""
    kinds = 0
    for kind in range(34):
        if hand[kind] > 0:
            hand[kind] -= 1
            if shanten(suits, hand, num_melds) == 0:
                kinds |= 1 << kind
            hand[kind] += 1
    return kinds


@jit
def count_kinds(kinds: int, unseen: I8) -> int:
    """Return how many unseen tiles a bit set of kinds stands for (ukeire); ``unseen`` is int8 (34,)."""
    total = 0
    for kind in range(34):
        if kinds >> kind & 1:
            total += unseen[kind]
    return total
