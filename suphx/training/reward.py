"""What a seat is paid for a kyoku (paper, section 3.2).

A reward is a function of how deals ended, all that a simulator has seen of them: ``round_score`` is the hand-made one
of the paper's RL-basic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suphx.selfplay.question import F32
from suphx.selfplay.trajectory import KyokuEnds

Reward = Callable[[KyokuEnds], F32]
"""Return points, float32 [n, 4], for each of n deals and each seat."""


def round_score(ends: KyokuEnds) -> F32:
    """Return the points that each seat won or lost in the kyoku, riichi sticks and honba included."""
    return (ends.scores_after - ends.scores_before).astype(np.float32)
