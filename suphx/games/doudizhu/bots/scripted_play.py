"""Whole games between scripted agents inside one kernel: how fast the rules alone can go, and how strong an agent is.

>>> play = play_scripted(1000, Rules(), ("rule", "random"), seed=7)
>>> (play.winners == 0).mean()  # how often the landlord, a rule agent, wins against random peasants
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suphx.games.doudizhu.bots.random_choice import choose_index
from suphx.games.doudizhu.bots.rule_play import choose_rule
from suphx.games.doudizhu.cards.card import NUM_RANKS
from suphx.games.doudizhu.engine.auction import deal_game
from suphx.games.doudizhu.engine.play import step
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import MAX_SEED
from suphx.games.doudizhu.engine.table import LANDLORD, PLAYING, TABLE, Table
from suphx.games.doudizhu.moves.legal import list_legal
from suphx.games.doudizhu.moves.move_table import Moves
from suphx.kernel.jit import jit
from suphx.kernel.kernel_threads import map_on_threads
from suphx.kernel.record import I8, I32, I64, Records

AGENTS = ("random", "rule")
_RANDOM = AGENTS.index("random")
_GAMES_A_CALL = 64  # games that a thread takes at a time


@dataclass(frozen=True, slots=True)
class ScriptedPlay:
    """What ``play_scripted`` counted, game by game."""

    winners: I8
    """int8 (n,): the seat that played its last card; 0 is the landlord."""
    bombs: I8
    """int8 (n,): bombs and rockets that were played."""
    decisions: I32
    """int32 (n,): moves, passes too."""


def play_scripted(
    num_games: int, rules: Rules, agents: tuple[str, str] = ("random", "random"), *, seed: int = 0, num_threads: int = 1
) -> ScriptedPlay:
    """Play games of the agents (landlord, both peasants), names of AGENTS; game i has the seed seed + i.

    The result does not depend on ``num_threads``. ValueError for an unknown agent, counts below 1 and seeds outside
    0 … 2**62 - 1.
    """
    if num_games < 1 or num_threads < 1:
        raise ValueError(f"{num_games} games on {num_threads} threads: use at least one of each")
    if not 0 <= seed <= MAX_SEED - num_games:
        raise ValueError(f"seed is {seed}: {num_games} games need seeds in 0 … 2**62 - 1")
    landlord, peasants = map(agent_number, agents)
    moves = rules.load_moves()
    winners, bombs = np.zeros(num_games, np.int8), np.zeros(num_games, np.int8)
    decisions = np.zeros(num_games, np.int32)

    def play_part(first: int) -> None:
        part = slice(first, first + _GAMES_A_CALL)
        legal = np.zeros(moves.num_moves, np.int32)
        tables = np.zeros(1, TABLE)
        _play(
            tables, moves, landlord, peasants, seed + first, rules.bidding, legal,
            winners[part], bombs[part], decisions[part],
        )  # fmt: skip

    map_on_threads(play_part, range(0, num_games, _GAMES_A_CALL), num_threads)
    return ScriptedPlay(winners, bombs, decisions)


def agent_number(name: str) -> int:
    """Return the number of a scripted agent for kernels; ValueError for an unknown name."""
    if name not in AGENTS:
        raise ValueError(f"{name!r} is not a scripted agent: use one of {', '.join(AGENTS)}")
    return AGENTS.index(name)


def choose_scripted(tables: Records, moves: Moves, indices: I64, offsets: I64, legal: I32, agent: str) -> I64:
    """Return int64 (n,): for each of the tables ``indices`` the index in ``legal`` of what a scripted agent plays.

    ``offsets``, ``legal``: as ``Simulator.legal`` gives them for the same tables, which all wait.
    """
    chosen = np.zeros(len(indices), np.int64)
    _choose(tables, moves, indices, offsets, legal, agent_number(agent), chosen)
    return chosen


@jit
def _choose(tables: Records, m: Moves, indices: I64, offsets: I64, legal: I32, agent: int, chosen: I64) -> None:
    counts = np.zeros(NUM_RANKS, np.int64)
    for i in range(len(indices)):
        chosen[i] = _choose_one(tables[indices[i]], m, agent, legal, offsets[i], offsets[i + 1], counts)


@jit
def _choose_one(t: Table, m: Moves, agent: int, legal: I32, first: int, last: int, counts: I64) -> int:
    if agent == _RANDOM:
        return first + choose_index(t, last - first)
    return choose_rule(t, m, legal, first, last, counts)


@jit
def _play(
    tables: Records, m: Moves, landlord: int, peasants: int, seed: int, has_bidding: bool, legal: I32,
    winners: I8, bombs: I8, decisions: I32,
) -> None:  # fmt: skip
    """Play one game for each element of ``winners``; ``tables`` (1,) is scratch and must outlive its record."""
    counts = np.zeros(NUM_RANKS, np.int64)
    t = tables[0]
    for i in range(len(winners)):
        deal_game(t, m, seed + i, has_bidding)
        while t.phase == PLAYING:
            end = list_legal(m, t.hands[t.actor], t.to_beat, legal, 0)
            agent = landlord if t.actor == LANDLORD else peasants
            step(t, m, legal[_choose_one(t, m, agent, legal, 0, end, counts)])
        winners[i] = t.winner
        bombs[i] = t.num_bombs
        decisions[i] = t.num_moves
