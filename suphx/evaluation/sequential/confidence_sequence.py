"""An interval that may be looked at after every wall: an asymptotic confidence sequence.

A usual 95 % interval is right in 95 of 100 matches if it is looked at once. Anyone who looks again and again, and stops
when it excludes zero, is wrong far more often. This one is right at all times together, for a large number of walls, in
95 of 100 matches: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic
confidence sequences", Annals of Statistics 52 (2024), arXiv 2103.06476, theorem 2.2 and its equation for rho.
"""

from __future__ import annotations

import math

from suphx.evaluation.sequential.wall_sums import WallScale, WallSums
from suphx.evaluation.statistics import LEVEL, Interval


def always_valid_interval(sums: WallSums, scale: WallScale, *, narrowest_at: int, level: float = LEVEL) -> Interval:
    """Return the interval of the mean gain that holds at all times together; infinite without walls.

    It is the narrowest possible after about ``narrowest_at`` walls, which must not depend on the results.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}: use a number between 0 and 1, such as 0.95")
    if narrowest_at < 1:
        raise ValueError(f"narrowest_at is {narrowest_at}: use 1 wall or more")
    if sums.walls < 1:
        return Interval(-math.inf, math.inf)
    radius = math.sqrt(scale.variance(sums)) * _unit_radius(sums.walls, narrowest_at, 1 - level)
    return Interval(scale.mean(sums) - radius, scale.mean(sums) + radius)


def _unit_radius(walls: int, narrowest_at: int, error: float) -> float:
    """Return half the width for a standard deviation of 1."""
    rho_squared = (-2 * math.log(error) + math.log(-2 * math.log(error) + 1)) / narrowest_at
    grown = walls * rho_squared + 1
    return math.sqrt(2 * grown / (walls**2 * rho_squared) * math.log(math.sqrt(grown) / error))
