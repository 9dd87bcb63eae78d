"""Shanten, waits and ukeire by table lookup: how far a hand is from winning and which tiles help.

A hand is int8 (34,) counts of concealed tiles beside ``num_melds`` melds. Shanten is the number of tiles missing for
a complete hand minus one: 0 = tenpai, -1 = complete. Seven pairs and thirteen orphans count for closed hands.
"""

from __future__ import annotations

from suphx.riichi.jit import jit
from suphx.riichi.record import I8, I64
from suphx.riichi.suit_table import HONOUR_BASE, POWERS_OF_5
from suphx.riichi.tile import TERMINALS_AND_HONOURS, is_simple

_HIGH = 0x8080808080
_ONES = 0x0101010101


@jit
def suit_code(hand: I8, suit: int) -> int:
    """Return the row of the suit table for suit 0-2, or for the honours (3)."""
    code = 0
    last = 6 if suit == 3 else 8
    for i in range(last, -1, -1):
        code = code * 5 + hand[9 * suit + i]
    return code + (HONOUR_BASE if suit == 3 else 0)


@jit
def _smaller_bytes(x: int, y: int) -> int:
    """Return the smaller one of each of the five bytes (all below 128)."""
    is_y = (((x | _HIGH) - y) & _HIGH) >> 7
    mask = is_y * 0xFF
    return (y & mask) | (x & ~mask)


@jit
def merge_sets(a: int, b: int) -> int:
    """Return byte m = min over i of a[i] + b[m - i]: the cheapest way to share m sets between two groups of suits."""
    best = b + (a & 0xFF) * _ONES
    for i in range(1, 5):
        shift = 8 * i
        # The bytes below m = i have no share of i sets in a: keep them large.
        shifted = ((b << shift) & 0xFFFFFFFFFF) + ((a >> shift) & 0xFF) * (_ONES << shift & 0xFFFFFFFFFF)
        shifted |= 0x7F7F7F7F7F >> (8 * (5 - i))
        best = _smaller_bytes(best, shifted)
    return best


@jit
def merge_pair(a: int, a_pair: int, b: int, b_pair: int) -> int:
    """Return the same with one pair in either group."""
    return _smaller_bytes(merge_sets(a, b_pair), merge_sets(a_pair, b))


@jit
def lacking_tiles(a: int, a_pair: int, b: int, b_pair: int, num_sets: int) -> int:
    """Return the tiles that two groups of suits lack together for ``num_sets`` sets and a pair."""
    best = 99
    for i in range(num_sets + 1):
        left = 8 * i
        right = 8 * (num_sets - i)
        best = min(best, (a >> left & 0xFF) + (b_pair >> right & 0xFF), (a_pair >> left & 0xFF) + (b >> right & 0xFF))
    return best


@jit
def standard_shanten(suits: I64, hand: I8, num_melds: int) -> int:
    """Return the shanten to four sets and a pair (melds count as sets)."""
    m, p, s, z = suit_code(hand, 0), suit_code(hand, 1), suit_code(hand, 2), suit_code(hand, 3)
    left = merge_sets(suits[m, 0], suits[p, 0])
    left_pair = merge_pair(suits[m, 0], suits[m, 1], suits[p, 0], suits[p, 1])
    right = merge_sets(suits[s, 0], suits[z, 0])
    right_pair = merge_pair(suits[s, 0], suits[s, 1], suits[z, 0], suits[z, 1])
    return lacking_tiles(left, left_pair, right, right_pair, 4 - num_melds) - 1


@jit
def seven_pairs_shanten(hand: I8) -> int:
    """Return the shanten to seven different pairs."""
    pairs = 0
    kinds = 0
    for kind in range(34):
        if hand[kind] > 0:
            kinds += 1
            if hand[kind] > 1:
                pairs += 1
    return 6 - pairs + max(0, 7 - kinds)


@jit
def thirteen_orphans_shanten(hand: I8) -> int:
    """Return the shanten to one of each terminal and honour and one more of them."""
    kinds = 0
    has_pair = 0
    for kind in TERMINALS_AND_HONOURS:
        if hand[kind] > 0:
            kinds += 1
            if hand[kind] > 1:
                has_pair = 1
    return 13 - kinds - has_pair


@jit
def shanten(suits: I64, hand: I8, num_melds: int) -> int:
    """Return the least shanten over all forms of a hand (of 13 or 14 tiles, melds counted as three)."""
    best = standard_shanten(suits, hand, num_melds)
    if num_melds == 0 and best > -1:
        best = min(best, seven_pairs_shanten(hand), thirteen_orphans_shanten(hand))
    return best


@jit
def _others(suits: I64, hand: I8, suit: int) -> tuple[int, int]:
    """Return the merged entries of the three other suits."""
    first = suit_code(hand, (suit + 1) % 4)
    second = suit_code(hand, (suit + 2) % 4)
    third = suit_code(hand, (suit + 3) % 4)
    two = merge_sets(suits[first, 0], suits[second, 0])
    two_pair = merge_pair(suits[first, 0], suits[first, 1], suits[second, 0], suits[second, 1])
    three = merge_sets(two, suits[third, 0])
    return three, merge_pair(two, two_pair, suits[third, 0], suits[third, 1])


@jit
def improving_kinds(suits: I64, hand: I8, num_melds: int, now: int) -> int:
    """Return the bit set of kinds that lower the shanten of a 13-tile hand from ``now`` (fifth tiles excluded)."""
    kinds = 0
    for suit in range(4):
        rest, rest_pair = _others(suits, hand, suit)
        code = suit_code(hand, suit)
        for i in range(7 if suit == 3 else 9):
            kind = 9 * suit + i
            if hand[kind] < 4:
                row = code + POWERS_OF_5[kind]
                if lacking_tiles(rest, rest_pair, suits[row, 0], suits[row, 1], 4 - num_melds) - 1 < now:
                    kinds |= 1 << kind
    if num_melds == 0:
        kinds |= _improving_special(hand, now)
    return kinds


@jit
def _improving_special(hand: I8, now: int) -> int:
    """Return the bit set of kinds that bring seven pairs or thirteen orphans below ``now``."""
    kinds = 0
    if seven_pairs_shanten(hand) <= now:
        num_kinds = 0
        for kind in range(34):
            num_kinds += hand[kind] > 0
        for kind in range(34):
            if hand[kind] == 1 or (hand[kind] == 0 and num_kinds < 7):
                kinds |= 1 << kind
    if thirteen_orphans_shanten(hand) <= now:
        has_pair = False
        for kind in TERMINALS_AND_HONOURS:
            has_pair |= hand[kind] > 1
        for kind in range(34):
            if not is_simple(kind) and (hand[kind] == 0 or (hand[kind] == 1 and not has_pair)):
                kinds |= 1 << kind
    return kinds


@jit
def waiting_kinds(suits: I64, hand: I8, num_melds: int) -> int:
    """Return the bit set of kinds that complete a 13-tile hand; 0 when it is not tenpai."""
    if shanten(suits, hand, num_melds) != 0:
        return 0
    return improving_kinds(suits, hand, num_melds, 0)


@jit
def count_kinds(kinds: int, unseen: I8) -> int:
    """Return how many unseen tiles a bit set of kinds stands for (ukeire); ``unseen`` is int8 (34,)."""
    total = 0
    for kind in range(34):
        if kinds >> kind & 1:
            total += unseen[kind]
    return total
