"""What a seat is paid for a kyoku (paper, section 3.2).

A reward is made of how deals ended, all that a simulator has seen of them. ``GlobalReward`` is that of the paper's
RL-1; without one, a seat is paid the points that it won or lost in the kyoku, as in RL-basic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.features.game_progress import GameProgress, encode_game_progress
from suphx.games.riichi.selfplay.table_group import KyokuEnds
from suphx.games.riichi.table import GAME_END
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, Records
from suphx.models.recurrent_predictor import F32, NUM_LAYERS, PredictorWeights, predict_next
from suphx.training.config import LastKyoku


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A predictor and how its predictions become rewards: all that a simulator needs, small and without torch."""

    weights: PredictorWeights
    points: tuple[float, float, float, float]
    """What first to fourth place are worth."""
    exchange_rate: float
    last_kyoku: LastKyoku

    @property
    def digest(self) -> str:
        """Hexadecimal digits that change whenever the predictor does."""
        digest = hashlib.sha256()
        for part in (*self.weights, self.points):
            digest.update(np.asarray(part).tobytes())
        return digest.hexdigest()[:16]


class GlobalReward:
    """Consumes: deals that ended, those of a table in order. Produces: rewards. It keeps the predictor's units for the
    game of each table; a game whose first deals are missing begins with the scores before the first deal that is there.
    """

    def __init__(self, prediction: Prediction, num_tables: int) -> None:
        self._prediction = prediction
        self._units = np.zeros((num_tables, 4, NUM_LAYERS, prediction.weights.num_units), np.float32)
        self._expected = np.full((num_tables, 4), np.nan, np.float32)  # nan: no deal of this table yet

    def __call__(self, ends: KyokuEnds) -> F32:
        """Return float32 [n, 4]: what the deal changed for each seat, in points of a game."""
        changes = np.zeros((len(ends.tables), 4), np.float32)
        if len(changes):
            before = GameProgress(
                round_scores=np.zeros_like(ends.scores_before),
                scores=ends.scores_before,
                kyoku=ends.kyoku,
                honba=ends.honba,
                kyotaku=ends.kyotaku,
                is_over=np.zeros(len(ends.kyoku), np.bool_),
            )
            after = GameProgress(
                round_scores=ends.next_scores - ends.scores_before,
                scores=ends.next_scores,
                kyoku=ends.next_kyoku,
                honba=ends.next_honba,
                kyotaku=ends.next_kyotaku,
                is_over=ends.placements[:, 0] > 0,
            )
            lines, starts = encode_game_progress(after), encode_game_progress(before)
            finals = np.full(ends.placements.shape, np.nan, np.float32)  # what seats are paid where that counts
            if self._prediction.last_kyoku == "paid":
                finals = np.array([np.nan, *self._prediction.points], np.float32)[ends.placements]
            _fill_changes(
                self._prediction.weights, ends.tables, ends.numbers == 0, starts, lines, finals, self._units,
                self._expected, changes,
            )  # fmt: skip
        return changes * np.float32(self._prediction.exchange_rate)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""
        return {"units": self._units.copy(), "expected": self._expected.copy()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state``."""
        self._units, self._expected = state["units"].copy(), state["expected"].copy()


@jit
def _fill_changes(
    weights: PredictorWeights, tables: I64, is_first: NDArray[np.bool_], starts: F32, lines: F32, finals: F32,
    units: F32, expected: F32, changes: F32,
) -> None:  # fmt: skip
    """Fill ``changes`` [n, 4] deal by deal: a table may have ended several."""
    for n in range(len(tables)):
        table = tables[n]
        for seat in range(4):
            own = units[table, seat]
            if is_first[n] or np.isnan(expected[table, seat]):
                own[:] = 0
                expected[table, seat] = predict_next(weights, starts[n, seat], own)
            now = predict_next(weights, lines[n, seat], own)
            if not np.isnan(finals[n, seat]):
                now = finals[n, seat]
            changes[n, seat] = now - expected[table, seat]
            expected[table, seat] = now


DealReward = Callable[[Records, Records], F32]
"""(tables before, the same tables when the deal is counted) -> points, float32 [n, 4] by seat."""


def points_won(before: Records, after: Records) -> F32:
    """Return the points that each seat won or lost, riichi sticks and honba included, float32 [n, 4]."""
    return np.asarray(after["scores"] - before["scores"], np.float32)


class PredictedChange:
    """By how much a deal changed what the game is expected to be worth (paper, section 3.2). The predictor sees a game
    that begins with this deal: earlier deals are not known here.
    """

    def __init__(self, prediction: Prediction) -> None:
        self._prediction = prediction

    def __call__(self, before: Records, after: Records) -> F32:
        """Return float32 [n, 4], in points of a game times the exchange rate."""
        return GlobalReward(self._prediction, len(after))(_ends(before, after))


def _ends(before: Records, after: Records) -> KyokuEnds:
    is_over = after["phase"] == GAME_END
    return KyokuEnds(
        tables=np.arange(len(after)),
        games=after["wall_seed"],
        numbers=np.zeros(len(after), np.int32),
        kyoku=before["kyoku"].astype(np.int32),
        honba=before["honba"].astype(np.int32),
        kyotaku=before["kyotaku"].astype(np.int32),
        scores_before=before["scores"],
        scores_after=after["scores"],
        placements=np.where(is_over[:, None], after["placement"], 0).astype(np.int8),
        next_kyoku=after["kyoku"].astype(np.int32),
        next_honba=after["honba"].astype(np.int32),
        next_kyotaku=after["kyotaku"].astype(np.int32),
        next_scores=after["scores"],
    )
