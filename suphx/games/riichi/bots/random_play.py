"""Whole games between random agents inside one kernel: how fast the rules alone can go.

>>> play = play_random(1000, tenhou(), seed=7)
>>> play.decisions.sum() / 1000  # decisions a hanchan
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suphx.games.riichi.bots.scripted_play import choose_random
from suphx.games.riichi.engine.hanchan import start_game
from suphx.games.riichi.engine.kyoku import step
from suphx.games.riichi.engine.simulator import MAX_SEED, deal_next, finish_kyoku
from suphx.games.riichi.hand.suit_table import Suits, load_suits
from suphx.games.riichi.table.rules import Rules, apply_rules
from suphx.games.riichi.table.table import GAME_END, KYOKU_END, TABLE, Table
from suphx.kernel.jit import jit
from suphx.kernel.kernel_threads import map_on_threads
from suphx.kernel.random_number import mix
from suphx.kernel.record import I32, Records

GAMES_A_CALL = 8  # games that a thread takes at a time (3 ms): threads end at nearly the same moment

_MASK32 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class RandomPlay:
    """What ``play_random`` counted, game by game."""

    decisions: I32
    """int32 (n,): calls of ``step``, every answer to a possible claim included."""
    kyokus: I32
    """int32 (n,): deals."""


def play_random(num_hanchans: int, rules: Rules, *, seed: int = 0, num_threads: int = 1) -> RandomPlay:
    """Play games in which every seat chooses among its legal actions at random; game i has the wall seed seed + i.

    The result does not depend on ``num_threads``. ValueError for counts below 1 and for seeds outside 0 … 2**62 - 1.
    """
    if num_hanchans < 1 or num_threads < 1:
        raise ValueError(f"{num_hanchans} hanchans on {num_threads} threads: use at least one of each")
    if not 0 <= seed <= MAX_SEED - num_hanchans:
        raise ValueError(f"seed is {seed}: {num_hanchans} games need seeds in 0 … 2**62 - 1")
    suits = load_suits()
    play = RandomPlay(np.zeros(num_hanchans, np.int32), np.zeros(num_hanchans, np.int32))

    def play_part(first: int) -> None:
        table = np.zeros(1, TABLE)
        apply_rules(table, rules)
        part = slice(first, first + GAMES_A_CALL)
        _play(table, suits, rules.start_points, seed + first, play.decisions[part], play.kyokus[part])

    map_on_threads(play_part, range(0, num_hanchans, GAMES_A_CALL), num_threads)
    return play


@jit
def _play(tables: Records, suits: Suits, start_points: int, first_seed: int, decisions: I32, kyokus: I32) -> None:
    """Play one game for each element of ``decisions``; ``tables`` (1,) is scratch and must outlive its record."""
    t = tables[0]
    for i in range(len(decisions)):
        t.wall_seed = first_seed + i
        start_game(t, start_points)
        deal_next(t, suits)
        while t.phase != GAME_END:
            step(t, suits, choose_random(t, _number(t)))
            if t.phase == KYOKU_END:
                finish_kyoku(t, suits)
        decisions[i] = t.num_decisions
        kyokus[i] = t.num_kyoku


@jit
def _number(t: Table) -> int:
    """Return 32 mixed bits of the game's seed and the number of the decision: the same game in whatever batch."""
    return mix((int(t.wall_seed) * 0x9E3779B1 + int(t.num_decisions) * 0x85EBCA6B) & _MASK32)
