"""Winning hands of our own games: tables at the moment of a win, scored in one kernel, described for other engines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suphx.games.riichi.bots.scripted_play import choose_ukeire
from suphx.games.riichi.engine.hanchan import start_game
from suphx.games.riichi.engine.kyoku import step
from suphx.games.riichi.engine.kyoku_end import count_dora, count_red, count_ura
from suphx.games.riichi.engine.legal import circumstances_of, dealer_of, score_win
from suphx.games.riichi.engine.simulator import deal_next, finish_kyoku
from suphx.games.riichi.hand.score import base_points, pay_win
from suphx.games.riichi.hand.suit_table import Suits, load_suits
from suphx.games.riichi.table.action import RON, TSUMO
from suphx.games.riichi.table.meld import meld_size
from suphx.games.riichi.table.red_five import is_red, num_red
from suphx.games.riichi.table.rules import apply_rules, tenhou
from suphx.games.riichi.table.table import (
    ANKAN_MELD,
    CHI_MELD,
    GAME_END,
    KAKAN_MELD,
    KYOKU_END,
    MINKAN_MELD,
    OWN_TURN,
    PON_MELD,
    TABLE,
)
from suphx.games.riichi.table.tile import is_five, kind_of_face
from suphx.games.riichi.table.wall import DORA_POSITIONS, URA_POSITIONS
from suphx.kernel.jit import jit
from suphx.kernel.record import I32, Records

CHI, PON, ANKAN, MINKAN, KAKAN = CHI_MELD, PON_MELD, ANKAN_MELD, MINKAN_MELD, KAKAN_MELD


class WonHand(NamedTuple):
    """A winning hand as other engines take it; tiles are ids 0-135."""

    concealed: list[int]
    """With the winning tile, without the melds."""
    win_tile: int
    melds: list[tuple[int, list[int]]]
    """Type (CHI, PON, ANKAN, MINKAN, KAKAN) and tiles."""
    dora_indicators: list[int]
    ura_indicators: list[int]
    """Empty without riichi."""
    circumstances: int
    """Bit set of yaku.py."""
    seat_wind: int
    """Kind 27-30, as is ``round_wind``."""
    round_wind: int


def collect_wins(count: int, *, seed: int = 0) -> Records:
    """Return ``count`` TABLE records of ukeire agents' games, each at the moment when its ``actor`` declares a win."""
    if count < 1:
        raise ValueError(f"count is {count}: collect at least one win")
    if not 0 <= seed <= 2**61:  # far from the largest seed of a wall: one game more for every few wins
        raise ValueError(f"seed is {seed}: use a whole number in 0 … 2**61")
    wins = np.zeros(count, TABLE)
    scratch = np.zeros(1, TABLE)
    apply_rules(scratch, tenhou())
    _collect(scratch, wins, load_suits(), seed, tenhou().start_points)
    return wins


@jit
def _collect(tables: Records, wins: Records, suits: Suits, seed: int, start_points: int) -> None:
    """Fill ``wins``; ``tables`` (1,) is scratch and comes from outside because ``t`` does not keep it alive."""
    t = tables[0]
    n = 0
    while n < len(wins):
        t.wall_seed = seed
        seed += 1
        start_game(t, start_points)
        deal_next(t, suits)
        while t.phase != GAME_END and n < len(wins):
            action = choose_ukeire(t, suits)
            if action in (TSUMO, RON):
                wins[n] = t
                n += 1
            step(t, suits, action)
            if t.phase == KYOKU_END:
                finish_kyoku(t, suits)


@jit
def score_wins(wins: Records, scores: I32) -> None:
    """Fill ``scores``, int32 (n, 3), with han, fu and points of every win: dora, yaku, fu and payment (0, 0 = yakuman).

    Honba, riichi sticks and pao are not in the points.
    """
    deltas = np.zeros(4, np.int32)
    for i in range(len(wins)):
        t = wins[i]
        seat = t.actor
        is_tsumo = t.phase == OWN_TURN
        face = t.drawn if is_tsumo else t.claimed_face
        kind = kind_of_face(face)
        dora = count_dora(t, seat, kind) + count_red(t, seat, face)
        if t.riichi[seat]:
            dora += count_ura(t, seat, kind)
        _, han, fu, yakuman = score_win(t, seat, kind, dora)
        scores[i, 0] = han
        scores[i, 1] = fu
        base = base_points(han, fu, yakuman, t.rule_flags)
        scores[i, 2] = pay_win(seat, seat if is_tsumo else t.turn, dealer_of(t), base, deltas)


def describe_win(t: Any) -> WonHand:
    """Return one record of ``collect_wins`` for other engines."""
    seat = int(t["actor"])
    is_tsumo = t["phase"] == OWN_TURN
    face = int(t["drawn"] if is_tsumo else t["claimed_face"])
    bag = _TileBag()
    win_tile = bag.take_face(face)
    concealed = [win_tile]
    for kind in range(34):
        count = int(t["hand"][seat, kind]) - int(is_tsumo and kind == kind_of_face(face))
        is_drawn = is_tsumo and is_red(face) and kind == kind_of_face(face)
        has_red = num_red(int(t["red"][seat]), kind) > 0 and not is_drawn
        concealed += [bag.take(kind, is_red=has_red and i == 0) for i in range(count)]
    melds = [_describe_meld(t, seat, m, bag) for m in range(int(t["num_melds"][seat]))]
    num_dora = int(t["num_dora"])
    return WonHand(
        concealed=sorted(concealed),
        win_tile=win_tile,
        melds=melds,
        dora_indicators=[int(t["wall"][position]) for position in DORA_POSITIONS[:num_dora]],
        ura_indicators=[int(t["wall"][position]) for position in URA_POSITIONS[:num_dora]] if t["riichi"][seat] else [],
        circumstances=int(circumstances_of(t, seat)),
        seat_wind=27 + (seat - int(t["kyoku"])) % 4,
        round_wind=27 + int(t["kyoku"]) // 4,
    )


def _describe_meld(t: Any, seat: int, m: int, bag: _TileBag) -> tuple[int, list[int]]:
    type_, kind = int(t["meld_type"][seat, m]), int(t["meld_kind"][seat, m])
    kinds = [kind, kind + 1, kind + 2] if type_ == CHI_MELD else [kind] * meld_size(type_)
    is_red_left = bool(t["meld_red"][seat, m])
    ids = []
    for each in kinds:
        is_red = is_red_left and is_five(each)
        is_red_left &= not is_red
        ids.append(bag.take(each, is_red=is_red))
    return type_, sorted(ids)


class _TileBag:
    """Gives every tile of a hand an id of its own."""

    def __init__(self) -> None:
        self._free = {kind: [4 * kind + 3, 4 * kind + 2, 4 * kind + 1, 4 * kind] for kind in range(34)}

    def take_face(self, face: int) -> int:
        return self.take(kind_of_face(face), is_red=is_red(face))

    def take(self, kind: int, *, is_red: bool) -> int:
        """Return a free id; the lowest of the fives is the red one and is kept for it."""
        free = self._free[kind]
        return free.pop() if is_red else free.pop(0)
