"""Whole nights of promotion matches, with workers that die and parts that arrive in any order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suphx.evaluation.match import I32
from suphx.evaluation.sequential.match_watch import MatchWatch
from suphx.evaluation.sequential.sequential_config import SequentialConfig
from suphx.evaluation.sequential.sequential_test import LOOK_EVERY, Decision
from suphx.kernel.record import I64

STANDARD_ROWS = 19


def equal_placements(walls: int, rng: np.random.Generator) -> I64:
    """Return the candidate's places in the four games of each wall among equal players: [walls, 4 games]."""
    return rng.integers(0, 4, (walls, 4))


def rows_of(places: I64) -> I32:
    """Return rows as ``play_walls`` yields them, [2][games][columns], of the candidate only."""
    rows = np.zeros((2, places.size, STANDARD_ROWS), np.int32)
    rows[0, np.arange(places.size), places.ravel()] = 1
    return rows


def play_night(config: SequentialConfig, places: I64, rng: np.random.Generator) -> tuple[Decision, int]:
    """Decide a night whose parts arrive in an order that favours good results, by workers that die now and then.

    A worker that dies loses its part; the repeated command has a new watch, which gets all finished parts first.
    """
    firsts = list(range(0, len(places), LOOK_EVERY))
    finished: list[int] = []
    while True:
        watch = MatchWatch(config, len(places))
        for first in finished:
            watch.add(first, rows_of(places[first : first + LOOK_EVERY]))
            if watch.is_decided:
                return watch.outcome().decision, watch.outcome().walls
        waiting = [first for first in firsts if first not in finished]
        while waiting:
            pool = waiting[:8]
            good_first = min(pool, key=lambda first: places[first : first + LOOK_EVERY].sum())
            if rng.random() < 0.05:
                break  # a worker dies
            waiting.remove(good_first)
            finished.append(good_first)
            watch.add(good_first, rows_of(places[good_first : good_first + LOOK_EVERY]))
            if watch.is_decided:
                return watch.outcome().decision, watch.outcome().walls
        else:
            return watch.outcome().decision, watch.outcome().walls


def in_order(config: SequentialConfig, places: I64) -> tuple[Decision, int]:
    watch = MatchWatch(config, len(places))
    for first in range(0, len(places), LOOK_EVERY):
        if not watch.is_decided:
            watch.add(first, rows_of(places[first : first + LOOK_EVERY]))
    return watch.outcome().decision, watch.outcome().walls


def false_promotions(nights: int, config: SequentialConfig, walls: int) -> int:
    rng = np.random.default_rng(11)
    promoted = 0
    for night in range(nights):
        places = equal_placements(walls, rng)
        decision = play_night(config, places, rng)
        if night % 10 == 0:
            assert decision == in_order(config, places)
        promoted += decision[0] == "better"
    return promoted


def test_equal_candidates_are_rarely_promoted() -> None:
    promoted = false_promotions(200, SequentialConfig(difference=0.3, error=0.05), 160)
    assert promoted / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.01, 0.05])
def test_a_thousand_nights_keep_the_promised_rate(error: float) -> None:
    promoted = false_promotions(1_000, SequentialConfig(difference=0.1, error=error), 1_000)
    assert promoted / 1_000 <= error + 2 * math.sqrt(error * (1 - error) / 1_000)
