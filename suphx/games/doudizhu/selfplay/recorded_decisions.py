"""The decisions of a recorded game, so that an agent can be asked about all of them at once."""

from __future__ import annotations

import numpy as np

from suphx.games.candidate_game import RecordedDecisions
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.engine.table import NUM_SEATS
from suphx.games.doudizhu.records.game_record import GameRecord, positions
from suphx.games.doudizhu.selfplay.table_group import observe_seat


def recorded_decisions(record: GameRecord) -> RecordedDecisions:
    """Return what each seat saw before each of its moves; table i of the simulator is the position before move i.

    ValueError for a move that is not legal, and for a game without moves.
    """
    if not record.moves:
        raise ValueError("the game has no moves: there is no decision to compare")
    tables = positions(record)[:-1]
    simulator = Simulator(len(tables), record.rules)
    simulator.tables[:] = tables
    parts = [(seat, np.flatnonzero(tables["actor"] == seat)) for seat in range(NUM_SEATS)]
    return RecordedDecisions(simulator, tuple(observe_seat(simulator, *part) for part in parts if part[1].size))
