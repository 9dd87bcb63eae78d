"""Walls drawn from a distribution, and what a test decides of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.sequential_test import FIRST_LOOK, LOOK_EVERY, Decision, SequentialTest, WallSums

NORMAL_WALLS = np.round(np.random.default_rng(0).normal(0.0, 2.4, 5_000)).astype(np.int64)
"""Whole numbers as of a match of one against three, whose unit is a quarter of a place."""

MEASURED_WALLS = np.repeat(np.arange(-6, 7), [4, 15, 42, 109, 222, 373, 417, 370, 264, 119, 47, 17, 1])
"""The 2,000 walls of a real match: tiny nets that imitate ukeire against the same nets stopped earlier (``:weak``).

``suphx run laptop --set records.played_games=300 --set supervised.max_epochs=2 --set supervised.total_minutes=0``,
then
``python benchmarks/sequential.py --candidate RUN/supervised --opponent RUN/supervised:weak --hanchans 8000
--seed 3``."""


def simulated_walls(
    walls: NDArray[np.int64], effect: float, number: int, rng: np.random.Generator, *, unit: float = 0.25
) -> NDArray[np.int64]:
    """Draw ``number`` of ``walls`` and move some of them by 1, so that the mean gain is ``effect``."""
    drawn = rng.choice(walls, number)
    shift = effect / unit - walls.mean()
    moved = np.floor(shift) + (rng.random(number) < shift - np.floor(shift))
    result: NDArray[np.int64] = drawn + moved.astype(np.int64)
    return result


def decide(test: SequentialTest, walls: NDArray[np.int64]) -> tuple[Decision, int]:
    """Return the decision and after how many walls it fell, look by look; all walls if there is none."""
    sums = np.stack([walls, walls**2, walls != 0]).cumsum(axis=1)
    for number in range(FIRST_LOOK, len(walls) + 1, LOOK_EVERY):
        decision = test.decide(WallSums(number, *sums[:, number - 1].tolist()))
        if decision != "undecided":
            return decision, number
    return "undecided", len(walls)
