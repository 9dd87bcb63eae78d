"""Ratings of many agents from all games that are stored: a maximum-likelihood fit, with intervals by resampling walls.

The anchor has 1,000 points for ever, so ratings of different nights can be compared. The scale is that of Elo: an
agent with 100 points more than another comes before it in 64 of 100 games. The result depends on the set of games only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.stable_rank import F64
from suphx.evaluation.statistics import LEVEL, Interval, expanded_level, percentile_interval
from suphx.kernel.record import I64

_LEAST_SEATS = 2
"""Of a table without games."""


@dataclass(frozen=True, slots=True, order=True)
class RatedGame:
    """A game of different agents: four at a table, or two on the sides of a game."""

    wall: int
    """Seed of its wall, or of its deal: with it, ``seats``, the rules and the nets the game can be played again."""
    seats: tuple[str, ...]
    """The agent at each seat, or on each side, by its digest."""
    places: tuple[int, ...]
    """Of each seat, from 1 on, as they count: a forfeit is the last place."""


@dataclass(frozen=True, slots=True)
class GameTable:
    """Games as arrays in an order that does not depend on how they came."""

    agents: tuple[str, ...]
    """Digests, ascending."""
    walls: I64
    """int64 [games]: number of the wall, from 0 on."""
    orders: I64
    """int64 [games, seats]: the agents (indices into ``agents``) in the order of their places, the first one first."""

    @property
    def num_walls(self) -> int:
        """Return how many different walls were played."""
        return int(self.walls.max()) + 1 if len(self.walls) else 0

    def games_of(self) -> I64:
        """Return the number of games of each agent, int64 [agents]."""
        return np.bincount(self.orders.ravel(), minlength=len(self.agents))

    def walls_of(self) -> I64:
        """Return the number of different walls of each agent, int64 [agents]."""
        pairs = np.unique(np.stack([self.orders.ravel(), np.repeat(self.walls, self.orders.shape[1])]), axis=1)
        return np.bincount(pairs[0], minlength=len(self.agents))


def game_table(games: Iterable[RatedGame], agents: Sequence[str] = ()) -> GameTable:
    """Return the table of ``games``, each once however often it is given; ``agents`` are in it without a game, too.

    All games have the same number of seats.
    """
    different = sorted(set(games))
    names = tuple(sorted({*agents, *(agent for game in different for agent in game.seats)}))
    numbers = {name: number for number, name in enumerate(names)}
    walls = np.array([game.wall for game in different], np.int64)
    orders = [[numbers[agent] for _, agent in sorted(zip(game.places, game.seats, strict=True))] for game in different]
    _, wall_numbers = np.unique(walls, return_inverse=True)
    num_seats = max((len(game.seats) for game in different), default=_LEAST_SEATS)
    return GameTable(names, wall_numbers.astype(np.int64), np.array(orders, np.int64).reshape(-1, num_seats))


PRIOR_DEVIATION = 5.0
"""Of a strength around 0: so wide that 100 games move a rating by less than 1 % of its distance from the anchor."""
_MAX_STEPS = 100
_LONGEST_STEP = 2.0
_TOLERANCE = 1e-10
_PRIOR = PRIOR_DEVIATION**-2


def fit_strengths(orders: I64, num_agents: int, *, anchor: int | None) -> F64:
    """Return the strength of each agent, float64 [num_agents]; that of ``anchor`` is 0.

    ``orders`` int64 [games, seats]: the agents in the order of their places. Without an anchor the mean of the
    strengths is 0.
    """
    strengths = np.zeros(num_agents)
    for _ in range(_MAX_STEPS):
        step = Derivatives(orders, strengths).newton_step(np.ones(len(orders)), anchor)
        strengths += step
        if np.abs(step).max(initial=0.0) < _TOLERANCE:
            break
    return strengths


class Derivatives:
    """The derivatives of the log-likelihood of each game, at given strengths.

    >>> derivatives = Derivatives(orders, strengths)
    >>> derivatives.newton_step(weights, anchor=0)  # towards the strengths of a bootstrap sample
    """

    def __init__(self, orders: I64, strengths: F64) -> None:
        """``orders`` int64 [games, seats] as in ``fit_strengths``, ``strengths`` [agents]."""
        seats = np.arange(orders.shape[1])
        self._strengths = strengths
        self._orders = orders
        self._pairs = orders[:, :, None] * len(strengths) + orders[:, None, :]
        chances = _choice_chances(strengths[orders])
        self._slopes = (seats < len(seats) - 1) - chances.sum(axis=1)
        self._blocks = -(chances.transpose(0, 2, 1) @ chances)
        self._blocks[:, seats, seats] += chances.sum(axis=1)

    def information(self, weights: F64) -> F64:
        """Return the Fisher information, float64 [agents, agents], without the prior; a game counts ``weights``."""
        num = len(self._strengths)
        return _sums(self._pairs, self._blocks * weights[:, None, None], num * num).reshape(num, num)

    def newton_step(self, weights: F64, anchor: int | None) -> F64:
        """Return how the strengths move in one step of Newton's method, [agents]; a game counts ``weights`` [games]."""
        free = free_agents(len(self._strengths), anchor)
        gradient = _sums(self._orders, self._slopes * weights[:, None], len(self._strengths))
        gradient -= _PRIOR * self._strengths
        information = with_prior(self.information(weights))[np.ix_(free, free)]
        step = np.zeros(len(self._strengths))
        step[free] = np.clip(np.linalg.solve(information, gradient[free]), -_LONGEST_STEP, _LONGEST_STEP)
        return step


def expected_information(lineup: I64, strengths: F64) -> F64:
    """Return the information that a game of the agents in ``lineup`` has on average, float64 [agents, agents]."""
    orders = lineup[np.array(list(permutations(range(len(lineup)))), np.int64)]
    choices = np.arange(len(lineup) - 1)
    chances = np.prod(_choice_chances(strengths[orders])[:, choices, choices], axis=1)
    return Derivatives(orders, strengths).information(chances)


def with_prior(information: F64) -> F64:
    """Return the information with that of the prior."""
    return information + _PRIOR * np.eye(len(information))


def covariance_of(information: F64, anchor: int | None) -> F64:
    """Return the covariance of the strengths, float64 [agents, agents]; ``information`` is without the prior."""
    free = free_agents(len(information), anchor)
    covariance = np.zeros(information.shape)
    covariance[np.ix_(free, free)] = np.linalg.inv(with_prior(information)[np.ix_(free, free)])
    return covariance


def differences_of(agent: int, covariance: F64) -> F64:
    """Return the variance of the difference of each strength to that of ``agent``, float64 [agents]."""
    variances = np.diag(covariance) + covariance[agent, agent] - 2 * covariance[agent]
    positive: F64 = np.maximum(variances, 0)
    return positive


def free_agents(num_agents: int, anchor: int | None) -> I64:
    """Return the agents whose strength is not fixed."""
    return np.array([agent for agent in range(num_agents) if agent != anchor], np.int64)


def _choice_chances(strengths: F64) -> F64:
    """Return [n, seats - 1, seats]: the probability with which each agent of a game takes each place but the last.

    ``strengths`` [n, seats] are those of the agents in the order of their places; whoever has a better place takes no
    other.
    """
    seats = np.arange(strengths.shape[1])
    weights = np.exp(strengths - strengths.max(axis=1, keepdims=True))
    left = weights[:, None, :] * (seats >= seats[:-1, None])
    chances: F64 = left / left.sum(axis=2, keepdims=True)
    return chances


def _sums(indices: I64, values: NDArray[np.float64], size: int) -> F64:
    sums = np.bincount(indices.ravel(), values.ravel(), minlength=size)
    return sums.astype(np.float64)  # integers without games


_DEVIATIONS = 2.0
"""Standard deviations from a difference to its upper bound."""


class Standing:
    """Strengths and their uncertainty. Chosen games count with the information that they will have on average."""

    def __init__(self, games: Iterable[RatedGame], agents: Sequence[str], *, anchor: str, least: int) -> None:
        """``agents``: digests of those who can play, at least ``least`` or ValueError; ``games`` may have others."""
        if len(agents) < least:
            raise ValueError(f"{len(agents)} agents: at least {least} are needed, add scripted agents")
        table = game_table(games, agents)
        self._anchor = table.agents.index(anchor) if anchor in table.agents else None
        self.strengths = fit_strengths(table.orders, len(table.agents), anchor=self._anchor)
        """float64 [agents of all games]."""
        self._information = Derivatives(table.orders, self.strengths).information(np.ones(len(table.orders)))
        self.counts = table.games_of()
        self.there = [table.agents.index(agent) for agent in agents]
        """Index of each of ``agents`` in ``strengths``."""
        self.leader = max(self.there, key=lambda agent: (self.strengths[agent], -agent))
        """The best one so far."""

    def covariance(self) -> F64:
        """Return the covariance of the strengths, float64 [agents, agents]."""
        return covariance_of(self._information, self._anchor)

    def upper_bounds(self, covariance: F64) -> F64:
        """Return the upper bound of the strength of each agent above that of the best one, float64 [agents]."""
        bounds: F64 = self.strengths + _DEVIATIONS * np.sqrt(differences_of(self.leader, covariance))
        return bounds

    def count(self, lineup: Sequence[int], num_games: int) -> tuple[int, ...]:
        """Take that ``lineup`` plays ``num_games``; return it as ascending indices into the agents who can play."""
        seats = np.array(sorted(lineup), np.int64)
        self._information = self._information + num_games * expected_information(seats, self.strengths)
        self.counts[seats] += num_games
        return tuple(sorted(self.there.index(agent) for agent in lineup))


def count_ahead(games: Iterable[RatedGame], agents: Sequence[str]) -> I64:
    """Return int64 [agents, agents]: in how many common games the agent of the row came before that of the column.

    ``agents`` are digests; games with others count for those that are in ``agents``.
    """
    table = game_table(games, agents)
    ahead = np.zeros((len(table.agents), len(table.agents)), np.int64)
    for better, worse in combinations(range(table.orders.shape[1]), 2):
        np.add.at(ahead, (table.orders[:, better], table.orders[:, worse]), 1)
    chosen = [table.agents.index(agent) for agent in agents]
    return ahead[np.ix_(chosen, chosen)]


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


def rate_agents(games: Iterable[RatedGame], *, anchor: str, seed: int = 0) -> dict[str, Rating]:
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
    samples = np.empty((NUM_SAMPLES, num_agents))
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
