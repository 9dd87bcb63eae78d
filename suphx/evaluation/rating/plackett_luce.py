"""The Plackett-Luce model of games of several agents: maximum-likelihood strengths and their information.

The first place goes to agent i with probability exp(s_i) / sum of exp(s) over the table, the second in the same way
among those that are left, and so on (Plackett, "The Analysis of Permutations", 1975). So agent i comes before agent j
with probability 1 / (1 + exp(s_j - s_i)), whoever else plays. With two agents in a game this is the model of Bradley
and Terry ("Rank Analysis of Incomplete Block Designs", 1952). The likelihood is concave in s (Hunter, "MM algorithms
for generalized Bradley-Terry models", 2004); Newton's method finds its maximum.

A weak normal prior keeps an agent finite that came first or last in all its games. Games are added in the order in
which they are given: equal tables give equal digits.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.stable_rank import F64
from suphx.kernel.record import I64

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
