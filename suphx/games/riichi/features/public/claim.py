"""Planes of one possible claim or kan: the tile, and the hand that it leaves (paper, section 2.2)."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.engine.legal import chi_forbidden, is_closed, pon_forbidden
from suphx.games.riichi.features.layout.meld_masks import meld_masks
from suphx.games.riichi.features.layout.paper_layout import CLAIM, CLAIM_UKEIRE_BORDERS, NUM_CLAIM_SHANTEN
from suphx.games.riichi.features.layout.planes import (
    ALL_KINDS,
    CountMasks,
    count_bits,
    count_tiles,
    remove_tiles,
    set_bit,
    set_counts,
    set_kinds,
    set_plane,
)
from suphx.games.riichi.features.public.open_tiles import count_dora, dora_masks, melded_dora
from suphx.games.riichi.features.public.progress import NO_DISCARD, fill_progress
from suphx.games.riichi.features.public.situation import own_discards, yakuhai_kinds
from suphx.games.riichi.hand.suit_table import Suits
from suphx.games.riichi.table.action import ANKAN, CHI, CHI_RED, KAKAN, MINKAN, PASS, PON, PON_RED, TSUMO, chi_position
from suphx.games.riichi.table.red_five import is_red, num_red, red_kinds
from suphx.games.riichi.table.table import CHI_MELD, MINKAN_MELD, PON_MELD, Table
from suphx.games.riichi.table.tile import kind_of_face
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, U8

_CLAIMED = CLAIM["claimed"].first
_CLAIMED_RED = CLAIM["claimed_red"].first
_CLAIMED_FROM = CLAIM["claimed_from"].first
_CLAIM = CLAIM["claim"].first
_USES_RED = CLAIM["uses_red"].first
_HAND_AFTER = CLAIM["hand_after"].first
_MELD_AFTER = CLAIM["meld_after"].first
_CLOSED_AFTER = CLAIM["closed_after"].first
_FORBIDDEN_AFTER = CLAIM["forbidden_after"].first
_CLAIM_SHANTEN = CLAIM["claim_shanten"].first
_CLAIM_ADVANCES = CLAIM["claim_advances"].first
_CLAIM_DISCARD = CLAIM["claim_discard"].first
_CLAIM_UKEIRE = CLAIM["claim_ukeire"].first
_CLAIM_UKEIRE_KINDS = CLAIM["claim_ukeire_kinds"].first
_CLAIM_TENPAI = CLAIM["claim_tenpai"].first
_CLAIM_YAKUHAI = CLAIM["claim_yakuhai"].first
_CLAIM_DORA = CLAIM["claim_dora"].first

_PON, _MINKAN, _ANKAN, _KAKAN = 3, 4, 5, 6  # beside the three positions of a chi


@jit
def fill_claim(
    suits: Suits, t: Table, seat: int, action: int, hand: CountMasks, unseen: CountMasks, now: int, row: U8
) -> None:  # fmt: skip
    """Fill the planes that only claims have; ``now``: the shanten of ``hand`` without the claim."""
    kind = claimed_kind(t, action)
    form = _form(action)
    lowest = kind - form if form < _PON else kind
    left = np.empty(34, np.int8)
    left[:] = t.hand[seat]
    masks = _take_tiles(left, hand, kind, form)
    meld_type = CHI_MELD if form < _PON else PON_MELD if form == _PON else MINKAN_MELD
    set_bit(row, _CLAIMED, kind)
    set_plane(row, _CLAIM + form)
    set_counts(row, _HAND_AFTER, masks)
    set_counts(row, _MELD_AFTER, meld_masks(meld_type, lowest))
    if form == _ANKAN and is_closed(t, seat):
        set_plane(row, _CLOSED_AFTER)
    if form >= _PON and yakuhai_kinds(t, seat) >> kind & 1:
        set_plane(row, _CLAIM_YAKUHAI)
    _fill_red(t, seat, action, kind, row)
    _fill_dora(t, seat, action, kind, hand, row)
    forbidden = 0
    if form <= _PON:
        rules = t.rule_flags
        forbidden = int(chi_forbidden(kind, form, rules) if form < _PON else pon_forbidden(kind, rules))
    set_kinds(row, _FORBIDDEN_AFTER, forbidden)
    allowed = masks[0] & ~forbidden if form <= _PON else 0
    num_melds = int(t.num_melds[seat]) + int(form != _KAKAN)
    after = np.empty(NO_DISCARD + 1, np.int64)
    helps = np.empty(NO_DISCARD + 1, np.int64)
    least = fill_progress(suits, left, masks, num_melds, allowed, after, helps)
    set_plane(row, _CLAIM_SHANTEN + min(max(least, 0), NUM_CLAIM_SHANTEN - 1))
    if least < now:
        set_plane(row, _CLAIM_ADVANCES)
    _fill_discards(own_discards(t, seat), allowed, least, after, helps, unseen, row)


@jit
def claimed_kind(t: Table, action: int) -> int:
    """Return the kind that is claimed, or of which an own kan is made."""
    if ANKAN <= action < KAKAN:
        return action - ANKAN
    if KAKAN <= action < TSUMO:
        return action - KAKAN
    return int(kind_of_face(t.claimed_face))


@jit
def _form(action: int) -> int:
    """Return the place of the claim among the planes "claim"."""
    if CHI <= action < PASS:
        return chi_position(action)
    if action == MINKAN:
        return _MINKAN
    if action >= PON:
        return _PON
    return _ANKAN if action < KAKAN else _KAKAN


@jit
def _take_tiles(left: I8, hand: CountMasks, kind: int, form: int) -> CountMasks:
    """Take the tiles of the meld out of ``left``; return it as masks, ``hand`` being the masks before."""
    if form < _PON:
        for other in range(kind - form, kind - form + 3):
            if other != kind:
                left[other] -= 1
                hand = remove_tiles(hand, other, 1)
        return hand
    count = 2 if form == _PON else 3 if form == _MINKAN else 4 if form == _ANKAN else 1
    left[kind] -= count
    return remove_tiles(hand, kind, count)


@jit
def _fill_red(t: Table, seat: int, action: int, kind: int, row: U8) -> None:
    held = num_red(t.red[seat], kind) != 0
    is_own_kan = action < PON
    if held if is_own_kan else is_red(t.claimed_face):
        set_plane(row, _CLAIMED_RED)
    if action in (PON_RED, CHI_RED, CHI_RED + 1, CHI_RED + 2) or (held and (is_own_kan or action == MINKAN)):
        set_plane(row, _USES_RED)
    if not is_own_kan:
        set_plane(row, _CLAIMED_FROM + (int(t.turn) - seat) % 4 - 1)


@jit
def _fill_dora(t: Table, seat: int, action: int, kind: int, hand: CountMasks, row: U8) -> None:
    dora = dora_masks(t)
    total = count_dora(hand, dora) + count_bits(red_kinds(int(t.red[seat]))) + melded_dora(t, seat, dora)
    if action >= PON:
        total += count_dora((1 << kind, 0, 0, 0), dora) + int(is_red(t.claimed_face))
    for i in range(min(total, 3)):
        set_plane(row, _CLAIM_DORA + i)


@jit
def _fill_discards(
    river: int, allowed: int, least: int, after: I64, helps: I64, unseen: CountMasks, row: U8
) -> None:  # fmt: skip
    """Fill the planes of the discards after the claim that leave the ``least`` shanten; ``river``: the own discards."""
    best = kinds = 0
    is_tenpai = False
    for discard in range(NO_DISCARD + 1):
        own = int(discard < NO_DISCARD) << discard
        if after[discard] == least and own & allowed == own:
            columns = own if own else ALL_KINDS
            best |= columns
            kinds |= helps[discard]
            count = count_tiles(helps[discard], unseen)
            for n in range(len(CLAIM_UKEIRE_BORDERS)):
                if count >= CLAIM_UKEIRE_BORDERS[n]:
                    set_kinds(row, _CLAIM_UKEIRE + n, columns)
            is_tenpai |= least == 0 and helps[discard] != 0 and helps[discard] & (river | own) == 0
    set_kinds(row, _CLAIM_DISCARD, best)
    set_kinds(row, _CLAIM_UKEIRE_KINDS, kinds)
    if is_tenpai:
        set_plane(row, _CLAIM_TENPAI)
