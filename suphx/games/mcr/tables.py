"""Many games side by side, and what a match counts: the ``Tables`` and the scoring of MCR."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suphx.games.game import PlayedGame
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.mcr.agents import choose_scripted
from suphx.games.mcr.engine import deal, step
from suphx.games.mcr.names import AGENTS
from suphx.games.mcr.record import OUTCOMES, GameRecord, new_tables, record_of
from suphx.games.mcr.table import (
    EMPTY,
    ENDED,
    HAND_TILES,
    NUM_ACTIONS,
    NUM_SEATS,
    NUM_TILES,
    SEAT_NAMES,
    Rules,
    move_text,
)
from suphx.games.scoring import PLACE_COUNTERS, SeatScoring
from suphx.kernel.jit import jit, map_on_threads
from suphx.kernel.record import I64, Records, as_integers, check_in_range, index_fault

MAX_SEED = 2**62
_GAMES_A_CALL = 100
_TILES_TO_DRAW = NUM_TILES - NUM_SEATS * HAND_TILES


class McrTables:
    """``Tables`` of games (suphx/games/game.py); ``state`` is a TABLE record array (n,)."""

    num_moves = NUM_ACTIONS

    def __init__(self, num_tables: int, rules: Rules) -> None:
        """Make empty tables."""
        if num_tables < 1:
            raise ValueError(f"num_tables is {num_tables}: use 1 or more")
        self.rules = rules
        self.state = new_tables(num_tables, rules)
        self.shares: NDArray[np.float64] = np.zeros(num_tables)
        self._is_running = np.zeros(num_tables, np.bool_)

    def begin(self, indices: ArrayLike, seeds: Iterable[int]) -> None:
        """Deal new games at tables; ValueError for a seed that is not in 0 … 2**62 - 1 and for an unknown table."""
        places = as_integers(indices, "indices")
        numbers = as_integers(list(seeds), "seeds", places.size)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < MAX_SEED:
            raise ValueError(f"seeds are {numbers.min()} to {numbers.max()}: use 0 to 2**62 - 1")
        check_in_range(places, len(self.state))
        _deal_games(self.state, load_suits(), places, numbers)
        self._is_running[places] = True
        self.shares[places] = 0

    def waiting(self) -> I64:
        """Return the tables whose games wait for a move."""
        phases = self.state["phase"]
        return np.flatnonzero((phases != EMPTY) & (phases != ENDED))

    def actors(self, indices: I64) -> I64:
        """Return the seat that is to move at each table."""
        actors: I64 = self.state["actor"][indices].astype(np.int64)
        return actors

    def advance(self, indices: ArrayLike, moves: ArrayLike) -> None:
        """Play a move at each table; ValueError for one that is not legal, or for a table that is not there."""
        places = as_integers(indices, "indices")
        numbers = as_integers(moves, "moves", places.size)
        bad = _advance(self.state, load_suits(), places, numbers)
        if bad >= 0:
            fault = index_fault(places, bad, len(self.state))
            raise ValueError(fault or self._explain(int(places[bad]), int(numbers[bad])))
        self.shares[places] = 1 - self.state["wall_left"][places].sum(axis=1) / _TILES_TO_DRAW

    def take_ended(self) -> I64:
        """Return the tables whose games have ended since the last call."""
        ended = np.flatnonzero(self._is_running & (self.state["phase"] == ENDED))
        self._is_running[ended] = False
        return ended

    def take_game(self, index: int, game_id: str, names: Sequence[str]) -> PlayedGame:
        """Return the game that has ended at a table; its points are the score of each seat."""
        table = self.state[index]
        return PlayedGame(game_id, tuple(table["score"].tolist()), record_of(table, self.rules, names, game_id))

    def _explain(self, index: int, move: int) -> str:
        table = self.state[index]
        legal = ", ".join(move_text(int(other)) for other in np.flatnonzero(table["legal"]))
        seat = SEAT_NAMES[table["actor"]]
        return f"table {index}, {seat}: {move_text(move)} is not legal; legal: {legal or 'nothing, the game is over'}"


@jit
def _deal_games(tables: Records, suits: Suits, indices: I64, seeds: I64) -> None:
    for i in range(len(indices)):
        deal(tables[indices[i]], suits, seeds[i])


@jit
def _advance(tables: Records, suits: Suits, indices: I64, moves: I64) -> int:
    """Play the moves if all are legal and no table is named twice; else return the position of the first bad one."""
    is_named = np.zeros(len(tables), np.bool_)
    for i in range(len(indices)):
        if not 0 <= indices[i] < len(tables) or is_named[indices[i]]:
            return i
        is_named[indices[i]] = True
        if not 0 <= moves[i] < NUM_ACTIONS or tables[indices[i]].legal[moves[i]] == 0:
            return i
    for i in range(len(indices)):
        step(tables[indices[i]], suits, moves[i])
    return -1


class ScriptedAgent:
    """One of the scripted agents by name."""

    def __init__(self, name: str) -> None:
        """``name``: one of AGENTS; ValueError for another."""
        if name not in AGENTS:
            raise ValueError(f"{name!r} is no scripted agent: use one of {', '.join(AGENTS)}")
        self.name = name
        self._number = AGENTS.index(name)

    def act(self, tables: Records, indices: I64) -> I64:
        """Return a legal move for each table."""
        moves = np.empty(indices.shape, np.int64)
        _act(tables, load_suits(), indices, self._number, moves)
        return moves


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
class McrScoring(SeatScoring):
    """Games: the walls of a deal are played four times, with rotated agents; a seat is worth its score."""

    deal: str = "wall"
    games: str = "games"
    deals_per_task: int = 50
    deals_per_look: int = 50
    deals_per_lineup: int = 10
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

    def count(self, record: GameRecord, player: str, places: Sequence[int]) -> list[int] | None:
        """Return places and outcomes of ``player``, those of several seats together; None if he was not there."""
        seats = [seat for seat, name in enumerate(record.players) if name == player]
        rows = [
            [*(places[seat] == place for place in range(1, NUM_SEATS + 1)), 1, places[seat], *record.outcomes[seat]]
            for seat in seats
        ]
        return [sum(column) for column in zip(*rows, strict=True)] if rows else None
