from __future__ import annotations

import math

import numpy as np
import pytest

from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.sequential import always_valid_interval
from suphx.evaluation.sequential_test import (
    FIRST_LOOK,
    LOOK_EVERY,
    SequentialState,
    SequentialTest,
    WallScale,
    WallSums,
    is_look,
)
from tests.evaluation.simulated_walls import NORMAL_WALLS, decide, simulated_walls

SCALE = WallScale(unit=0.25, spread=0.56, largest=1.5)


def test_the_radius_is_the_formula_of_the_paper() -> None:
    """With rho = 0.2, 50 walls and an error of 5 %, computed by hand from theorem 2.2."""
    rho = 0.2
    narrowest_at = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / rho**2
    by_hand = math.sqrt(2 * 3 / (50**2 * 0.04) * math.log(math.sqrt(3) / 0.05))
    sums, scale = WallSums(50, 0, 50, 50), WallScale(unit=1.0, spread=0.0, largest=1.5)  # a standard deviation of 1
    interval = always_valid_interval(sums, scale, narrowest_at=narrowest_at)  # type: ignore[arg-type]  # not whole
    assert (interval.low, interval.high) == pytest.approx((-by_hand, by_hand))


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


def test_the_ratio_is_that_of_the_likelihoods() -> None:
    """Against the likelihood of normal walls, maximised over the variance on a grid."""
    values = np.random.default_rng(1).normal(0.1, 0.6, 200)
    scale = WallScale(unit=0.001, spread=0.0, largest=10.0)
    whole = np.round(values / scale.unit).astype(int)
    test = SequentialTest(scale, gain=0.1, error=0.01)
    variances = np.linspace(0.1, 1, 20_001)[:, None]

    def log_likelihood(mean: float) -> float:
        squares = np.sum((whole * scale.unit - mean) ** 2)
        return float(np.max(-len(whole) / 2 * np.log(variances) - squares / (2 * variances)))

    expected = log_likelihood(0.1) - log_likelihood(0.0)
    assert test.log_likelihood_ratio(WallSums().with_walls(whole)) == pytest.approx(expected, abs=1e-4)


def test_the_test_is_asked_after_24_walls_and_then_every_8() -> None:
    assert [walls for walls in range(50) if is_look(walls)] == [24, 32, 40, 48]
    test = SequentialTest(SCALE, gain=1.0, error=0.05)
    state = SequentialState().with_block(0, [4] * (FIRST_LOOK - 1), test)
    assert test.decide(state.sums) == "better"
    assert state.decision == "undecided", "clear already, but not a look"
    state = state.with_block(FIRST_LOOK - 1, [4] * 20, test)
    assert (state.decision, state.sums.walls) == ("better", FIRST_LOOK)


def test_agents_that_play_alike_are_not_called_different_at_once() -> None:
    test = SequentialTest(SCALE, gain=0.02, error=0.01)
    # if 1 wall in 75 had the largest gain, 344 walls without any would be as unlikely as the error: 0.01
    assert decide(test, np.zeros(400, np.int64)) == ("not_better", 352)


@pytest.mark.parametrize(("lost", "gained"), [(0.0, 0.04), (0.01, 0.05), (0.03, 0.07)])
def test_agents_that_rarely_differ_are_not_judged_by_the_walls_on_which_they_do_not(lost: float, gained: float) -> None:
    """Better by what is tested: without ``MIN_DIFFERING``, 14, 6 and 2 % of these matches were decided wrongly."""
    test = SequentialConfig(decides="share", difference=0.02, error=0.01).test()
    rng = np.random.default_rng(5)
    shares = [lost, 1 - lost - gained, gained]
    found = [decide(test, rng.choice([-1, 0, 1], 4_000, p=shares))[0] for _ in range(300)]
    assert found.count("not_better") / len(found) < 0.01 + 2 * math.sqrt(0.01 * 0.99 / len(found))
    assert found.count("undecided") / len(found) < 0.1


def test_the_walls_that_are_expected_include_those_until_enough_differ() -> None:
    test = SequentialConfig(decides="share", difference=0.02, error=0.01).test()
    alike = WallSums().with_walls([0] * 100)
    assert test.decide(alike) == "undecided"
    assert test.expected_walls(alike) == pytest.approx(-math.log(0.01) * 0.5 / 0.02 - 100)
    few = WallSums().with_walls([0] * 90 + [1] * 10)
    assert test.expected_walls(few) >= 20


@pytest.mark.parametrize("seed", range(20))
def test_blocks_in_any_order_decide_the_same_at_the_same_wall(seed: int) -> None:
    rng = np.random.default_rng(seed)
    walls = simulated_walls(NORMAL_WALLS, 0.15, 400, rng)
    test = SequentialTest(SCALE, gain=0.2, error=0.05)
    expected = decide(test, walls)
    state = SequentialState()
    for block in rng.permutation(len(walls) // LOOK_EVERY):
        first = int(block) * LOOK_EVERY
        if first >= state.sums.walls and state.decision == "undecided":
            state = state.with_block(first, walls[first : first + LOOK_EVERY].tolist(), test)
    assert (state.decision, state.sums.walls) == expected


def test_a_wall_counts_once() -> None:
    test = SequentialTest(SCALE, gain=0.1, error=0.05)
    state = SequentialState().with_block(0, [1, 2], test).with_block(4, [3], test)
    assert state.sums == WallSums(2, 3, 5, 2)
    for first in (0, 4):
        with pytest.raises(ValueError, match=f"wall {first} has a result already"):
            state.with_block(first, [1], test)


def test_the_expected_walls_are_those_that_simulations_need() -> None:
    """A mean that is known well, so that the drift is: 0.1 against H1 0.1, from the ratio 0."""
    test = SequentialTest(SCALE, gain=0.1, error=0.05)
    rng = np.random.default_rng(7)
    needed = [decide(test, simulated_walls(NORMAL_WALLS, 0.1, 4_000, rng))[1] for _ in range(300)]
    early = WallSums().with_walls(simulated_walls(NORMAL_WALLS, 0.05, FIRST_LOOK, rng))
    assert math.isinf(test.expected_walls(WallSums(FIRST_LOOK - 1, 0, 9)))
    assert 0.3 * np.mean(needed) < test.expected_walls(early) < 1.5 * np.mean(needed)
    decided = WallSums().with_walls(simulated_walls(NORMAL_WALLS, 0.5, 400, rng))
    assert test.expected_walls(decided) == 0
