from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.sequential import MeasuredWalls, simulate_match, simulate_matches
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.sequential import MatchWatch
from suphx.evaluation.sequential_test import FIRST_LOOK, LOOK_EVERY, Decision, SequentialState
from suphx.kernel.record import I64
from tests.evaluation.simulated_walls import MEASURED_WALLS, NORMAL_WALLS


def rows_of(places: I64) -> I64:
    """Return how often the candidate came first to fourth on each wall: [walls, 4]."""
    return np.stack([(places == place).sum(axis=1) for place in range(4)], axis=1)


def play_night(config: SequentialConfig, places: I64, rng: np.random.Generator) -> tuple[Decision, int]:
    """Decide a night whose parts arrive in an order that favours good results, by workers that die now and then.

    A worker that dies loses its part; the repeated command has a new watch, which gets all finished parts first.
    """
    finished: list[int] = []
    waiting = list(range(0, len(places), LOOK_EVERY))
    watch = MatchWatch(config, len(places))
    while waiting and not watch.is_decided:
        if rng.random() < 0.05:  # a worker dies
            watch = MatchWatch(config, len(places))
            for first in finished:
                watch.add(first, rows_of(places[first : first + LOOK_EVERY]))
        good_first = min(waiting[:8], key=lambda first: places[first : first + LOOK_EVERY].sum())
        waiting.remove(good_first)
        finished.append(good_first)
        watch.add(good_first, rows_of(places[good_first : good_first + LOOK_EVERY]))
    return watch.outcome().decision, watch.outcome().deals


def test_equal_candidates_are_rarely_promoted_whatever_the_order_of_the_parts() -> None:
    rng = np.random.default_rng(11)
    config, promoted = SequentialConfig(difference=0.3, error=0.05), 0
    for night in range(200):
        places = rng.integers(0, 4, (160, 4))  # of the candidate in the four games of each wall, among equal players
        decision = play_night(config, places, rng)
        if night % 10 == 0:
            watch = MatchWatch(config, len(places))
            for first in range(0, len(places), LOOK_EVERY):
                if not watch.is_decided:
                    watch.add(first, rows_of(places[first : first + LOOK_EVERY]))
            assert decision == (watch.outcome().decision, watch.outcome().deals)
        promoted += decision[0] == "better"
    assert promoted / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


SCALE = SequentialConfig().gains()[0].scale


@pytest.mark.parametrize("seed", range(10))
def test_a_simulated_match_ends_where_a_real_one_does(seed: int) -> None:
    test = SequentialConfig(difference=0.15, error=0.05).test()
    walls = MeasuredWalls(NORMAL_WALLS, SCALE).with_gain(0.1)
    decision, number = simulate_match(test, walls, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([walls.draw((1, FIRST_LOOK), rng).ravel(), walls.draw((64, LOOK_EVERY), rng).ravel()])
    state = SequentialState().with_block(0, drawn.tolist(), test)
    assert (state.decision, state.sums.walls) == (decision, number)


def test_errors_stay_within_the_promised_rate_and_use_it() -> None:
    """With Wald's bound only 2 % would be wrong: it is for a test that looks after every step, however small."""
    test = SequentialConfig(difference=0.25, error=0.05).test()
    measured = MeasuredWalls(NORMAL_WALLS, SCALE)
    rng = np.random.default_rng(3)
    equal, better = (simulate_matches(test, measured.with_gain(gain), matches=2_000, rng=rng) for gain in (0.0, 0.25))
    for wrong in (equal.better, 1 - better.better):
        assert 0.03 < wrong < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 2_000)
    assert equal.standard_error < 0.03 * equal.mean_hanchans


@pytest.mark.slow
@pytest.mark.parametrize(("difference", "hanchans", "matches"), [(0.05, 2_000, 6_000), (0.02, 12_200, 4_000)])
def test_small_differences_are_decided_within_the_hanchans_of_the_page(
    difference: float, hanchans: int, matches: int
) -> None:
    """On walls of real nets, with errors of 5 % each, on average of equal agents and a better one.

    The bounds are those of docs/evaluation.md, without an allowance for the chance in the simulation.
    """
    test = SequentialConfig(difference=difference, error=0.05).test()
    measured = MeasuredWalls(MEASURED_WALLS, SCALE)
    rng = np.random.default_rng(1)
    equal, better = (
        simulate_matches(test, measured.with_gain(gain), matches=matches, rng=rng) for gain in (0.0, difference)
    )
    assert (equal.mean_hanchans + better.mean_hanchans) / 2 < hanchans
    for wrong in (equal.better, 1 - better.better):
        assert wrong < 0.05 + 2 * math.sqrt(0.05 * 0.95 / matches)
