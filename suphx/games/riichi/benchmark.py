"""What benchmarks measure with: positions that ask a net, and winning hands of our games."""

from __future__ import annotations

from itertools import count

import numpy as np

from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.riichi.bots import choose_ukeire
from suphx.games.riichi.ending import count_dora, count_red, count_ura, start_game
from suphx.games.riichi.kyoku import step
from suphx.games.riichi.legal import dealer_of, score_win
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, KONG_HEAD, PONG_HEAD
from suphx.games.riichi.rules import apply_rules, tenhou
from suphx.games.riichi.selfplay.decision import UNDECIDED, asked_rows
from suphx.games.riichi.simulator import Simulator, deal_next, finish_kyoku
from suphx.games.riichi.table import GAME_END, KYOKU_END, OWN_TURN, RON, TABLE, TSUMO
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import kind_of_face
from suphx.games.riichi.yaku import base_points, pay_win
from suphx.kernel.jit import jit
from suphx.kernel.record import I32, I64, Records

_TABLES_AT_A_TIME = 64


def played_positions(num_positions: int, seed: int) -> Records:
    """Return TABLE records of decisions of nets in games of ukeire, from many games side by side."""
    agent, simulator = ScriptedAgent("ukeire"), Simulator(_TABLES_AT_A_TIME, tenhou())
    parts: list[Records] = []
    for first in count(seed, _TABLES_AT_A_TIME):
        simulator.reset(range(first, first + _TABLES_AT_A_TIME))
        while (waiting := simulator.waiting()).size:
            tables = simulator.tables[waiting]
            parts.append(tables[asked_tables(tables)])
            if sum(map(len, parts)) >= num_positions:
                return np.concatenate(parts)[:num_positions]
            simulator.advance(waiting, agent.act(simulator.tables, waiting))
    raise AssertionError("games follow without end")


def asked_tables(tables: Records) -> I64:
    """Return the indices of the tables at which a net is asked."""
    return np.unique(np.concatenate([owners for owners, _ in observed_candidates(tables).values()]))


def observed_candidates(tables: Records) -> dict[int, tuple[I64, I64]]:
    """Return by head the table and the candidate of every row that describes these decisions.

    An own turn is one row for discard and riichi, whose planes are the same, and one for each possible kan; a claim
    window is one row for each possible claim.
    """
    indices, undecided = np.arange(len(tables)), np.full(len(tables), UNDECIDED, np.int16)
    heads = (DISCARD_HEAD, CHOW_HEAD, PONG_HEAD, KONG_HEAD)
    return {head: asked_rows(tables, indices, undecided, head) for head in heads}


def collect_wins(num_wins: int, *, seed: int = 0) -> Records:
    """Return TABLE records of ukeire agents' games, each at the moment when its ``actor`` declares a win."""
    wins, scratch = np.zeros(num_wins, TABLE), np.zeros(1, TABLE)
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
