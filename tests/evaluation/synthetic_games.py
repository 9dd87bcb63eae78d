"""Games between agents whose strength is known: places drawn from the Plackett-Luce model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suphx.evaluation.rating import (
    Derivatives,
    RatedGame,
    Rating,
    covariance_of,
    differences_of,
    fit_strengths,
    game_table,
)
from suphx.evaluation.stable_rank import F64
from suphx.evaluation.statistics import Interval


def interval_of(rating: Rating) -> Interval:
    """Return the interval of a rating; AssertionError if it has none."""
    assert rating.interval is not None
    return rating.interval


ANCHOR = "ukeire"


def agent_names(number: int) -> list[str]:
    """Return the anchor and ``number`` - 1 nets."""
    return [ANCHOR, *(f"net-{i:02}" for i in range(1, number))]


def play_wall(
    rng: np.random.Generator, wall: int, lineup: Sequence[int], names: Sequence[str], strengths: F64
) -> list[RatedGame]:
    """Return the four games of a lineup (places in ``names``) on a wall."""
    games = []
    for rotation in range(4):
        seats = np.roll(lineup, rotation)
        luck = strengths[seats] + rng.gumbel(size=4)
        first, second, third, fourth = (1 + np.argsort(np.argsort(-luck))).tolist()
        a, b, c, d = (names[seat] for seat in seats)
        games.append(RatedGame(wall, (a, b, c, d), (first, second, third, fourth)))
    return games


def uncertainty_of_the_second(games: Sequence[RatedGame], anchor: str, *, best: str, second: str) -> float:
    """Return the standard deviation of the difference between the two strongest agents."""
    table = game_table(games)
    fixed = table.agents.index(anchor)
    strengths = fit_strengths(table.orders, len(table.agents), anchor=fixed)
    information = Derivatives(table.orders, strengths).information(np.ones(len(games)))
    variances = differences_of(table.agents.index(best), covariance_of(information, fixed))
    return float(np.sqrt(variances[table.agents.index(second)]))


def play_all_alike(names: Sequence[str], strengths: F64, num_walls: int, seed: int = 0) -> list[RatedGame]:
    """Return the games of lineups that are drawn at random, four a wall."""
    rng = np.random.default_rng(seed)
    games = []
    for wall in range(num_walls):
        first, second, third, fourth = rng.choice(len(names), 4, replace=False).tolist()
        games += play_wall(rng, wall, (first, second, third, fourth), names, strengths)
    return games
