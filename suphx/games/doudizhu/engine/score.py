"""What a finished game is worth to each seat."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.games.doudizhu.engine.rules import Scoring
from suphx.games.doudizhu.engine.table import GAME_END, LANDLORD, NUM_SEATS
from suphx.kernel.record import Records

F32: TypeAlias = NDArray[np.float32]


def scores_of(tables: Records, scoring: Scoring) -> F32:
    """Return float32 [n, 3] by seat: what each seat of n tables won (> 0) or lost (< 0); 0 while a game goes on.

    The peasants win and lose together. Every seat's score has the same size, as DouZero's returns have; counted in
    points on the table, the landlord's is worth twice as much.
    """
    bombs, stake = tables["num_bombs"].astype(np.float32), np.maximum(tables["stake"], 1).astype(np.float32)
    points, logarithm = stake * np.exp2(bombs), bombs + np.log2(stake) + 1
    worth = {"win": np.ones_like(bombs), "points": points, "log points": logarithm}[scoring]
    landlord_wins = tables["winner"] == LANDLORD
    signs = np.where(np.arange(NUM_SEATS) == LANDLORD, 1, -1) * np.where(landlord_wins, 1, -1)[:, None]
    return (signs * worth[:, None] * (tables["phase"] == GAME_END)[:, None]).astype(np.float32)
