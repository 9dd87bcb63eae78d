"""Ratings of many agents from all games that are stored: a maximum-likelihood fit, with intervals by resampling walls.

The anchor has 1,000 points for ever, so ratings of different nights can be compared. The scale is that of Elo: an
agent with 100 points more than another comes before it in 64 of 100 games. The result depends on the set of games only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from suphx.evaluation.rating.plackett_luce import Derivatives, fit_strengths
from suphx.evaluation.rating.rated_games import RatedGame, game_table
from suphx.evaluation.statistics import LEVEL, Interval, expanded_level, percentile_interval

ANCHOR_RATING = 1000.0
POINTS = 400 / math.log(10)
"""Of one unit of strength."""
NUM_SAMPLES = 200
_LEAST_WALLS = 2
"""Of an agent with an interval: one wall says nothing of how much results scatter."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The strength of an agent; larger is better."""

    rating: float
    interval: Interval | None
    """95 %: what other walls would have given; None with fewer than two walls. Without width for the anchor."""
    games: int
    """Number of games that the rating is computed from."""


def rate_agents(
    games: Iterable[RatedGame],
    *,
    anchor: str,
    num_samples: int = NUM_SAMPLES,
    seed: int = 0,
) -> dict[str, Rating]:
    """Return the rating of each agent that has played, by digest.

    ``anchor`` (a digest) has 1,000 points; if it has not played, the mean of all agents has. The order of ``games``
    changes no digit, and a game that is given twice counts once. A sample draws the walls with replacement, each with
    all its games; one step of Newton's method leads to its ratings. ValueError without games.
    """
    table = game_table(games)
    if not len(table.orders):
        raise ValueError("no game has been played: there is nothing to rate")
    num_agents = len(table.agents)
    fixed = table.agents.index(anchor) if anchor in table.agents else None
    strengths = fit_strengths(table.orders, num_agents, anchor=fixed)
    derivatives = Derivatives(table.orders, strengths)
    rng = np.random.default_rng(seed)
    samples = np.empty((num_samples, num_agents))
    for sample in samples:
        drawn = np.bincount(rng.integers(0, table.num_walls, table.num_walls), minlength=table.num_walls)
        sample[:] = strengths + derivatives.newton_step(drawn[table.walls].astype(np.float64), fixed)
    num_games, num_walls = table.games_of(), table.walls_of()
    ratings = {}
    for number, agent in enumerate(table.agents):
        found = percentile_interval(samples[:, number], expanded_level(LEVEL, int(num_walls[number])))
        low, high = min(found.low, strengths[number]), max(found.high, strengths[number])
        has_interval = number == fixed or num_walls[number] >= _LEAST_WALLS
        interval = Interval(points_of(low), points_of(high)) if has_interval else None
        ratings[agent] = Rating(points_of(strengths[number]), interval, int(num_games[number]))
    return ratings


def points_of(strength: float) -> float:
    """Return a strength on the scale of ratings."""
    return ANCHOR_RATING + POINTS * float(strength)
