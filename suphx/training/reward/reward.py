"""What a seat is paid for a kyoku (paper, section 3.2).

A reward is made of how deals ended, all that a simulator has seen of them: ``RoundScore`` is the hand-made one of the
paper's RL-basic, ``GlobalReward`` that of RL-1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from suphx.experience.observation import F32
from suphx.games.riichi import GAME_END, KyokuEnds
from suphx.kernel.record import Records
from suphx.training.reward.global_reward import GlobalReward, Prediction

DealReward = Callable[[Records, Records], F32]
"""(tables before, the same tables when the deal is counted) -> points, float32 [n, 4] by seat."""


def points_won(before: Records, after: Records) -> F32:
    """Return the points that each seat won or lost, riichi sticks and honba included, float32 [n, 4]."""
    return np.asarray(after["scores"] - before["scores"], np.float32)


class PredictedChange:
    """By how much the deal changed what the game is expected to be worth (paper, section 3.2).

    The predictor sees a game that begins with this deal, at the scores that it began with: earlier deals are not known
    here.
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


class Reward(Protocol):
    """Rewards of the deals of some tables; it may remember what it has seen of their games."""

    def __call__(self, ends: KyokuEnds) -> F32:
        """Return points, float32 [n, 4], for each of n deals, those of a table in order, and each seat."""
        ...

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""
        ...

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of an equal reward."""
        ...


class RoundScore:
    """The points that each seat won or lost in the kyoku, riichi sticks and honba included."""

    def __call__(self, ends: KyokuEnds) -> F32:
        """Return float32 [n, 4]."""
        return (ends.scores_after - ends.scores_before).astype(np.float32)

    def state(self) -> dict[str, np.ndarray]:
        """Return nothing: every deal stands for itself."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Change nothing."""


def new_reward(prediction: Prediction | None, num_tables: int) -> Reward:
    """Return the reward of ``num_tables`` tables: differences of a prediction, or round scores where there is none."""
    return RoundScore() if prediction is None else GlobalReward(prediction, num_tables)
