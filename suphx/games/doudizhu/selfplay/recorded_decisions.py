"""The decisions of a recorded game, so that an agent can be asked about all of them at once."""

from __future__ import annotations

import numpy as np

from suphx.games.candidate_game import RecordedDecisions
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.engine.table import GAME_END, NUM_SEATS
from suphx.games.doudizhu.records.game_record import GameRecord, positions
from suphx.games.doudizhu.selfplay.table_group import observe_seat
from suphx.kernel.record import Records


def recorded_decisions(record: GameRecord) -> RecordedDecisions:
    """Return what each seat saw before each of its moves; table i of the simulator is the position before move i.

    A game without moves has no decisions. ValueError for a move that is not legal.
    """
    if not record.moves:
        return RecordedDecisions(Simulator(1, record.rules), ())
    return _decisions(positions(record)[:-1], record.rules)


def next_decision(record: GameRecord) -> RecordedDecisions | None:
    """Return what the seat that is to move after the moves of a record sees, at a single table.

    None if the game is over; ValueError for a move that is not legal.
    """
    table = positions(record)[-1:]
    return None if table["phase"][0] == GAME_END else _decisions(table, record.rules)


def _decisions(tables: Records, rules: Rules) -> RecordedDecisions:
    simulator = Simulator(len(tables), rules)
    simulator.tables[:] = tables
    parts = [(seat, np.flatnonzero(tables["actor"] == seat)) for seat in range(NUM_SEATS)]
    return RecordedDecisions(simulator, tuple(observe_seat(simulator, *part) for part in parts if part[1].size))
