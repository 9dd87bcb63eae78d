"""The moves that a person may make at a table, as plain values; riichi and its discard are one move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.records.view.recorded_decisions import NO_ACTION
from suphx.games.riichi.records.view.viewer_decision import same_move, viewer_decision, viewer_move
from suphx.games.riichi.table.action import RIICHI, TSUMOGIRI
from suphx.games.riichi.table.rules import Rules
from suphx.kernel.record import Records

ONLY_TABLE = np.zeros(1, np.int64)


def offered_moves(tables: Records, rules: Rules) -> list[dict[str, Any]]:
    """Return the legal moves of the actor of the only table (1,), which waits for it.

    ``[{"action", "move", "faces", "is_drawn", "discards"}]``: ``move`` and ``faces`` as in ``viewer_move``;
    ``is_drawn``: the discard of the tile just drawn; ``discards``: actions of the discards that may follow a riichi.
    """
    table = tables[0]
    moves = []
    for action in np.flatnonzero(table["legal"]).tolist():
        discards = legal_actions(after_riichi(tables, rules)) if action == RIICHI else []
        move = viewer_move(table, action)
        moves.append({"action": action, **move, "is_drawn": action == TSUMOGIRI, "discards": discards})
    return moves


def after_riichi(tables: Records, rules: Rules) -> Records:
    """Return a copy of the only table (1,) at which the actor has declared riichi and has to discard."""
    simulator = Simulator(1, rules, stops_at_kyoku_end=True)
    simulator.tables[:] = tables
    simulator.advance(ONLY_TABLE, np.array([RIICHI], np.int16))
    return simulator.tables


def legal_actions(tables: Records) -> list[int]:
    """Return the legal actions of the actor of the only table (1,)."""
    return [int(action) for action in np.flatnonzero(tables[0]["legal"])]


def move_hint(table: Any, action: int, probabilities: NDArray[np.float32]) -> dict[str, Any]:
    """Return what an agent would do at a TABLE record, and how probable each move is to it.

    ``{"moves": [{"move", "faces", "p"}], "agent", "best"}``: the first two as in ``viewer_decision``; ``best``: all
    actions that are the agent's move. ``action``: its choice, or NO_ACTION; ``probabilities`` float32 (NUM_ACTIONS,),
    NaN for none.
    """
    legal = np.flatnonzero(table["legal"]).tolist()
    decision = viewer_decision(table, legal[0], is_known=False, opinion=action, probabilities=probabilities)
    has_answer = action != NO_ACTION
    best = [each for each in legal if has_answer and same_move(table, each) == same_move(table, action)]
    return {"moves": decision["moves"], "agent": decision["agent"], "best": best}
