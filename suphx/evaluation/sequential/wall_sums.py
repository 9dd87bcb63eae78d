"""Sums over walls: all that the sequential test and the confidence sequence need to know of a match."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WallSums:
    """Number, sum and sum of squares of whole numbers, one for each wall; exact, so the order of walls is no matter."""

    walls: int = 0
    total: int = 0
    squares: int = 0
    differing: int = 0
    """Walls whose number is not 0: on the others the agents came out alike."""

    def with_walls(self, values: Iterable[int]) -> WallSums:
        """Return the sums with these walls added."""
        numbers = [int(value) for value in values]
        return WallSums(
            self.walls + len(numbers),
            self.total + sum(numbers),
            self.squares + sum(value * value for value in numbers),
            self.differing + sum(value != 0 for value in numbers),
        )


@dataclass(frozen=True, slots=True)
class WallScale:
    """How whole numbers of walls become a gain, for which more is better."""

    unit: float
    """The gain of a wall with the number 1; negative where fewer are better."""
    spread: float
    """Standard deviation that one wall, which is added to the measured ones, is assumed to have.

    Without it, agents that play the first walls exactly alike would have a variance of 0, and any test would end."""
    largest: float
    """The largest gain that a wall can have, or more."""

    def mean(self, sums: WallSums) -> float:
        """Return the mean gain; nan without any wall."""
        return self.unit * sums.total / sums.walls if sums.walls else math.nan

    def squares_around(self, sums: WallSums, gain: float) -> float:
        """Return the sum of squared deviations from ``gain``, with the wall that is added."""
        around = self.unit**2 * sums.squares - 2 * gain * self.unit * sums.total + sums.walls * gain**2
        return max(around, 0.0) + self.spread**2

    def variance(self, sums: WallSums) -> float:
        """Return the variance of a wall's gain."""
        return self.squares_around(sums, self.mean(sums)) / sums.walls
