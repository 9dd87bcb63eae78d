"""A hand as the look-ahead sees it: what melds and winds give to every win, and the concealed tiles that may change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suphx.features.claim import claimed_kind
from suphx.features.planes import CountMasks
from suphx.riichi.action import CHI, CHI_RED, KAKAN, MINKAN, PASS, PON, PON_RED, TSUMO
from suphx.riichi.jit import jit
from suphx.riichi.legal import dealer_of
from suphx.riichi.record import I8
from suphx.riichi.table import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD, Table
from suphx.riichi.tile import dora_of_indicator, is_simple
from suphx.riichi.wall import DORA

NO_CLAIM = -1


class Holding(NamedTuple):
    """What stays as it is while tiles are replaced."""

    num_sets: int
    """Sets beside the melds: 4 - number of melds."""
    is_closed: int
    """No melds but closed kans."""
    runs: int
    """Bit set of the lowest kinds of the chi."""
    sets: int
    """Bit set of the kinds of pon and kan."""
    num_ankan: int
    num_kans: int
    fu: int
    """Of the melds."""
    dora: int
    """In the melds, red fives included."""
    seat_wind: int
    """A kind, 27-30."""
    round_wind: int
    open_tanyao: int
    is_dealer: int


class Concealed(NamedTuple):
    """The concealed tiles of a hand and what is known of each kind."""

    hand: I8
    """int8 (34,)"""
    red: int
    """Bits 0-2: the red 5m, 5p, 5s is among them."""
    dora: I8
    """int8 (34,): how many times a kind is dora."""
    unseen: I8
    """int8 (34,): tiles that the seat cannot see."""
    columns: I8
    """int8 (34,): the kinds of the hand, numbered from 0."""
    has_discard: int
    """3n + 2 tiles: one goes before the first draw."""


@jit
def hold(t: Table, seat: int, action: int) -> Holding:
    """Return what ``seat`` holds at ``t``, after the claim or kan ``action`` if it is not NO_CLAIM."""
    dealer = int(dealer_of(t))
    winds = 27 + (seat - dealer) % 4, 27 + int(t.kyoku) // 4
    holding = Holding(4, 1, 0, 0, 0, 0, 0, 0, winds[0], winds[1], int(t.open_tanyao), int(seat == dealer))
    added = int(claimed_kind(t, action)) if KAKAN <= action < TSUMO else -1
    for i in range(t.num_melds[seat]):
        meld_type, kind = int(t.meld_type[seat, i]), int(t.meld_kind[seat, i])
        red = int(t.meld_red[seat, i])
        if meld_type == PON_MELD and kind == added:
            meld_type = KAKAN_MELD
            red += _held_red(t, seat, kind)
        holding = _add_meld(t, holding, meld_type, kind, red)
    if action == NO_CLAIM or added >= 0:
        return holding
    kind = int(claimed_kind(t, action))
    if action < KAKAN:
        return _add_meld(t, holding, ANKAN_MELD, kind, _held_red(t, seat, kind))
    red = int(t.claimed_face >= 34)
    if action == MINKAN:
        return _add_meld(t, holding, MINKAN_MELD, kind, red + _held_red(t, seat, kind))
    red += int(action == PON_RED or action >= CHI_RED)
    if action >= CHI:
        return _add_meld(t, holding, CHI_MELD, kind - (action - CHI) % 3, red)
    return _add_meld(t, holding, PON_MELD, kind, red)


@jit
def _held_red(t: Table, seat: int, kind: int) -> int:
    """Return 1 when the red five of ``kind`` is in the hand."""
    if kind < 27 and kind % 9 == 4:
        return int(t.red[seat]) >> kind // 9 & 1
    return 0


@jit
def _add_meld(t: Table, holding: Holding, meld_type: int, kind: int, red: int) -> Holding:
    """Return the holding with one meld more."""
    fu = kans = ankan = runs = sets = 0
    if meld_type == CHI_MELD:
        runs = 1 << kind
    else:
        sets = 1 << kind
        ankan = int(meld_type == ANKAN_MELD)
        kans = int(meld_type != PON_MELD)
        fu = (2 if is_simple(kind) else 4) * (1 + ankan) * (4 if kans else 1)
    dora = red
    for i in range(t.num_dora):
        shown = int(dora_of_indicator(int(t.wall[DORA - 2 * i]) >> 2))
        if runs:
            dora += kind <= shown <= kind + 2
        elif shown == kind:
            dora += 3 + kans
    return Holding(
        holding.num_sets - 1, holding.is_closed & ankan, holding.runs | runs, holding.sets | sets,
        holding.num_ankan + ankan, holding.num_kans + kans, holding.fu + fu, holding.dora + dora,
        holding.seat_wind, holding.round_wind, holding.open_tanyao, holding.is_dealer,
    )  # fmt: skip


@jit
def conceal(t: Table, seat: int, action: int, unseen: CountMasks) -> Concealed:
    """Return the concealed tiles of ``seat`` at ``t``, after the claim or kan ``action`` if it is not NO_CLAIM."""
    tiles = np.zeros((4, 34), np.int8)
    hand, dora, hidden, columns = tiles[0], tiles[1], tiles[2], tiles[3]
    hand[:] = t.hand[seat]
    red = int(t.red[seat])
    if action != NO_CLAIM:
        red = _take(t, action, hand, red)
    for i in range(t.num_dora):
        dora[dora_of_indicator(int(t.wall[DORA - 2 * i]) >> 2)] += 1
    column = num_tiles = 0
    for kind in range(34):
        for mask in unseen:
            hidden[kind] += mask >> kind & 1
        columns[kind] = column
        column += hand[kind] > 0
        num_tiles += hand[kind]
    return Concealed(hand, red, dora, hidden, columns, int(num_tiles % 3 == 2))


@jit
def _take(t: Table, action: int, hand: I8, red: int) -> int:
    """Take the tiles of a claim or kan out of ``hand``; return the red fives that are left."""
    kind = int(claimed_kind(t, action))
    suit_bit = 1 << kind // 9 if kind < 27 else 0
    if CHI <= action < PASS:
        lowest = kind - (action - CHI) % 3
        for other in range(lowest, lowest + 3):
            if other != kind:
                hand[other] -= 1
        return red & ~suit_bit if action >= CHI_RED else red
    hand[kind] -= 1 if KAKAN <= action < TSUMO else 2 if action in (PON, PON_RED) else 3 if action == MINKAN else 4
    if kind < 27 and kind % 9 == 4 and action != PON:
        return red & ~suit_bit
    return red
