"""Games side by side, for agents in matches and in training, and the decisions of recorded games."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suphx.games.doudizhu.bots import agent_number, choose_scripted
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.records.game_record import GameRecord, positions, record_of
from suphx.games.doudizhu.table import GAME_END, Rules, scores_of
from suphx.games.game import PlayedGame
from suphx.kernel.record import I64, Records


class DouDizhuTables(Simulator):
    """``Tables`` of games (suphx/games/game.py); agents get these tables themselves."""

    def __init__(self, num_tables: int, rules: Rules) -> None:
        """Make empty tables."""
        super().__init__(num_tables, rules)
        self.state = self
        self.num_moves = self.moves.num_moves
        self.shares: NDArray[np.float64] = np.zeros(num_tables)
        self._is_running = np.zeros(num_tables, np.bool_)

    def begin(self, indices: I64, seeds: Sequence[int]) -> None:
        """Deal new games at tables."""
        self.reset(seeds, indices)
        self._is_running[indices] = True

    def actors(self, indices: I64) -> I64:
        """Return the seat that is to move at each table."""
        actors: I64 = self.tables["actor"][indices]
        return actors

    def take_ended(self) -> I64:
        """Return the tables whose games have ended since the last call."""
        ended = np.flatnonzero(self._is_running & (self.tables["phase"] == GAME_END))
        self._is_running[ended] = False
        return ended

    def take_game(self, index: int, game_id: str, names: Sequence[str]) -> PlayedGame:
        """Return the game that has ended at a table; its points are counted with bombs, whatever a win is worth."""
        landlord, down, up = names
        record = record_of(self.tables[index], self.rules, (landlord, down, up))
        points = scores_of(self.tables[index : index + 1], "points")[0]
        return PlayedGame(game_id, tuple(points.tolist()), record)


class ScriptedPlayer:
    """A scripted agent."""

    def __init__(self, name: str) -> None:
        """``name``: one of AGENTS; ValueError for another."""
        agent_number(name)
        self.name = name

    def act(self, tables: Simulator, indices: I64) -> NDArray[np.integer]:
        """Return the agent's move at each of the tables ``indices``."""
        offsets, legal = tables.legal(indices)
        return legal[choose_scripted(tables.tables, tables.moves, indices, offsets, legal, self.name)]


def recorded_decisions(record: GameRecord) -> DouDizhuTables:
    """Return tables at which the decisions of a record are met: table i is the position before its move i.

    No table waits in a game without moves. ValueError for a move that is not legal.
    """
    return _at_tables(positions(record)[:-1], record.rules)


def next_decision(record: GameRecord) -> DouDizhuTables:
    """Return a table with the position after the moves of a record; ValueError for a move that is not legal."""
    return _at_tables(positions(record)[-1:], record.rules)


def _at_tables(tables: Records, rules: Rules) -> DouDizhuTables:
    own = DouDizhuTables(max(1, len(tables)), rules)
    own.tables[: len(tables)] = tables
    return own
