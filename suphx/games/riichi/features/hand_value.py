"""What a winning hand is worth in levels of points: the rules of yaku.py on bit sets of kinds.

Two ways to win. *Drawn*: every missing tile is drawn, the hand wins by tsumo, with riichi when it is closed. *Called*:
without riichi and by ron; a closed hand that lacks more than one tile has called chi or pon with one of them at least,
while a hand that lacks one tile stays as closed as it is. The last tile, its place and the called set are those that
give most points. Not counted: ippatsu, double riichi, ura dora, last tiles, kans to come, honba and sticks.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, cast

import numpy as np

from suphx.games.mahjong import tile
from suphx.games.mahjong.planes import CountMasks, count_bits
from suphx.games.riichi.features.paper_layout import LEVELS
from suphx.games.riichi.legal import dealer_of
from suphx.games.riichi.rules import OPEN_TANYAO, rule_flags, tenhou
from suphx.games.riichi.table import PON, Table, claimed_kind, dora_kind, new_meld, take_used, uses_red
from suphx.games.riichi.tile import is_red
from suphx.games.riichi.yaku import base_points, pay_win
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I32, U8, Records, field, record_dtype

NO_CLAIM = -1


class HandSummary:
    """What a seat holds and knows, as one part of a record (lookahead.py)."""

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
    summary.dora[:] = 0
    for i in range(t.num_dora):
        summary.dora[dora_kind(t.wall, i)] += 1
    _fill_melds(t, seat, action, summary)
    summary.hand[:] = t.hand[seat]
    summary.red = t.red[seat]
    if action != NO_CLAIM:
        kind = claimed_kind(t, action)
        meld_type, lowest = new_meld(t, action)
        take_used(summary.hand, meld_type, lowest, kind)
        if uses_red(t, seat, action):
            summary.red &= ~(1 << kind // 9)
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
def _fill_melds(t: Table, seat: int, action: int, summary: HandSummary) -> None:
    """Fill what the melds give, the new one included."""
    summary.num_sets, summary.is_closed = 4, 1
    summary.meld_runs = summary.meld_sets = summary.num_ankan = summary.num_kans = 0
    summary.meld_fu = summary.meld_dora = 0
    new_type, lowest = new_meld(t, action) if action != NO_CLAIM else (0, -1)
    new_red = 0
    if action != NO_CLAIM:
        new_red = int(uses_red(t, seat, action)) + int(action >= PON and is_red(t.claimed_face))
    for i in range(t.num_melds[seat]):
        meld_type, kind, red = int(t.meld_type[seat, i]), int(t.meld_kind[seat, i]), int(t.meld_red[seat, i])
        if new_type == tile.KAKAN_MELD and meld_type == tile.PON_MELD and kind == lowest:
            meld_type = tile.KAKAN_MELD
            red += new_red
        _add_meld(summary, meld_type, kind, red)
    if action != NO_CLAIM and new_type != tile.KAKAN_MELD:
        _add_meld(summary, new_type, lowest, new_red)


@jit
def _add_meld(summary: HandSummary, meld_type: int, kind: int, red: int) -> None:
    """Add what one meld gives."""
    summary.num_sets -= 1
    summary.meld_dora += red
    if meld_type == tile.CHI_MELD:
        summary.is_closed = 0
        summary.meld_runs |= 1 << kind
        summary.meld_dora += summary.dora[kind] + summary.dora[kind + 1] + summary.dora[kind + 2]
        return
    is_kan = meld_type != tile.PON_MELD
    is_ankan = meld_type == tile.ANKAN_MELD
    summary.is_closed &= is_ankan
    summary.meld_sets |= 1 << kind
    summary.num_ankan += is_ankan
    summary.num_kans += is_kan
    summary.meld_fu += (2 if tile.is_simple(kind) else 4) * (2 if is_ankan else 1) * (4 if is_kan else 1)
    summary.meld_dora += summary.dora[kind] * (4 if is_kan else 3)


MAX_HAN = 13
MAX_FU = 200
_YAKUMAN = 100  # as han: more than everything else together
_TERMINAL_BITS = tile.TERMINAL_AND_HONOUR_BITS & ~tile.HONOUR_BITS
_LOWEST_RUNS = 1 | 1 << 9 | 1 << 18  # 123, whose edge wait is 3
_HIGHEST_RUNS = _LOWEST_RUNS << 6  # 789, whose edge wait is 7


class Reading(NamedTuple):
    """The concealed part of a winning hand, read as sets and a pair."""

    runs: int
    """Bit set of their lowest kinds."""
    doubles: int
    """Those that occur more than once."""
    sets: int
    """Bit set of triplets."""
    pair: int
    """Kind of the pair."""
    dora: int
    """In this part, red fives included."""


class WinLevels:
    """The levels of points as one record, so that kernels hand on a single pointer."""

    levels: U8 = field("u1", 2, 2, MAX_HAN + 1, MAX_FU // 5 + 1)
    """By is dealer, is tsumo, han, fu / 5: how many of LEVELS are reached."""


@cache
def load_win_levels() -> WinLevels:
    """Return the table, computed from the rules of payment.

    Points are Tenhou's whatever the rules of a table (open tanyao aside, see HandSummary): planes keep their meaning.
    """
    table: Records = np.zeros(1, record_dtype(WinLevels))
    levels = table[0]["levels"]
    deltas: I32 = np.zeros(4, np.int32)
    for is_dealer, is_tsumo, han, fu in np.ndindex(levels.shape):
        if han > 0:
            base = base_points(han, 5 * fu, 0, rule_flags(tenhou()))
            points = pay_win(0, 0 if is_tsumo else 1, 0 if is_dealer else 2, base, deltas)
            levels[is_dealer, is_tsumo, han, fu] = np.searchsorted(LEVELS, points, side="right")
    table.flags.writeable = False
    return cast(WinLevels, table.view(np.dtype((np.record, table.dtype)))[0])


@jit
def _level(table: WinLevels, summary: HandSummary, is_tsumo: int, han: int, dora: int, fu: int) -> int:
    """Return the level of a win; 0 without a yaku."""
    if han == 0:
        return 0
    return int(table.levels[summary.is_dealer, is_tsumo, min(han + dora + summary.meld_dora, MAX_HAN), fu // 5])


@jit
def kinds_han(kinds: int, open_tanyao: int) -> tuple[int, int]:
    """Return the han, closed and open, that depend on which kinds there are alone."""
    suits = (kinds & 0x1FF != 0) + (kinds >> 9 & 0x1FF != 0) + (kinds >> 18 & 0x1FF != 0)
    if suits == 0 or kinds & ~_TERMINAL_BITS == 0 or kinds & ~tile.GREEN_BITS == 0:
        return _YAKUMAN, _YAKUMAN
    closed = open_ = 0
    if kinds & tile.TERMINAL_AND_HONOUR_BITS == 0:
        closed, open_ = 1, open_tanyao
    elif kinds & ~tile.TERMINAL_AND_HONOUR_BITS == 0:
        closed = open_ = 2
    if suits == 1:
        flush = 3 if kinds & tile.HONOUR_BITS else 6
        return closed + flush, open_ + flush - 1
    return closed, open_


@jit
def _honours_han(summary: HandSummary, sets: int, pair: int) -> int:
    """Return the han of winds and dragons."""
    han = (sets >> summary.seat_wind & 1) + (sets >> summary.round_wind & 1)
    dragons = count_bits(sets >> 31)
    han += dragons
    if dragons == 3:
        han += _YAKUMAN
    elif dragons == 2 and pair >= 31:
        han += 2
    winds = count_bits(sets >> 27 & 0xF)
    if winds == 4 or (winds == 3 and 27 <= pair < 31):
        han += _YAKUMAN
    return han


@jit
def _sets_han(summary: HandSummary, sets: int) -> int:
    """Return the han of triplets and kans, concealed or not."""
    han = 0
    if count_bits(sets) == 4:
        han += 2
    if sets & sets >> 9 & sets >> 18 & 0x1FF:
        han += 2
    if summary.num_kans == 3:
        han += 2
    elif summary.num_kans == 4:
        han += _YAKUMAN
    return han


@jit
def _is_nine_gates(reading: Reading, kinds: int) -> bool:
    """Tell whether four concealed sets and a pair are 1112345678999 and one more tile of the suit."""
    for first in range(0, 27, 9):
        if kinds == 0x1FF << first:
            low = 3 * (reading.sets >> first & 1) + (reading.runs >> first & 1) + (reading.doubles >> first & 1)
            top = first + 6
            high = 3 * (reading.sets >> (top + 2) & 1) + (reading.runs >> top & 1) + (reading.doubles >> top & 1)
            return low + 2 * (reading.pair == first) >= 3 and high + 2 * (reading.pair == top + 2) >= 3
    return False


@jit
def _shape_han(summary: HandSummary, reading: Reading) -> tuple[int, int]:
    """Return the han of a reading, closed and open, that the last tile does not change; no riichi, tsumo, dora."""
    runs = reading.runs | summary.meld_runs
    sets = reading.sets | summary.meld_sets
    kinds = runs | runs << 1 | runs << 2 | sets | 1 << reading.pair
    both = _honours_han(summary, sets, reading.pair) + _sets_han(summary, sets)
    # Three runs of three suits, and a straight: one han each when open, two when closed.
    of_runs = (runs & runs >> 9 & runs >> 18 & 0x1FF != 0) + (runs & runs >> 3 & runs >> 6 & _LOWEST_RUNS != 0)
    closed, open_ = kinds_han(kinds, summary.open_tanyao)
    # A terminal or an honour in every set and the pair, with a run among them.
    is_outside = runs & ~(_LOWEST_RUNS | _HIGHEST_RUNS) == 0 and (
        (sets | 1 << reading.pair) & ~tile.TERMINAL_AND_HONOUR_BITS == 0
    )
    if runs != 0 and is_outside:
        of_outside = 2 if kinds & tile.HONOUR_BITS else 3
        closed += of_outside
        open_ += of_outside - 1
    if reading.doubles:  # twice the same run, or two times
        is_four_times_one = summary.num_sets == 4 and reading.sets == 0 and count_bits(reading.runs) == 1
        closed += 3 if count_bits(reading.doubles) == 2 or is_four_times_one else 1
    closed += both + 2 * of_runs
    if summary.num_sets == 4 and _is_nine_gates(reading, kinds):
        closed += _YAKUMAN
    return closed, open_ + both + of_runs


@jit
def _common_fu(summary: HandSummary, reading: Reading) -> int:
    """Return the fu without those of the last tile, all concealed triplets taken as such."""
    pair = reading.pair
    fu = (
        20
        + summary.meld_fu
        + 4 * count_bits(reading.sets)
        + 4 * count_bits(reading.sets & tile.TERMINAL_AND_HONOUR_BITS)
    )
    return fu + 2 * ((pair == summary.seat_wind) + (pair == summary.round_wind) + (pair >= 31))


@jit
def _drawn_level(table: WinLevels, summary: HandSummary, reading: Reading, han: int, missing: int) -> int:
    """Return the level of a win by tsumo on one of the kinds ``missing``; ``han`` is that of the shape."""
    concealed = count_bits(reading.sets) + summary.num_ankan
    if concealed == 3:
        han += 2
    elif concealed == 4:
        han += _YAKUMAN
    fu = _common_fu(summary, reading)
    runs = reading.runs
    if summary.is_closed:
        han += 2
        two_sided = (runs & ~_HIGHEST_RUNS) | (runs & ~_LOWEST_RUNS) << 2
        if fu == 20 and missing & two_sided:
            return _level(table, summary, 1, han + 1, reading.dora, 20)
    narrow = 1 << reading.pair | runs << 1 | (runs & _LOWEST_RUNS) << 2 | (runs & _HIGHEST_RUNS)
    fu += 4 if missing & narrow else 2
    return _level(table, summary, 1, han, reading.dora, (fu + 9) // 10 * 10)


@jit
def _called_level(
    table: WinLevels, summary: HandSummary, reading: Reading, han: int, missing: tuple[int, int, int], num_missing: int
) -> int:
    """Return the best level of a win by ron without riichi; ``han`` is that of the shape."""
    stays_closed = summary.is_closed and num_missing == 1
    if han == 0 and not stays_closed and count_bits(reading.sets) + summary.num_ankan < 3:
        return 0  # no yaku
    runs = reading.runs
    best = 0
    for i in range(num_missing):
        kind = missing[i]
        if i > 0 and kind == missing[i - 1]:
            continue
        others = 0
        for j in range(num_missing):
            others |= int(j != i) << missing[j]
        bit = 1 << kind
        if kind == reading.pair:
            best = max(best, _ron_level(table, summary, reading, han, num_missing, others, 0, 0, 2))
        if reading.sets & bit:
            best = max(best, _ron_level(table, summary, reading, han, num_missing, others, 0, bit, 0))
        if runs & bit:
            wait = 2 if bit & _HIGHEST_RUNS else 0
            best = max(best, _ron_level(table, summary, reading, han, num_missing, others, bit, 0, wait))
        if runs << 1 & bit:
            best = max(best, _ron_level(table, summary, reading, han, num_missing, others, bit >> 1, 0, 2))
        if runs << 2 & bit:
            wait = 2 if bit >> 2 & _LOWEST_RUNS else 0
            best = max(best, _ron_level(table, summary, reading, han, num_missing, others, bit >> 2, 0, wait))
    return best


@jit
def _ron_level(
    table: WinLevels, summary: HandSummary, reading: Reading, han: int, num_missing: int, others: int,
    last_run: int, last_set: int, wait: int,
) -> int:  # fmt: skip
    """Return the level when the last tile completes ``last_run`` or ``last_set`` (a bit), or else the pair.

    ``others``: bit set of the kinds of the other missing tiles, one of which a closed hand must call.
    """
    fu = _common_fu(summary, reading) + wait
    concealed = count_bits(reading.sets) + summary.num_ankan
    if last_set:
        concealed -= 1
        fu -= 4 if last_set & tile.TERMINAL_AND_HONOUR_BITS else 2
    if summary.is_closed and num_missing > 1:
        callable_runs = reading.runs & (others | others >> 1 | others >> 2) & ~(last_run & ~reading.doubles)
        if callable_runs == 0:
            callable_sets = reading.sets & others & ~last_set
            if callable_sets == 0:
                return 0
            concealed -= 1
            fu -= 2 if callable_sets & ~tile.TERMINAL_AND_HONOUR_BITS else 4
    if concealed == 3:
        han += 2
    elif concealed == 4:
        han += _YAKUMAN
    if summary.is_closed and num_missing == 1:
        if fu == 20:
            return _level(table, summary, 0, han + 1, reading.dora, 30)
        fu += 10
    elif fu == 20:
        fu = 30
    return _level(table, summary, 0, han, reading.dora, (fu + 9) // 10 * 10)


@jit
def win_levels(
    table: WinLevels, summary: HandSummary, reading: Reading, missing: tuple[int, int, int], num_missing: int
) -> tuple[int, int]:
    """Return the levels of a win drawn and called, in this reading: a hand has the best level of all its readings.

    The first ``num_missing`` (1-3) of the kinds ``missing``, sorted, are new.
    """
    closed, open_ = _shape_han(summary, reading)
    bits = 0
    for i in range(num_missing):
        bits |= 1 << missing[i]
    drawn = _drawn_level(table, summary, reading, closed if summary.is_closed else open_, bits)
    han = closed if summary.is_closed and num_missing == 1 else open_
    return drawn, _called_level(table, summary, reading, han, missing, num_missing)


@jit
def pairs_levels(table: WinLevels, summary: HandSummary, kinds: int, dora: int, num_missing: int) -> tuple[int, int]:
    """Return the levels of seven pairs drawn and called: nothing can be called but the last tile."""
    han = 2 + kinds_han(kinds, 1)[0]
    drawn = _level(table, summary, 1, han + 2, dora, 25)
    return drawn, _level(table, summary, 0, han, dora, 25) if num_missing == 1 else 0
