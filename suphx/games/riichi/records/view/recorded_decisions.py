"""All decisions of a recorded game as arrays, and what an agent thinks of them: the viewer and reviews read these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.records.view.kyoku_walk import KyokuWalk
from suphx.games.riichi.table.table import TABLE
from suphx.kernel.record import I16, I64, Records

NO_ACTION = -1


@dataclass(frozen=True, slots=True)
class RecordedDecisions:
    """The decisions of a game in order, forced ones included."""

    tables: Records
    """TABLE records (n,): each before its decision."""
    actions: I16
    """int16 (n,): what the actor did."""
    is_known: NDArray[np.bool_]
    """(n,): the action is the actor's own wish (``Decision.is_known``)."""
    kyokus: I64
    """int64 (n,): index of the deal."""


@dataclass(frozen=True, slots=True)
class Opinions:
    """What an agent would do at each of the decisions of ``RecordedDecisions``."""

    name: str
    """Of the agent."""
    actions: I16
    """int16 (n,), NO_ACTION where the agent never comes into such a position."""
    probabilities: NDArray[np.float32]
    """float32 (n, NUM_ACTIONS) by action, NaN where no net was asked (``move_probabilities``)."""


def recorded_decisions(game: GameLog) -> RecordedDecisions:
    """Return all decisions of ``game``; ValueError when its moves contradict the rules."""
    tables, actions, is_known, kyokus = [], [], [], []
    for index in range(len(game.kyokus)):
        walk = KyokuWalk(game, index)
        for decision in walk:
            tables.append(walk.tables.copy())
            actions.append(decision.action)
            is_known.append(decision.is_known)
            kyokus.append(index)
    return RecordedDecisions(
        np.concatenate(tables) if tables else np.zeros(0, TABLE),
        np.array(actions, np.int16),
        np.array(is_known, np.bool_),
        np.array(kyokus, np.int64),
    )
