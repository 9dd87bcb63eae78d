"""Shanten and helping tiles after every discard of a hand, all at once; results are those of hand/shanten.py.

A hand has up to 14 discards and 34 draws after each. What suits lack together is merged once a hand or once a discard,
so that every pair of discard and draw costs two lookups.
"""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.features.layout.planes import ALL_KINDS, CountMasks, remove_tiles
from suphx.games.riichi.hand.shanten import seven_pairs_shanten, suit_code, thirteen_orphans_shanten
from suphx.games.riichi.hand.suit_table import (
    CLASS_MASK,
    COUNTS_SHIFT,
    END_PAIRS_MASK,
    END_PAIRS_SHIFT,
    KINDS_MASK,
    POWERS_OF_5,
    Suits,
)
from suphx.games.riichi.table.tile import TERMINAL_AND_HONOUR_BITS
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

NO_DISCARD = 34
"""Index of the hand as it is: of 13 tiles (melds counted as three), nothing to discard."""

FAR = 99


@jit
def fill_progress(
    suits: Suits, hand: I8, masks: CountMasks, num_melds: int, allowed: int, after: I64, helps: I64
) -> int:  # fmt: skip
    """Fill what every discard leaves; return the least shanten that an allowed discard leaves.

    ``hand``: int8 (34,), 13 or 14 tiles beside the melds, and the same as ``masks``. ``allowed``: bit set of kinds that
    may be discarded; 0 for 13 tiles. ``after``: int64 (35,): shanten after discarding the kind, FAR for kinds not held;
    index NO_DISCARD for 13 tiles. ``helps``: int64 (35,): the kinds that lower it, for allowed discards that leave the
    least; 0 elsewhere.
    """
    codes = np.empty(4, np.int64)
    classes = np.empty(4, np.int64)
    counts = 0
    for suit in range(4):
        codes[suit] = suit_code(hand, suit)
        row = suits.rows[codes[suit]]
        classes[suit] = row & CLASS_MASK
        counts += row >> COUNTS_SHIFT
    twos = np.empty((4, 4), np.int64)
    _merge_twos(suits, classes, twos)
    after[:] = FAR
    helps[:] = 0
    if allowed == 0:
        whole = suits.merged[suits.merged[twos[0, 1], classes[0]], classes[1]]
        least = _least_form(suits.shanten[whole, num_melds], counts, num_melds)
        after[NO_DISCARD] = least
    else:
        least = _fill_after(suits, hand, num_melds, allowed, codes, classes, counts, twos, after)
    drawn = np.empty((4, 9, 2), np.int64)
    num_drawn = np.zeros(4, np.int64)
    _group_draws(suits, hand, codes, drawn, num_drawn)
    for discard in range(NO_DISCARD + 1):
        if after[discard] == least and (discard == NO_DISCARD or allowed >> discard & 1):
            kinds = 0
            if num_melds == 0:
                left = masks if discard == NO_DISCARD else remove_tiles(masks, discard, 1)
                kinds = _special_helps(left, _counts_after(suits, codes, counts, discard), least)
            own = discard // 9 if discard < NO_DISCARD else 4
            if own < 4:
                kinds |= _own_suit_helps(suits, hand, discard, num_melds, least, codes, classes, twos)
            for suit in range(4):
                if suit != own:
                    rest = _rest_class(suits, suit, discard, codes, classes, twos)
                    kinds |= _suit_helps(suits, rest, num_melds, least, drawn[suit], num_drawn[suit])
            helps[discard] = kinds
    return least


@jit
def _group_draws(suits: Suits, hand: I8, codes: I64, drawn: I64, num_drawn: I64) -> None:
    """Fill drawn[suit] with the classes that drawing a tile makes of a suit, and the kinds that make each of them."""
    for kind in range(34):
        if hand[kind] < 4:
            suit = kind // 9
            group = suits.rows[codes[suit] + POWERS_OF_5[kind]] & CLASS_MASK
            n = num_drawn[suit]
            i = 0
            while i < n and drawn[suit, i, 0] != group:
                i += 1
            if i == n:
                drawn[suit, n, 0] = group
                drawn[suit, n, 1] = 0
                num_drawn[suit] = n + 1
            drawn[suit, i, 1] |= 1 << kind


@jit
def _merge_twos(suits: Suits, classes: I64, twos: I64) -> None:
    """Fill twos[a, b] with the class of the two suits that are neither a nor b together."""
    for a in range(4):
        for b in range(a + 1, 4):
            c = 0 if a > 0 else 1 if b > 1 else 2
            d = 6 - a - b - c
            twos[a, b] = twos[b, a] = suits.merged[classes[c], classes[d]]


@jit
def _fill_after(
    suits: Suits, hand: I8, num_melds: int, allowed: int, codes: I64, classes: I64, counts: int, twos: I64, after: I64
) -> int:  # fmt: skip
    """Fill the shanten after every discard; return the least of the allowed ones."""
    least = FAR
    for kind in range(34):
        if hand[kind] > 0:
            suit = kind // 9
            other = (suit + 1) % 4
            rest = suits.merged[twos[suit, other], classes[other]]
            row = suits.rows[codes[suit] - POWERS_OF_5[kind]]
            standard = suits.shanten[suits.merged[rest, row & CLASS_MASK], num_melds]
            after[kind] = _least_form(standard, _counts_after(suits, codes, counts, kind), num_melds)
            if allowed >> kind & 1:
                least = min(least, after[kind])
    return least


@jit
def _counts_after(suits: Suits, codes: I64, counts: int, discard: int) -> int:
    """Return the packed ``counts`` of kinds and pairs of a hand (suit_table.py) after a discard."""
    if discard == NO_DISCARD:
        return counts
    code = codes[discard // 9]
    before, now = suits.rows[code], suits.rows[code - POWERS_OF_5[discard]]
    return counts - (before >> COUNTS_SHIFT) + (now >> COUNTS_SHIFT)


@jit
def _least_form(standard: int, counts: int, num_melds: int) -> int:
    """Return the least shanten of all forms, the special ones only without melds; ``standard``: to sets and a pair."""
    if num_melds > 0:
        return standard
    return min(standard, seven_pairs_shanten(counts), thirteen_orphans_shanten(counts))


@jit
def _rest_class(suits: Suits, suit: int, discard: int, codes: I64, classes: I64, twos: I64) -> int:
    """Return the class of the three suits beside ``suit`` together, ``discard`` taken out of one of them."""
    if discard == NO_DISCARD:
        other = (suit + 1) % 4
        return suits.merged[twos[suit, other], classes[other]]
    own = discard // 9
    row = suits.rows[codes[own] - POWERS_OF_5[discard]]
    return suits.merged[twos[suit, own], row & CLASS_MASK]


@jit
def _suit_helps(suits: Suits, rest: int, num_melds: int, now: int, drawn: I64, num_drawn: int) -> int:
    """Return the kinds of a suit that bring a hand below the shanten ``now``; ``rest``: the class of the others."""
    kinds = 0
    for i in range(num_drawn):
        if suits.shanten[suits.merged[rest, drawn[i, 0]], num_melds] < now:
            kinds |= drawn[i, 1]
    return kinds


@jit
def _own_suit_helps(
    suits: Suits, hand: I8, discard: int, num_melds: int, now: int, codes: I64, classes: I64, twos: I64
) -> int:  # fmt: skip
    """Return the kinds of the suit of ``discard`` that bring the hand without it below the shanten ``now``."""
    suit = discard // 9
    rest = _rest_class(suits, suit, NO_DISCARD, codes, classes, twos)
    code = codes[suit] - POWERS_OF_5[discard]
    kinds = 0
    for kind in range(9 * suit, 34 if suit == 3 else 9 * suit + 9):
        if hand[kind] - (kind == discard) < 4:
            group = suits.rows[code + POWERS_OF_5[kind]] & CLASS_MASK
            if suits.shanten[suits.merged[rest, group], num_melds] < now:
                kinds |= 1 << kind
    return kinds


@jit
def _special_helps(masks: CountMasks, counts: int, now: int) -> int:
    """Return the kinds that bring seven pairs or thirteen orphans below ``now``; ``counts``: of the same hand."""
    kinds = 0
    if seven_pairs_shanten(counts) <= now:
        kinds |= masks[0] & ~masks[1]
        if counts & KINDS_MASK < 7:
            kinds |= ALL_KINDS & ~masks[0]
    if thirteen_orphans_shanten(counts) <= now:
        kinds |= TERMINAL_AND_HONOUR_BITS & ~masks[0]
        if counts >> END_PAIRS_SHIFT & END_PAIRS_MASK == 0:
            kinds |= TERMINAL_AND_HONOUR_BITS & masks[0]
    return kinds
