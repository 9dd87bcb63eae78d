"""Which hands are complete or ready: four sets and a pair, or seven pairs, where four equal tiles are two pairs.

A hand is int8 (34,) counts of concealed tiles beside ``num_melds`` melds, with nothing in the seven honours.
"""

from __future__ import annotations

from suphx.games.dazhong.table import CHOW
from suphx.games.mahjong.claims import claimed_meld
from suphx.games.mahjong.shanten import (
    Suits,
    count_kinds,
    improving_of_suit,
    merge_rows,
    rows_shanten,
    standard_shanten,
    suit_rows,
)
from suphx.games.mahjong.tile import add_meld
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

NUM_SUITED = 27


@jit
def is_complete(suits: Suits, hand: I8, num_melds: int) -> bool:
    """Tell whether 14 tiles, melds counted as three, are a winning hand."""
    return hand_shanten(suits, hand, num_melds) == -1


@jit
def wait_kinds(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the bit set of kinds that complete 13 tiles, melds counted as three; 0 for a hand that is not ready.

    A kind of which the concealed hand has all four tiles is not a wait.
    """
    return improving_kinds(suits, hand, num_melds, 0)


@jit
def hand_shanten(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the shanten of the concealed tiles beside ``num_melds`` melds, seven pairs included."""
    now = standard_shanten(suits, hand, num_melds)
    return min(now, 6 - count_all_pairs(hand)) if num_melds == 0 else now


@jit
def claim_shanten(suits: Suits, hand: I8, num_melds: int, claimed: int, move: int) -> int:
    """Return the shanten after the claim of a discard and the best discard."""
    meld_type, lowest = claimed_meld(claimed, move, CHOW)
    hand[claimed] += 1
    add_meld(hand, meld_type, lowest, -1)
    after = standard_shanten(suits, hand, num_melds + 1)
    add_meld(hand, meld_type, lowest, 1)
    hand[claimed] -= 1
    return after


@jit
def weigh_discards(suits: Suits, hand: I8, num_melds: int, unseen: I8, ukeire: I64) -> int:
    """Return the shanten after the best discards of 14 tiles, melds counted as three.

    Fills ``ukeire``, int64 (27,): how many ``unseen`` tiles, int8 (34,), then lower it; -1 for other kinds.
    """
    best = 9
    for kind in range(NUM_SUITED):
        ukeire[kind] = -1
        if hand[kind] == 0:
            continue
        hand[kind] -= 1
        after = hand_shanten(suits, hand, num_melds)
        if after < best:
            best = after
            ukeire[:kind] = -1
        if after == best:
            ukeire[kind] = count_kinds(improving_kinds(suits, hand, num_melds, after), unseen)
        hand[kind] += 1
    return best


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
