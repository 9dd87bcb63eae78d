"""How many hanchans shared walls and draw lanes save."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.evaluation.match import play_match
from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.workers.game_runner import GameRunner
from suphx_platform.bench.riichi.matches.changed_ukeire import load_measured_agent
from suphx_platform.bench.riichi.matches.wall_sharing import bench_evaluation, compare_schemes


def test_the_saving_is_the_ratio_of_the_variances_over_walls() -> None:
    rng = np.random.default_rng(4)
    luck = rng.normal(size=(2_000, 3))
    found = compare_schemes(2.4 + 0.6 * luck[:, 0], 2.4 + 0.5 * luck[:, 1], 2.4 + 0.4 * luck[:, 2])
    for name, scheme in (("variance_before", 0.6), ("variance_of_walls", 0.5), ("variance", 0.4)):
        assert found[name] == pytest.approx(4 * scheme**2, rel=0.1)
    assert found["variance"] == pytest.approx(4 * np.var(0.4 * luck[:, 2], ddof=1))
    for name, ratio in (("fewer_hanchans", 2.25), ("fewer_by_walls", 1.44)):
        low, high = found[f"{name}_interval"]
        assert low < ratio < high
        assert high / low == pytest.approx((1 + 4 / 2_000**0.5) ** 2, rel=0.1), "about 9 % to both sides"
    assert found["placement_difference"] == pytest.approx(-0.1, abs=0.04)
    low, high = found["difference_interval"]
    assert low < -0.1 < high


def test_intervals_hold_the_true_ratio_in_about_95_of_100_cases() -> None:
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(200):
        luck = 2.5 + rng.normal(size=(3, 250))
        low, high = compare_schemes(*luck)["fewer_hanchans_interval"]
        inside += low <= 1 <= high
    assert 0.9 <= inside / 200 <= 0.99


def test_a_pair_whose_walls_are_all_equal_has_no_ratio() -> None:
    equal, luck = np.full(50, 2.5), np.random.default_rng(0).normal(size=50)
    found = compare_schemes(luck, equal, equal)
    assert (found["variance"], found["fewer_hanchans"], found["fewer_hanchans_interval"]) == (0, None, None)
    equal[0] = 2.25
    found = compare_schemes(luck, equal, equal)
    assert found["fewer_hanchans"] > 1
    assert found["fewer_hanchans_interval"] is None, "a third of the draws have no variance"


def test_two_of_the_schemes_are_those_of_real_matches() -> None:
    pair = ("ukeire-no-calls", "ukeire")
    (row,) = bench_evaluation([pair], num_hanchans=40, seed=2, workers=1)["pairs"]
    assert (row["candidate"], row["opponent"]) == pair
    for name, has_draw_lanes in (("variance_of_walls", False), ("variance", True)):
        setup = MatchSetup(*pair, seed=2, has_draw_lanes=has_draw_lanes)
        match = play_match(setup, 40, runner=GameRunner(load=load_measured_agent))
        walls = np.array(match.placements).reshape(-1, 4).mean(axis=1)
        assert row[name] == pytest.approx(4 * walls.var(ddof=1))
    assert row["placement_difference"] == pytest.approx(match.difference.mean)
    assert row["variance_before"] not in (row["variance_of_walls"], row["variance"])


@pytest.mark.slow
def test_a_match_of_scripted_agents_needs_far_fewer_hanchans_than_it_did() -> None:
    """The page on evaluation has 2.1 times for a variant like this one; 2,000 hanchans know it to 15 %."""
    (row,) = bench_evaluation([("ukeire-no-calls", "ukeire")], num_hanchans=2_000, seed=1, workers=2)["pairs"]
    assert row["fewer_hanchans"] > 1.5
    assert row["fewer_hanchans_interval"][0] > 1.3
    assert row["fewer_by_walls"] > 1.2
