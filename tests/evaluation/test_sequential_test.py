"""When a match is decided: the ratio, its bounds and intervals, on walls that are drawn from distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.sequential import MeasuredWalls, simulate_match, simulate_matches
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.sequential import MatchWatch, always_valid_interval
from suphx.evaluation.sequential_test import FIRST_LOOK, LOOK_EVERY, Decision, SequentialTest, WallScale, WallSums
from suphx.kernel.record import I64
from tests.evaluation.simulated_walls import MEASURED_WALLS, NORMAL_WALLS, decide, simulated_walls

SCALE = WallScale(unit=0.25, spread=0.56, largest=1.5)
PLACES = SequentialConfig().gains()[0].scale


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


# matches whose parts come in any order


def rows_of(values: I64) -> I64:
    """Return outcomes of walls that ``PLACEMENT.wall_sums`` turns into ``values`` [walls]."""
    outcomes: I64 = np.outer(values + 10, [1, 0, 0, 0])
    return outcomes


def test_the_test_is_asked_after_24_walls_and_then_every_8_and_a_wall_counts_once() -> None:
    watch = MatchWatch(SequentialConfig(difference=0.5), max_deals=100)
    assert watch.add(0, rows_of(np.full(FIRST_LOOK - 1, -4)))
    assert not watch.is_decided, "clear already, but not a look"
    assert not watch.add(FIRST_LOOK + 8, rows_of(np.full(8, -4))), "behind a gap"
    for first in (0, FIRST_LOOK + 8):
        with pytest.raises(ValueError, match=f"deal {first} has a result already"):
            watch.add(first, rows_of(np.full(1, -4)))
    watch.add(FIRST_LOOK - 1, rows_of(np.full(9, -4)))
    assert (watch.outcome().decision, watch.outcome().deals) == ("better", FIRST_LOOK)
    assert watch.outcome().intervals["points"].high > watch.outcome().intervals["points"].low


@pytest.mark.parametrize("seed", range(20))
def test_blocks_in_any_order_decide_the_same_at_the_same_wall(seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = SequentialConfig(difference=0.2, error=0.05)
    walls = simulated_walls(NORMAL_WALLS, 0.15, 400, rng)
    watch = MatchWatch(config, len(walls))
    for block in rng.permutation(len(walls) // LOOK_EVERY):
        first = int(block) * LOOK_EVERY
        if not watch.is_decided:
            watch.add(first, rows_of(-walls[first : first + LOOK_EVERY]))
    assert (watch.outcome().decision, watch.outcome().deals) == decide(config.test(), -walls)


def play_night(config: SequentialConfig, sums: I64, rng: np.random.Generator) -> tuple[Decision, int]:
    """Decide a night whose parts arrive in an order that favours good results, by workers that die now and then.

    A worker that dies loses its part; the repeated command has a new watch, which gets all finished parts first.
    """
    finished: list[int] = []
    waiting = list(range(0, len(sums), LOOK_EVERY))
    watch = MatchWatch(config, len(sums))
    while waiting and not watch.is_decided:
        if rng.random() < 0.05:  # a worker dies
            watch = MatchWatch(config, len(sums))
            for first in finished:
                watch.add(first, rows_of(sums[first : first + LOOK_EVERY]))
        good_first = min(waiting[:8], key=lambda first: sums[first : first + LOOK_EVERY].sum())
        waiting.remove(good_first)
        finished.append(good_first)
        watch.add(good_first, rows_of(sums[good_first : good_first + LOOK_EVERY]))
    return watch.outcome().decision, watch.outcome().deals


def test_equal_candidates_are_rarely_promoted_whatever_the_order_of_the_parts() -> None:
    rng = np.random.default_rng(11)
    config, promoted = SequentialConfig(difference=0.3, error=0.05), 0
    for night in range(200):
        sums = rng.integers(-1, 3, (160, 4)).sum(axis=1) - 2  # of the four games of each wall, among equal players
        decision = play_night(config, sums, rng)
        if night % 10 == 0:
            assert decision == decide(config.test(), sums)
        promoted += decision[0] == "better"
    assert promoted / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


# simulated matches (benchmarks/sequential.py), on which docs/evaluation.md relies


@pytest.mark.parametrize("seed", range(10))
def test_a_simulated_match_ends_where_a_real_one_does(seed: int) -> None:
    test = SequentialConfig(difference=0.15, error=0.05).test()
    walls = MeasuredWalls(NORMAL_WALLS, PLACES).with_gain(0.1)
    decision = simulate_match(test, walls, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([walls.draw((1, FIRST_LOOK), rng).ravel(), walls.draw((64, LOOK_EVERY), rng).ravel()])
    assert decide(test, drawn) == decision


def test_errors_stay_within_the_promised_rate_and_use_it() -> None:
    """With Wald's bound only 2 % would be wrong: it is for a test that looks after every step, however small."""
    test = SequentialConfig(difference=0.25, error=0.05).test()
    measured = MeasuredWalls(NORMAL_WALLS, PLACES)
    rng = np.random.default_rng(3)
    equal, better = (simulate_matches(test, measured.with_gain(gain), matches=2_000, rng=rng) for gain in (0.0, 0.25))
    for wrong in (equal.better, 1 - better.better):
        assert 0.03 < wrong < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 2_000)
    assert equal.standard_error < 0.03 * equal.mean_hanchans


@pytest.mark.parametrize("gain", [0.0, 0.05])
def test_no_more_decisions_are_wrong_than_promised_where_two_sides_play(gain: float) -> None:
    config = SequentialConfig(decides="share", difference=0.05, error=0.05)
    decks = MeasuredWalls(np.repeat([-1, 0, 1], [30, 45, 25]), config.gains()[0].scale).with_gain(gain)
    found = simulate_matches(config.test(), decks, matches=400, rng=np.random.default_rng(1))
    wrong = 1 - found.better if gain else found.better
    assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.slow
@pytest.mark.parametrize(("difference", "hanchans", "matches"), [(0.05, 2_000, 6_000), (0.02, 12_200, 4_000)])
def test_small_differences_are_decided_within_the_hanchans_of_the_page(
    difference: float, hanchans: int, matches: int
) -> None:
    """On walls of real nets, with errors of 5 % each, on average of equal agents and a better one.

    The bounds are those of docs/evaluation.md, without an allowance for the chance in the simulation.
    """
    test = SequentialConfig(difference=difference, error=0.05).test()
    measured = MeasuredWalls(MEASURED_WALLS, PLACES)
    rng = np.random.default_rng(1)
    equal, better = (
        simulate_matches(test, measured.with_gain(gain), matches=matches, rng=rng) for gain in (0.0, difference)
    )
    assert (equal.mean_hanchans + better.mean_hanchans) / 2 < hanchans
    for wrong in (equal.better, 1 - better.better):
        assert wrong < 0.05 + 2 * math.sqrt(0.05 * 0.95 / matches)
