"""Many games side by side, and what a match counts: the ``Tables`` and the scoring of MCR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.games.game import PlayedGame
from suphx.games.mahjong.hand_tables import HandAgent, HandScoring, HandTables
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.mcr.agents import choose_scripted
from suphx.games.mcr.engine import ERROR_SCORE, ERROR_SHARE, deal, step
from suphx.games.mcr.names import AGENTS
from suphx.games.mcr.record import OUTCOMES, new_tables, record_of
from suphx.games.mcr.table import (
    ENDED,
    HAND_TILES,
    NUM_ACTIONS,
    NUM_SEATS,
    NUM_TILES,
    SEAT_NAMES,
    Rules,
    move_text,
)
from suphx.games.scoring import PLACE_COUNTERS, Forfeited, MeasureName, SeatScoring
from suphx.kernel.jit import jit, map_on_threads
from suphx.kernel.record import I64, Records

_GAMES_A_CALL = 100


def played_game(table: Any, rules: Rules, names: Sequence[str], game_id: str) -> PlayedGame:
    """Return the game that has ended at a table; its points are the score of each seat."""
    return PlayedGame(game_id, tuple(table["score"].tolist()), record_of(table, rules, names, game_id))


@jit
def _deal(tables: Records, suits: Suits, indices: I64, seeds: I64) -> None:
    for i in range(len(indices)):
        deal(tables[indices[i]], suits, seeds[i])


@jit
def _step(tables: Records, suits: Suits, indices: I64, moves: I64) -> None:
    for i in range(len(indices)):
        step(tables[indices[i]], suits, moves[i])


class McrTables(HandTables):
    """``Tables`` of games; ``state`` is a TABLE record array (n,)."""

    num_moves = NUM_ACTIONS
    ended_phase = ENDED
    tiles_to_draw = NUM_TILES - NUM_SEATS * HAND_TILES
    seat_names = SEAT_NAMES
    move_text = staticmethod(move_text)

    new_state = staticmethod(new_tables)
    deal = staticmethod(_deal)
    step = staticmethod(_step)
    played_game = staticmethod(played_game)


class ScriptedAgent(HandAgent):
    """One of the scripted agents."""

    names = AGENTS

    def choose(self, tables: Records, indices: I64, moves: I64) -> None:
        """Fill ``moves`` with a legal one for each table."""
        _act(tables, load_suits(), indices, self.number, moves)


@jit
def _act(tables: Records, suits: Suits, indices: I64, agent: int, moves: I64) -> None:
    for i in range(len(indices)):
        moves[i] = choose_scripted(tables[indices[i]], suits, agent)


def play_scripted(agents: Sequence[str], seeds: Sequence[int], rules: Rules, *, num_threads: int = 1) -> I64:
    """Play whole games of scripted agents, by seat, in one kernel; return the scores, int64 (games, 4)."""
    numbers, walls = np.array([AGENTS.index(name) for name in agents]), np.array(seeds, np.int64)
    scores = np.zeros((walls.size, NUM_SEATS), np.int64)

    def play_part(first: int) -> None:
        part = slice(first, first + _GAMES_A_CALL)
        _play(new_tables(1, rules), load_suits(), numbers, walls[part], scores[part])

    map_on_threads(play_part, range(0, walls.size, _GAMES_A_CALL), num_threads)
    return scores


@jit
def _play(tables: Records, suits: Suits, agents: I64, seeds: I64, scores: I64) -> None:
    """Play a game for each of ``seeds``; ``tables`` (1,) is scratch and must outlive its record."""
    t = tables[0]
    for i in range(len(seeds)):
        deal(t, suits, seeds[i])
        while t.phase != ENDED:
            step(t, suits, choose_scripted(t, suits, agents[t.actor]))
        scores[i] = t.score


@dataclass(frozen=True, slots=True, kw_only=True)
class McrScoring(HandScoring):
    """Games of the contests: a wall is played in all orders of the agents, and the sum of its scores decides."""

    deal: str = "wall"
    games: str = "games"
    deals_per_task: int = 50
    deals_per_look: int = 50
    has_all_orders: bool = True
    decides: MeasureName = "points"
    points_spread: float = 24.3  # of strong bots on Botzone
    largest_points: float = 1000.0  # a self-drawn win of about 325 fan
    first_forfeit_decides: bool = True
    counters: tuple[str, ...] = (*PLACE_COUNTERS, *OUTCOMES)
    ratios: Mapping[str, tuple[str, str]] = field(
        default_factory=lambda: {
            "average_score": ("score", "games"),
            "average_placement": ("place", "games"),
            "win_rate": ("wins", "games"),
            "self_drawn_rate": ("self_drawn", "games"),
            "deal_in_rate": ("deal_ins", "games"),
            "decided_rate": ("decided", "games"),
            "average_win_fan": ("win_fan", "wins"),
        }
    )

    def settle(self, points: NDArray[np.number], forfeited: Forfeited) -> tuple[I64, NDArray[np.number]]:
        """Return the place of each seat, int64 [games, 4], and its points: a forfeit is an illegal reply."""
        own = np.array(points)
        for game, lost in enumerate(forfeited):
            if lost:
                own[game] = ERROR_SHARE
                own[game, lost[0]] = ERROR_SCORE
        return SeatScoring.settle(self, own, forfeited)
