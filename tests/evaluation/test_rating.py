from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.optimize import minimize

from suphx.evaluation.rating import (
    ANCHOR_RATING,
    POINTS,
    PRIOR_DEVIATION,
    RatedGame,
    Rating,
    fit_strengths,
    game_table,
    rate_agents,
)
from suphx.evaluation.stable_rank import F64
from tests.evaluation.synthetic_games import ANCHOR, agent_names, interval_of, play_all_alike

SEATS = ("b", "a", "d", "c")
RATED_GAMES = [
    RatedGame(70, SEATS, (2, 1, 4, 3)),
    RatedGame(70, ("a", "d", "c", "b"), (1, 2, 3, 4)),
    RatedGame(30, ("a", "b", "c", "e"), (4, 3, 2, 1)),
]


def test_walls_are_counted_once_however_many_games_are_played_on_them() -> None:
    table = game_table(RATED_GAMES, agents=["f"])
    assert table.num_walls == 2
    assert table.agents == ("a", "b", "c", "d", "e", "f")
    assert table.games_of().tolist() == [3, 3, 3, 2, 1, 0]
    assert table.walls_of().tolist() == [2, 2, 2, 1, 1, 0]


NAMES = agent_names(6)
STRENGTHS = np.array([0.0, -1.0, -0.3, 0.2, 0.5, 0.9])
GAMES = play_all_alike(NAMES, STRENGTHS, 300)


def test_the_fit_is_the_maximum_of_the_likelihood() -> None:
    table = game_table(GAMES[:200])

    def loss(free: F64) -> float:
        strengths = np.insert(free, anchor, 0.0)
        shares = strengths[table.orders]
        left = np.logaddexp.accumulate(shares[:, ::-1], axis=1)[:, ::-1]
        return float((left - shares)[:, :3].sum() + (free**2).sum() / (2 * PRIOR_DEVIATION**2))

    anchor = table.agents.index(ANCHOR)
    found = minimize(loss, np.zeros(5), tol=1e-10).x
    fitted = fit_strengths(table.orders, 6, anchor=anchor)
    assert fitted == pytest.approx(np.insert(found, anchor, 0.0), abs=1e-4)


def test_the_same_games_in_any_order_give_the_same_digits() -> None:
    first = rate_agents(GAMES, anchor=ANCHOR)
    mixed = list(GAMES) + GAMES[:50]
    random.Random(1).shuffle(mixed)
    assert rate_agents(mixed, anchor=ANCHOR) == first


def test_the_anchor_has_always_the_same_rating_and_the_others_are_found() -> None:
    ratings = rate_agents(GAMES, anchor=ANCHOR)
    fixed = ratings[ANCHOR]
    assert fixed.rating == interval_of(fixed).low == interval_of(fixed).high == ANCHOR_RATING
    for name, strength in zip(NAMES[1:], STRENGTHS[1:], strict=True):
        interval = interval_of(ratings[name])
        assert interval.low < ANCHOR_RATING + POINTS * strength < interval.high
        assert interval.high - interval.low < 150
    assert sum(rating.games for rating in ratings.values()) == 4 * len(GAMES)


def test_one_wall_gives_no_interval_except_to_the_anchor() -> None:
    strangers = [RatedGame(2**20, (ANCHOR, *NAMES[1:3], "new"), (1, 2, 3, 4))]
    ratings = rate_agents(GAMES[:40] + strangers, anchor=ANCHOR)
    assert ratings["new"].interval is None
    assert all(rating.interval is not None for name, rating in ratings.items() if name != "new")
    assert interval_of(rate_agents(strangers, anchor=ANCHOR)[ANCHOR]).low == ANCHOR_RATING


def test_intervals_hold_the_truth_in_about_95_of_100_cases() -> None:
    inside = 0
    for seed in range(60):
        ratings = rate_agents(play_all_alike(NAMES, STRENGTHS, 60, seed), anchor=ANCHOR, seed=seed)
        for name, strength in zip(NAMES[1:], STRENGTHS[1:], strict=True):
            interval = interval_of(ratings[name])
            inside += interval.low <= ANCHOR_RATING + POINTS * strength <= interval.high
    assert 0.92 <= inside / 300 <= 0.98


def test_intervals_are_wide_where_walls_decide_the_games() -> None:
    def rated(is_lucky: bool) -> Rating:
        games = []
        for wall in range(40):
            for rotation in range(4):
                wins = (wall if is_lucky else rotation) % 2 == 0
                seats = ("a", ANCHOR, "c", f"d{rotation}")
                games.append(RatedGame(wall, seats, (1, 2, 3, 4) if wins else (4, 2, 3, 1)))
        return rate_agents(games, anchor=ANCHOR)["a"]

    lucky, steady = interval_of(rated(True)), interval_of(rated(False))
    assert lucky.high - lucky.low > 2 * (steady.high - steady.low)
