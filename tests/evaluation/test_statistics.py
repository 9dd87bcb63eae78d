from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from suphx.evaluation.stable_rank import rank_terms, ranks_of
from suphx.evaluation.statistics import (
    Interval,
    expanded_level,
    mean_interval,
    paired_difference,
    percentile_interval,
    proportion_interval,
    resample_sums,
    stable_rank_interval,
)

SUPHX = [769, 810, 737, 514]


def test_resampled_sums_scatter_as_the_slow_bootstrap_does() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 6, (50, 2))
    fast = resample_sums(rows, 20_000, seed=1)
    slow = np.array([rows[rng.integers(0, 50, 50)].sum(axis=0) for _ in range(20_000)])
    assert fast.shape == slow.shape
    assert np.allclose(fast.mean(axis=0), slow.mean(axis=0), rtol=0.01)
    assert np.allclose(np.cov(fast.T), np.cov(slow.T), rtol=0.1, atol=1.5)


@pytest.mark.parametrize("num_clusters", [6, 10, 25])
def test_intervals_of_few_clusters_hold_the_truth_as_often_as_they_say(num_clusters: int) -> None:
    rng = np.random.default_rng(9)
    means = rng.integers(1, 5, (400, num_clusters, 4))  # placements of four games a wall; the truth is 2.5
    clusters = np.repeat(np.arange(num_clusters), 4)
    held = sum(not mean_interval(each.ravel(), clusters).excludes(2.5) for each in means)
    assert held / 400 == pytest.approx(0.95, abs=0.035)


@pytest.mark.parametrize(("freedom", "quantile"), [(5, 2.5706), (9, 2.2622), (24, 2.0639), (1000, 1.9623)])
def test_intervals_reach_out_as_far_as_students_law_in_tables(freedom: int, quantile: float) -> None:
    reach = NormalDist().inv_cdf((1 + expanded_level(0.95, freedom + 1)) / 2)
    assert reach == pytest.approx(quantile * math.sqrt((freedom + 1) / freedom), abs=1e-3)


def test_few_walls_cannot_say_who_is_better() -> None:
    assert paired_difference([1] * 20, [4] * 20, np.arange(20) // 4).interval == Interval(-3, 0, is_widened=True)
    assert not paired_difference([1] * 20, [4] * 20, np.arange(20) // 4).is_significant
    assert paired_difference([1] * 24, [4] * 24, np.arange(24) // 4).is_significant


@pytest.mark.parametrize(("games", "rarest"), [(500, 0.00735), (6, 0.459), (1, 0.975)])
def test_a_share_of_all_or_no_games_has_an_exact_interval(games: int, rarest: float) -> None:
    """The rule of three, for one side: 3.69 instead of 3 of n games, as each end is missed in 2.5 of 100 cases."""
    never, always = proportion_interval(np.zeros(games)), proportion_interval(np.ones(games))
    assert (never.low, always.high) == (0.0, 1.0)
    assert (never.high, 1 - always.low) == pytest.approx((rarest, rarest), rel=1e-2)
    mixed = np.arange(40) % 2
    assert proportion_interval(mixed) == mean_interval(mixed)


def test_an_interval_keeps_infinite_samples_and_drops_missing_ones() -> None:
    assert percentile_interval([1.0, 2.0, 3.0, math.nan, math.inf], 0.98) == Interval(1.0, math.inf)
    assert math.isnan(percentile_interval([math.nan]).low)


def test_the_error_of_the_stable_rank_is_the_known_one() -> None:
    # 2,830 games of Suphx: standard error 0.57; a million of such games: 0.030.
    many = [count * 1_000_000 // 2_830 for count in SUPHX]
    small, large = (stable_rank_interval(rank_terms(np.repeat(np.eye(4), counts, axis=0))) for counts in (SUPHX, many))
    assert (small.high - small.low) / 3.92 == pytest.approx(0.57, abs=0.03)
    assert (large.high - large.low) / 3.92 == pytest.approx(0.030, abs=0.002)
    assert small.low < ranks_of(rank_terms(np.array([SUPHX])))[0] < small.high


def test_a_paired_difference_sees_what_the_walls_would_hide() -> None:
    rng = np.random.default_rng(8)
    luck = rng.normal(2.5, 1, 400)
    opponent = luck + rng.normal(0, 0.05, 400)
    found = paired_difference(luck - 0.02, opponent, np.arange(400) // 4)
    assert found.is_significant
    assert found.mean == pytest.approx(-0.02, abs=0.01)
    assert (found.num_pairs, found.num_clusters) == (400, 100)
    assert found.interval.low < found.mean < found.interval.high < 0
    alone = [mean_interval(values) for values in (luck - 0.02, opponent)]
    assert alone[0].high > alone[1].low


@pytest.mark.parametrize(("differing", "is_widened"), [(5, True), (6, False)])
def test_an_interval_of_few_walls_that_differ_is_widened_and_says_so(differing: int, is_widened: bool) -> None:
    walls = np.arange(8)
    found = paired_difference(np.where(walls < differing, 0.0, 1.0), np.ones(8), walls)
    assert found.interval.is_widened == (is_widened and found.interval.high == 0)
    certain = paired_difference(np.zeros(differing), np.ones(differing), np.arange(differing))
    assert (certain.interval.low, certain.interval.high) == (-1.0, 0.0 if is_widened else -1.0)
    assert certain.interval.is_widened == is_widened
    assert not paired_difference([1, 4], [4, 1]).interval.is_widened  # it includes 0 anyway
