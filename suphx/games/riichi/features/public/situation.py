"""Planes of the situation: winds, kyoku, scores, tiles left, and what seats have declared."""

from __future__ import annotations

from suphx.games.riichi.engine.legal import dealer_of, tiles_left
from suphx.games.riichi.features.layout.paper_layout import (
    DIFFERENCE_BORDERS,
    NUM_HONBA,
    NUM_KYOKU,
    NUM_KYOKU_LEFT,
    NUM_STICKS,
    PUBLIC,
    SCORE_BORDERS,
)
from suphx.games.riichi.features.layout.planes import ALL_KINDS, set_bit, set_kinds, set_plane
from suphx.games.riichi.table.placement import place_of
from suphx.games.riichi.table.rule_flag import OPEN_TANYAO
from suphx.games.riichi.table.table import CALL_DISCARD, Table
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

_SEAT_WINDS = PUBLIC["seat_winds"].first
_ROUND_WIND = PUBLIC["round_wind"].first
_YAKUHAI = PUBLIC["yakuhai"].first
_SEAT = PUBLIC["seat"].first
_KYOKU = PUBLIC["kyoku"].first
_KYOKU_LEFT = PUBLIC["kyoku_left"].first
_HONBA = PUBLIC["honba"].first
_STICKS = PUBLIC["sticks"].first
_DEALER = PUBLIC["dealer"].first
_RULES = PUBLIC["rules"].first
_SCORES = PUBLIC["scores"].first
_SCORE_DIFFERENCES = PUBLIC["score_differences"].first
_PLACEMENT = PUBLIC["placement"].first
_TILES_LEFT = PUBLIC["tiles_left"].first
_RIICHI = PUBLIC["riichi"].first
_DOUBLE_RIICHI = PUBLIC["double_riichi"].first
_IPPATSU = PUBLIC["ippatsu"].first
_STICK_DUE = PUBLIC["stick_due"].first
_KANS_MADE = PUBLIC["kans_made"].first
_FIRST_TURN = PUBLIC["first_turn"].first
_WAITS = PUBLIC["waits"].first
_FURITEN = PUBLIC["furiten"].first

DRAGONS = 7 << 31


@jit
def fill_situation(t: Table, seat: int, row: U8) -> None:
    """Fill the planes of categories, scores, tiles left and states."""
    _fill_categories(t, seat, row)
    _fill_scores(t, seat, row)
    _fill_declared(t, seat, row)
    _fill_furiten(t, seat, row)
    left = int(tiles_left(t))
    set_plane(row, _TILES_LEFT + (left if left < 4 else 3 + left // 4))


@jit
def yakuhai_kinds(t: Table, seat: int) -> int:
    """Return the kinds of which three are a yaku for ``seat``."""
    return DRAGONS | 1 << (27 + int(t.kyoku) // 4) | 1 << (27 + (seat - int(dealer_of(t))) % 4)


@jit
def own_discards(t: Table, seat: int) -> int:
    """Return the kinds that make ``seat`` furiten as waits: its river; all after a win missed in riichi."""
    return ALL_KINDS if t.missed_win[seat] == 2 else int(t.river_kinds[seat])


@jit
def _fill_categories(t: Table, seat: int, row: U8) -> None:
    dealer, kyoku = int(dealer_of(t)), int(t.kyoku)
    for relative in range(4):
        other = (seat + relative) % 4
        set_bit(row, _SEAT_WINDS + relative, 27 + (other - dealer) % 4)
        set_kinds(row, _YAKUHAI + relative, yakuhai_kinds(t, other))
    set_bit(row, _ROUND_WIND, 27 + kyoku // 4)
    set_plane(row, _SEAT + seat)
    set_plane(row, _KYOKU + min(kyoku, NUM_KYOKU - 1))
    set_plane(row, _KYOKU_LEFT + min(max(4 * int(t.num_winds) - 1 - kyoku, 0), NUM_KYOKU_LEFT - 1))
    set_plane(row, _HONBA + min(int(t.honba), NUM_HONBA - 1))
    set_plane(row, _STICKS + min(int(t.kyotaku), NUM_STICKS - 1))
    set_plane(row, _DEALER + (dealer - seat) % 4)
    if t.rule_flags & OPEN_TANYAO:
        set_plane(row, _RULES)
    if t.red_fives:
        set_plane(row, _RULES + 1)


@jit
def _fill_scores(t: Table, seat: int, row: U8) -> None:
    own = int(t.scores[seat])
    for relative in range(4):
        other = (seat + relative) % 4
        score = int(t.scores[other])
        bucket = 0
        for border in SCORE_BORDERS:
            bucket += int(score >= border)
        set_plane(row, _SCORES + (len(SCORE_BORDERS) + 1) * relative + bucket)
        set_plane(row, _PLACEMENT + 4 * relative + place_of(t.scores, other) - 1)
        if relative > 0:
            bucket = 0
            for border in DIFFERENCE_BORDERS:
                bucket += int(own - score >= border)
            set_plane(row, _SCORE_DIFFERENCES + (len(DIFFERENCE_BORDERS) + 1) * (relative - 1) + bucket)


@jit
def _fill_declared(t: Table, seat: int, row: U8) -> None:
    for relative in range(4):
        other = (seat + relative) % 4
        if t.riichi[other]:
            set_plane(row, _RIICHI + relative)
            if t.riichi[other] == 2:
                set_plane(row, _DOUBLE_RIICHI + relative)
        if t.ippatsu[other]:
            set_plane(row, _IPPATSU + relative)
    if t.is_stick_due:
        set_plane(row, _STICK_DUE)
    for i in range(t.num_kans):
        set_plane(row, _KANS_MADE + i)
    if t.is_first_turn[seat]:
        set_plane(row, _FIRST_TURN)


@jit
def _fill_furiten(t: Table, seat: int, row: U8) -> None:
    # The engine looks for waits when a seat discards: after a claim those of before it still stand.
    waits = 0 if t.phase == CALL_DISCARD and t.actor == seat else int(t.waits[seat])
    set_kinds(row, _WAITS, waits)
    if waits & t.river_kinds[seat]:
        set_plane(row, _FURITEN)
    if t.missed_win[seat]:
        set_plane(row, _FURITEN + int(t.missed_win[seat]))
