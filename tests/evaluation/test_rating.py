from __future__ import annotations

import numpy as np

from suphx.evaluation.rating import Rating, rate_agents
from suphx.evaluation.tournament import LineupResult
from suphx.kernel.record import I8

NUM_WALLS = 12


def rated(placements: I8) -> list[Rating]:
    return rate_agents([LineupResult((0, 1, 2, 3), placements)], 4, num_samples=60)


def width(rating: Rating) -> float:
    return rating.interval.high - rating.interval.low


def test_intervals_are_wide_where_walls_decide_the_games() -> None:
    won, lost = np.array([1, 2, 3, 4], np.int8), np.array([4, 2, 3, 1], np.int8)
    by_wall = np.empty((NUM_WALLS, 4, 4), np.int8)
    by_wall[::2], by_wall[1::2] = won, lost
    by_rotation = np.empty((NUM_WALLS, 4, 4), np.int8)
    by_rotation[:, ::2], by_rotation[:, 1::2] = won, lost
    assert np.array_equal(np.sort(by_wall.reshape(-1, 4), axis=0), np.sort(by_rotation.reshape(-1, 4), axis=0))
    for lucky, steady in zip(rated(by_wall), rated(by_rotation), strict=True):
        assert width(lucky) > 1.5 * width(steady)


def test_a_rating_is_the_mean_of_its_samples_and_equal_seeds_give_equal_ones() -> None:
    placements = np.array([1, 2, 3, 4], np.int8) + np.zeros((NUM_WALLS, 4, 4), np.int8)
    first, second = rated(placements), rated(placements)
    assert first == second
    assert [one.rating for one in first] == sorted((one.rating for one in first), reverse=True)
