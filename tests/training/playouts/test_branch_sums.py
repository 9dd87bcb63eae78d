"""The standard error of the gain: deals are independent, the decisions of one deal are not."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.training.playouts.branch_learner import BranchSums


def sums_of(gains: np.ndarray, deals: np.ndarray) -> BranchSums:
    sums = BranchSums()
    sums.add_step(0.0, len(gains))
    sums.add_measured(gains, np.zeros(len(gains)), deals)
    return sums


def test_of_one_decision_a_deal_it_is_the_usual_one() -> None:
    gains = np.random.default_rng(1).normal(3, 10, 500)
    means = sums_of(gains, np.arange(500)).means()
    assert means["gain"] == pytest.approx(gains.mean())
    assert means["gain_error"] == pytest.approx(gains.std(ddof=1) / 500**0.5)


def test_it_is_as_large_as_the_gain_really_varies_when_decisions_share_the_luck_of_a_deal() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(300):
        sizes = rng.integers(1, 20, 100)
        deals = rng.permutation(np.repeat(np.arange(100), sizes))
        luck = rng.normal(0, 10, 100)
        found.append(sums_of(5 + luck[deals] + rng.normal(0, 10, len(deals)), deals).means())
    real = np.std([means["gain"] for means in found])
    errors = np.array([means["gain_error"] for means in found])
    assert errors.mean() == pytest.approx(real, rel=0.15)
    as_independent = ((10**2 + 10**2) / found[0]["decisions"]) ** 0.5
    assert as_independent < 0.5 * real, "the luck matters here"


def test_rounds_add_up() -> None:
    rng = np.random.default_rng(3)
    gains, deals = rng.normal(0, 1, 300), rng.integers(0, 30, 300)
    both = sums_of(gains[deals < 15], deals[deals < 15])
    both.add_all(sums_of(gains[deals >= 15], deals[deals >= 15]))
    assert both.means() == pytest.approx(sums_of(gains, deals).means())


def test_one_deal_says_nothing_of_how_deals_vary() -> None:
    assert BranchSums().means() == {}
    assert sums_of(np.array([1.0, 3.0]), np.array([7, 7])).means() == {}
    assert sums_of(np.array([1.0, 3.0]), np.array([7, 8])).means()["gain"] == 2
