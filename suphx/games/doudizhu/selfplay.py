"""Games side by side, for agents in matches and in training, and the decisions of recorded games."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import SeatObservations
from suphx.games.doudizhu.bots import agent_number, choose_scripted
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.features import encode_states
from suphx.games.doudizhu.records.game_record import GameRecord, positions, record_of
from suphx.games.doudizhu.table import F32, GAME_END, NUM_SEATS, Rules, scores_of
from suphx.games.game import CandidateAgent, PlayedGame, RecordedDecisions
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

    def observe(self, indices: I64) -> list[SeatObservations]:
        """Return what the seats that are to move at ``indices`` see, one part for each of these seats."""
        actors, seen = self.actors(indices), []
        for seat in range(NUM_SEATS):
            own = indices[actors == seat]
            if own.size:
                states, history = encode_states(self.tables, self.moves, own, seat)
                seen.append(SeatObservations(seat, own, states, history, *self.legal(own), self.num_moves))
        return seen

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


class ScriptedPlayer(CandidateAgent):
    """A scripted agent."""

    def __init__(self, name: str) -> None:
        """``name``: one of AGENTS; ValueError for another."""
        agent_number(name)
        self.name = name

    def choose(self, tables: Simulator, seen: SeatObservations) -> I64:
        """Return the agent's choices, as ``CandidateAgent.choose``."""
        return choose_scripted(tables.tables, tables.moves, seen.tables, seen.offsets, seen.moves, self.name)


def play_to_end(tables: DouDizhuTables, player: CandidateAgent) -> F32:
    """Play all games, which have been dealt, with ``player`` at all seats; return what they were worth to each seat."""
    while (waiting := tables.waiting()).size:
        for seen in tables.observe(waiting):
            tables.advance(seen.tables, seen.moves[player.choose(tables, seen)])
    return tables.scores()


def recorded_decisions(record: GameRecord) -> RecordedDecisions:
    """Return what each seat saw before each of its moves; table i of the simulator is the position before move i.

    A game without moves has no decisions. ValueError for a move that is not legal.
    """
    if not record.moves:
        return RecordedDecisions(DouDizhuTables(1, record.rules), ())
    return _decisions(positions(record)[:-1], record.rules)


def next_decision(record: GameRecord) -> RecordedDecisions | None:
    """Return what the seat that is to move after the moves of a record sees, at a single table.

    None if the game is over; ValueError for a move that is not legal.
    """
    table = positions(record)[-1:]
    return None if table["phase"][0] == GAME_END else _decisions(table, record.rules)


def _decisions(tables: Records, rules: Rules) -> RecordedDecisions:
    own = DouDizhuTables(len(tables), rules)
    own.tables[:] = tables
    return RecordedDecisions(own, tuple(own.observe(np.arange(len(tables)))))
