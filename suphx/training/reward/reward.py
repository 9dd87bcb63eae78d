"""What a seat is paid for a kyoku (paper, section 3.2).

A reward is made of how deals ended, all that a simulator has seen of them: ``RoundScore`` is the hand-made one of the
paper's RL-basic, ``GlobalReward`` that of RL-1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from suphx.experience.observation import F32
from suphx.games.riichi import KyokuEnds
from suphx.training.reward.global_reward import GlobalReward, Prediction


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
