"""Planes of the own hand: shanten and helping tiles after every discard, and what one possible claim leaves of it.

A hand has up to 14 discards and 34 draws after each. What suits lack together is merged once a hand or once a discard,
so that every pair of discard and draw costs two lookups; results are those of riichi/shanten.py.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong import planes, shanten
from suphx.games.mahjong.planes import CountMasks
from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD
from suphx.games.riichi.features.paper_layout import CLAIM, CLAIM_UKEIRE_BORDERS, NUM_CLAIM_SHANTEN
from suphx.games.riichi.features.public import count_dora, dora_masks, melded_dora, own_discards, yakuhai_kinds
from suphx.games.riichi.legal import chi_forbidden, is_closed, pon_forbidden
from suphx.games.riichi.shanten import improving_special, seven_pairs_shanten
from suphx.games.riichi.table import PON, Table, claimed_kind, new_meld, take_used, uses_red
from suphx.games.riichi.tile import is_red, num_red, red_kinds
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, U8

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
        codes[suit] = shanten.suit_code(hand, suit)
        row = suits.rows[codes[suit]]
        classes[suit] = row & shanten.CLASS_MASK
        counts += row >> shanten.COUNTS_SHIFT
    twos = np.empty((4, 4), np.int64)
    for a in range(4):  # twos[a, b]: the class of the two suits that are neither a nor b
        for b in range(a + 1, 4):
            c = 0 if a > 0 else 1 if b > 1 else 2
            d = 6 - a - b - c
            twos[a, b] = twos[b, a] = suits.merged[classes[c], classes[d]]
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
                left = masks if discard == NO_DISCARD else planes.remove_tiles(masks, discard, 1)
                kinds = improving_special(left, _counts_after(suits, codes, counts, discard), least)
            own = discard // 9 if discard < NO_DISCARD else 4
            if own < 4:
                kinds |= _own_suit_helps(suits, hand, discard, num_melds, least, codes, classes, twos)
            for suit in range(4):
                if suit != own:
                    rest = _rest_class(suits, suit, discard, codes, classes, twos)
                    for i in range(num_drawn[suit]):
                        if suits.shanten[suits.merged[rest, drawn[suit, i, 0]], num_melds] < least:
                            kinds |= drawn[suit, i, 1]
            helps[discard] = kinds
    return least


@jit
def _group_draws(suits: Suits, hand: I8, codes: I64, drawn: I64, num_drawn: I64) -> None:
    """Fill drawn[suit] with the classes that drawing a tile makes of a suit, and the kinds that make each of them."""
    for kind in range(34):
        if hand[kind] < 4:
            suit = kind // 9
            group = suits.rows[codes[suit] + shanten.POWERS_OF_5[kind]] & shanten.CLASS_MASK
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
            row = suits.rows[codes[suit] - shanten.POWERS_OF_5[kind]]
            standard = suits.shanten[suits.merged[rest, row & shanten.CLASS_MASK], num_melds]
            after[kind] = _least_form(standard, _counts_after(suits, codes, counts, kind), num_melds)
            if allowed >> kind & 1:
                least = min(least, after[kind])
    return least


@jit
def _counts_after(suits: Suits, codes: I64, counts: int, discard: int) -> int:
    """Return the packed ``counts`` of kinds and pairs of a hand (shanten.py) after a discard."""
    if discard == NO_DISCARD:
        return counts
    code = codes[discard // 9]
    before, now = suits.rows[code], suits.rows[code - shanten.POWERS_OF_5[discard]]
    return counts - (before >> shanten.COUNTS_SHIFT) + (now >> shanten.COUNTS_SHIFT)


@jit
def _least_form(standard: int, counts: int, num_melds: int) -> int:
    """Return the least shanten of all forms, the special ones only without melds; ``standard``: to sets and a pair."""
    if num_melds > 0:
        return standard
    return min(standard, seven_pairs_shanten(counts), shanten.thirteen_orphans_shanten(counts))


@jit
def _rest_class(suits: Suits, suit: int, discard: int, codes: I64, classes: I64, twos: I64) -> int:
    """Return the class of the three suits beside ``suit`` together, ``discard`` taken out of one of them."""
    if discard == NO_DISCARD:
        other = (suit + 1) % 4
        return suits.merged[twos[suit, other], classes[other]]
    own = discard // 9
    row = suits.rows[codes[own] - shanten.POWERS_OF_5[discard]]
    return suits.merged[twos[suit, own], row & shanten.CLASS_MASK]


@jit
def _own_suit_helps(
    suits: Suits, hand: I8, discard: int, num_melds: int, now: int, codes: I64, classes: I64, twos: I64
) -> int:  # fmt: skip
    """Return the kinds of the suit of ``discard`` that bring the hand without it below the shanten ``now``."""
    suit = discard // 9
    rest = _rest_class(suits, suit, NO_DISCARD, codes, classes, twos)
    code = codes[suit] - shanten.POWERS_OF_5[discard]
    kinds = 0
    for kind in range(9 * suit, 34 if suit == 3 else 9 * suit + 9):
        if hand[kind] - (kind == discard) < 4:
            group = suits.rows[code + shanten.POWERS_OF_5[kind]] & shanten.CLASS_MASK
            if suits.shanten[suits.merged[rest, group], num_melds] < now:
                kinds |= 1 << kind
    return kinds


@jit
def fill_best_discards(
    river: int, allowed: int, least: int, after: I64, helps: I64, unseen: CountMasks,
    borders: tuple[int, ...], row: U8, ukeire: int,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Fill the planes from ``ukeire`` on, one for each of ``borders``, for the discards that leave the least shanten.

    ``river``: the own discards; the others as in ``fill_progress``. Returns bit sets: these discards, or all kinds for
    13 tiles; the kinds that lower the shanten after any of them; those that leave tenpai without furiten; those that
    leave it with furiten. The last two are 0 unless ``least`` is.
    """
    best = kinds = waiting = furiten = 0
    for discard in range(NO_DISCARD + 1):
        own = int(discard < NO_DISCARD) << discard
        if after[discard] == least and own & allowed == own:
            columns = own if own else planes.ALL_KINDS
            best |= columns
            kinds |= helps[discard]
            count = planes.count_tiles(helps[discard], unseen)
            for n in range(len(borders)):
                if count >= borders[n]:
                    planes.set_kinds(row, ukeire + n, columns)
            if least == 0 and helps[discard] & (river | own):
                furiten |= columns
            elif least == 0 and helps[discard]:
                waiting |= columns
    return best, kinds, waiting, furiten


_AT = CLAIM.first_planes()

_CLAIM_FORMS = (0, 0, 3, 5, 4, 6)
"""By type of the meld: its place among the planes "claim", of which a chi has three."""


@jit
def fill_claim(
    suits: Suits, t: Table, seat: int, action: int, hand: CountMasks, unseen: CountMasks, now: int, row: U8
) -> None:  # fmt: skip
    """Fill the planes that only claims have; ``now``: the shanten of ``hand`` without the claim."""
    kind = claimed_kind(t, action)
    meld_type, lowest = new_meld(t, action)
    is_kan = meld_type >= ANKAN_MELD
    left = np.empty(34, np.int8)
    left[:] = t.hand[seat]
    take_used(left, meld_type, lowest, kind)
    masks = planes.count_masks(left)
    planes.set_bit(row, _AT.claimed, kind)
    planes.set_plane(row, _AT.claim + _CLAIM_FORMS[meld_type] + kind - lowest)
    planes.set_counts(row, _AT.hand_after, masks)
    planes.set_counts(row, _AT.meld_after, planes.meld_masks(meld_type, lowest))
    if meld_type == ANKAN_MELD and is_closed(t, seat):
        planes.set_plane(row, _AT.closed_after)
    if meld_type != CHI_MELD and yakuhai_kinds(t, seat) >> kind & 1:
        planes.set_plane(row, _AT.claim_yakuhai)
    if is_red(t.claimed_face) if action >= PON else num_red(t.red[seat], kind) != 0:
        planes.set_plane(row, _AT.claimed_red)
    if uses_red(t, seat, action):
        planes.set_plane(row, _AT.uses_red)
    dora = dora_masks(t)
    num_dora = count_dora(hand, dora) + planes.count_bits(red_kinds(int(t.red[seat]))) + melded_dora(t, seat, dora)
    if action >= PON:
        planes.set_plane(row, _AT.claimed_from + (int(t.turn) - seat) % 4 - 1)
        num_dora += count_dora((1 << kind, 0, 0, 0), dora) + int(is_red(t.claimed_face))
    for i in range(min(num_dora, 3)):
        planes.set_plane(row, _AT.claim_dora + i)
    forbidden = 0
    if meld_type == CHI_MELD:
        forbidden = int(chi_forbidden(kind, kind - lowest, t.rule_flags))
    elif not is_kan:
        forbidden = int(pon_forbidden(kind, t.rule_flags))
    planes.set_kinds(row, _AT.forbidden_after, forbidden)
    allowed = 0 if is_kan else masks[0] & ~forbidden
    num_melds = int(t.num_melds[seat]) + int(meld_type != KAKAN_MELD)
    after = np.empty(NO_DISCARD + 1, np.int64)
    helps = np.empty(NO_DISCARD + 1, np.int64)
    least = fill_progress(suits, left, masks, num_melds, allowed, after, helps)
    planes.set_plane(row, _AT.claim_shanten + min(max(least, 0), NUM_CLAIM_SHANTEN - 1))
    if least < now:
        planes.set_plane(row, _AT.claim_advances)
    best, kinds, waiting, _ = fill_best_discards(
        own_discards(t, seat), allowed, least, after, helps, unseen, CLAIM_UKEIRE_BORDERS, row, _AT.claim_ukeire
    )
    planes.set_kinds(row, _AT.claim_discard, best)
    planes.set_kinds(row, _AT.claim_ukeire_kinds, kinds)
    if waiting:
        planes.set_plane(row, _AT.claim_tenpai)
