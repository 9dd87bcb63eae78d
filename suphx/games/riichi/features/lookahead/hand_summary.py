"""A hand as the look-ahead sees it: the concealed tiles that may change, and what melds and winds give to every win."""

from __future__ import annotations

from suphx.games.riichi.engine.legal import dealer_of
from suphx.games.riichi.features.layout.planes import CountMasks
from suphx.games.riichi.features.public.claim import claimed_kind
from suphx.games.riichi.table.action import CHI, CHI_RED, KAKAN, MINKAN, PASS, PON, PON_RED, TSUMO, lowest_of_chi
from suphx.games.riichi.table.red_five import is_red, num_red
from suphx.games.riichi.table.rule_flag import OPEN_TANYAO
from suphx.games.riichi.table.table import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD, Table
from suphx.games.riichi.table.tile import is_simple
from suphx.games.riichi.table.wall import dora_kind
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, field

NO_CLAIM = -1


class HandSummary:
    """What a seat holds and knows, as one part of a record (win_search.py)."""

    # concealed, by kind
    hand: I8 = field("i1", 34)
    dora: I8 = field("i1", 34)  # how many times a kind is dora
    unseen: I8 = field("i1", 34)  # tiles that the seat cannot see
    columns: I8 = field("i1", 34)  # the kinds of the hand, numbered from 0
    red: int = field("i8")  # bits 0-2: the red 5m, 5p, 5s is concealed
    has_discard: int = field("i8")  # 3n + 2 tiles: one goes before the first draw

    # melds
    num_sets: int = field("i8")  # sets beside the melds: 4 - number of melds
    is_closed: int = field("i8")  # no melds but closed kans
    meld_runs: int = field("i8")  # bit set of the lowest kinds of the chi
    meld_sets: int = field("i8")  # bit set of the kinds of pon and kan
    num_ankan: int = field("i8")
    num_kans: int = field("i8")
    meld_fu: int = field("i8")
    meld_dora: int = field("i8")  # red fives included

    seat_wind: int = field("i8")  # a kind, 27-30
    round_wind: int = field("i8")
    open_tanyao: int = field("i8")
    is_dealer: int = field("i8")


@jit
def fill_hand_summary(t: Table, seat: int, action: int, unseen: CountMasks, summary: HandSummary) -> None:
    """Fill what ``seat`` holds at ``t``, after the claim or kan ``action`` if it is not NO_CLAIM."""
    dealer = int(dealer_of(t))
    summary.seat_wind = 27 + (seat - dealer) % 4
    summary.round_wind = 27 + int(t.kyoku) // 4
    summary.open_tanyao = t.rule_flags & OPEN_TANYAO != 0
    summary.is_dealer = seat == dealer
    _fill_dora(t, summary)
    _fill_melds(t, seat, action, summary)
    summary.hand[:] = t.hand[seat]
    summary.red = t.red[seat]
    if action != NO_CLAIM:
        _take(t, action, summary)
    column = num_tiles = 0
    for kind in range(34):
        summary.unseen[kind] = (
            (unseen[0] >> kind & 1) + (unseen[1] >> kind & 1) + (unseen[2] >> kind & 1) + (unseen[3] >> kind & 1)
        )
        summary.columns[kind] = column
        column += summary.hand[kind] > 0
        num_tiles += summary.hand[kind]
    summary.has_discard = num_tiles % 3 == 2


@jit
def _fill_dora(t: Table, summary: HandSummary) -> None:
    summary.dora[:] = 0
    for i in range(t.num_dora):
        summary.dora[dora_kind(t.wall, i)] += 1


@jit
def _fill_melds(t: Table, seat: int, action: int, summary: HandSummary) -> None:
    """Fill what the melds give, the new one included."""
    summary.num_sets, summary.is_closed = 4, 1
    summary.meld_runs = summary.meld_sets = summary.num_ankan = summary.num_kans = 0
    summary.meld_fu = summary.meld_dora = 0
    added = int(claimed_kind(t, action)) if KAKAN <= action < TSUMO else -1
    for i in range(t.num_melds[seat]):
        meld_type, kind, red = int(t.meld_type[seat, i]), int(t.meld_kind[seat, i]), int(t.meld_red[seat, i])
        if meld_type == PON_MELD and kind == added:
            meld_type = KAKAN_MELD
            red += num_red(int(t.red[seat]), kind)
        _add_meld(summary, meld_type, kind, red)
    if action == NO_CLAIM or added >= 0:
        return
    kind = int(claimed_kind(t, action))
    claimed_red = int(is_red(t.claimed_face))
    if action < KAKAN:
        _add_meld(summary, ANKAN_MELD, kind, num_red(int(t.red[seat]), kind))
    elif action == MINKAN:
        _add_meld(summary, MINKAN_MELD, kind, claimed_red + num_red(int(t.red[seat]), kind))
    elif action < MINKAN:
        _add_meld(summary, PON_MELD, kind, claimed_red + int(action == PON_RED))
    else:
        _add_meld(summary, CHI_MELD, lowest_of_chi(kind, action), claimed_red + int(action >= CHI_RED))


@jit
def _add_meld(summary: HandSummary, meld_type: int, kind: int, red: int) -> None:
    """Add what one meld gives."""
    summary.num_sets -= 1
    summary.meld_dora += red
    if meld_type == CHI_MELD:
        summary.is_closed = 0
        summary.meld_runs |= 1 << kind
        summary.meld_dora += summary.dora[kind] + summary.dora[kind + 1] + summary.dora[kind + 2]
        return
    is_kan = meld_type != PON_MELD
    is_ankan = meld_type == ANKAN_MELD
    summary.is_closed &= is_ankan
    summary.meld_sets |= 1 << kind
    summary.num_ankan += is_ankan
    summary.num_kans += is_kan
    summary.meld_fu += (2 if is_simple(kind) else 4) * (2 if is_ankan else 1) * (4 if is_kan else 1)
    summary.meld_dora += summary.dora[kind] * (4 if is_kan else 3)


@jit
def _take(t: Table, action: int, summary: HandSummary) -> None:
    """Take the concealed tiles of a claim or kan out of the hand."""
    kind = int(claimed_kind(t, action))
    suit = kind // 9
    if CHI <= action < PASS:
        lowest = lowest_of_chi(kind, action)
        for other in range(lowest, lowest + 3):
            summary.hand[other] -= other != kind
        if action >= CHI_RED:
            summary.red &= ~(1 << suit)
        return
    count = 2 if action in (PON, PON_RED) else 3 if action == MINKAN else 1 if KAKAN <= action < TSUMO else 4
    summary.hand[kind] -= count
    if kind == 9 * suit + 4 and action != PON:
        summary.red &= ~(1 << suit)
