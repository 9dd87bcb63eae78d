from __future__ import annotations

import math

import numpy as np
import pytest

from suphx.evaluation.sequential.confidence_sequence import _unit_radius, always_valid_interval
from suphx.evaluation.sequential.wall_sums import WallScale, WallSums
from suphx.evaluation.statistics import Interval
from tests.evaluation.sequential.simulated_walls import NORMAL_WALLS, simulated_walls

SCALE = WallScale(unit=0.25, spread=0.56, largest=1.5)


def test_the_radius_is_the_formula_of_the_paper() -> None:
    """With rho = 0.2, 50 walls and an error of 5 %, computed by hand from theorem 2.2."""
    rho = 0.2
    narrowest_at = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / rho**2
    by_hand = math.sqrt(2 * 3 / (50**2 * 0.04) * math.log(math.sqrt(3) / 0.05))
    assert _unit_radius(50, narrowest_at, 0.05) == pytest.approx(by_hand)  # type: ignore[arg-type]  # not whole


def test_the_interval_is_narrowest_relative_to_other_choices_where_it_is_asked_to_be() -> None:
    at_100 = [_unit_radius(100, narrowest_at, 0.05) for narrowest_at in (25, 50, 100, 200, 400)]
    assert min(at_100) == at_100[2]


def test_it_holds_at_all_times_together_and_a_usual_interval_does_not() -> None:
    rng = np.random.default_rng(5)
    misses = {"always valid": 0, "usual": 0}
    matches = 300
    for _ in range(matches):
        walls = simulated_walls(NORMAL_WALLS, 0.0, 600, rng)
        sums, outside = WallSums().with_walls(walls[:24]), {"always valid": False, "usual": False}
        for first in range(24, 600, 8):
            interval = always_valid_interval(sums, SCALE, narrowest_at=150)
            radius = 1.96 * math.sqrt(SCALE.variance(sums) / sums.walls)
            outside["always valid"] |= interval.excludes(0.0)
            outside["usual"] |= abs(SCALE.mean(sums)) > radius
            sums = sums.with_walls(walls[first : first + 8])
        for name, is_out in outside.items():
            misses[name] += is_out
    assert misses["always valid"] / matches < 0.05
    assert misses["usual"] / matches > 0.15


def test_without_walls_anything_is_possible() -> None:
    assert always_valid_interval(WallSums(), SCALE, narrowest_at=100) == Interval(-math.inf, math.inf)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="level is 95"):
        always_valid_interval(WallSums(1, 1, 1), SCALE, narrowest_at=100, level=95)
    with pytest.raises(ValueError, match="narrowest_at is 0"):
        always_valid_interval(WallSums(1, 1, 1), SCALE, narrowest_at=0)
