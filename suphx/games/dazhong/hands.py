"""Which hands are complete or ready: four sets and a pair, or seven pairs, where four equal tiles are two pairs.

A hand is int8 (34,) counts of concealed tiles beside ``num_melds`` melds, with nothing in the seven honours.
"""

from __future__ import annotations

from suphx.games.mahjong.shanten import Suits, improving_of_suit, merge_rows, rows_shanten, standard_shanten, suit_rows
from suphx.kernel.jit import jit
from suphx.kernel.record import I8

NUM_SUITED = 27


@jit
def is_complete(suits: Suits, hand: I8, num_melds: int) -> bool:
    """Tell whether 14 tiles, melds counted as three, are a winning hand."""
    return standard_shanten(suits, hand, num_melds) == -1 or (num_melds == 0 and is_seven_pairs(hand))


@jit
def is_seven_pairs(hand: I8) -> bool:
    """Tell whether 14 concealed tiles are seven pairs."""
    return count_all_pairs(hand) == 7


@jit
def wait_kinds(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the bit set of kinds that complete 13 tiles, melds counted as three; 0 for a hand that is not ready.

    A kind of which the concealed hand has all four tiles is no wait.
    """
    return improving_kinds(suits, hand, num_melds, 0)


@jit
def improving_kinds(suits: Suits, hand: I8, num_melds: int, shanten: int) -> int:
    """Return the bit set of kinds that lower the ``shanten`` of 13 tiles, melds counted as three."""
    kinds = 0
    rows = suit_rows(suits, hand)
    if rows_shanten(suits, rows, num_melds) == shanten:
        m, p, s, _ = rows
        kinds |= improving_of_suit(suits, hand, 0, merge_rows(suits, p, s), num_melds, shanten)
        kinds |= improving_of_suit(suits, hand, 1, merge_rows(suits, m, s), num_melds, shanten)
        kinds |= improving_of_suit(suits, hand, 2, merge_rows(suits, m, p), num_melds, shanten)
    if num_melds == 0 and 6 - count_all_pairs(hand) == shanten:
        for kind in range(NUM_SUITED):  # a tile without its pair
            kinds |= (hand[kind] & 1) << kind
    return kinds


@jit
def is_ready(suits: Suits, hand: I8, num_melds: int) -> bool:
    """Tell whether 13 tiles, melds counted as three, lack one tile of a winning hand."""
    return wait_kinds(suits, hand, num_melds) != 0


@jit
def count_all_pairs(hand: I8) -> int:
    """Return the number of pairs; four equal tiles are two."""
    pairs = 0
    for kind in range(NUM_SUITED):
        pairs += hand[kind] >> 1
    return pairs
