"""Who plays the next decks of a game of two sides: the pairs whose games show best who is the strongest.

Every second pair has the agent with the fewest games, so that nobody is unknown. Every other pair has the challenger:
the agent with the highest upper bound of its strength besides the best one so far, as in lineup_choice.py. The opponent
is the agent whose games reduce the uncertainty of the difference to the best one most. That is often the best one
itself, but not where it wins nearly every game: such games show little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.standing import Standing
from suphx.evaluation.stable_rank import F64

Pair = tuple[int, int]


def choose_pairs(
    games: Iterable[RatedGame],
    agents: Sequence[str],
    num_pairs: int,
    *,
    games_per_pair: int,
    anchor: str,
    num_before: int = 0,
) -> list[Pair]:
    """Return the next ``num_pairs`` pairs, each of two different indices into ``agents``, ascending.

    ``agents`` are the digests of those who can play; others may be in ``games``. ``games_per_pair``: games of each pair
    until the next one is chosen. ``num_before``: pairs that earlier calls have chosen for the same night: every second
    one has the agent with the fewest games, the others the challenger. The same set of games gives the same pairs.
    ValueError for fewer than two agents.
    """
    standing = Standing(games, agents, anchor=anchor, least=2)
    there, counts, leader = standing.there, standing.counts, standing.leader
    pairs: list[Pair] = []
    for number in range(num_before, num_before + num_pairs):
        covariance = standing.covariance()
        upper = standing.upper_bounds(covariance)
        challenger = max((agent for agent in there if agent != leader), key=lambda agent: (upper[agent], -agent))
        rare = min(there, key=lambda agent: (counts[agent], agent))
        chosen = rare if number % 2 == 0 or not counts[rare] else challenger
        goal = challenger if chosen == leader else chosen
        gains = {
            other: _gain(covariance, standing.strengths, (chosen, other), (goal, leader), games_per_pair)
            for other in there
            if other != chosen
        }
        opponent = max(gains, key=lambda other: (gains[other], -other))
        first, second = standing.count([chosen, opponent], games_per_pair)
        pairs.append((first, second))
    return pairs


def _gain(covariance: F64, strengths: F64, pair: Pair, difference: Pair, num_games: int) -> float:
    """Return by how much ``num_games`` games of ``pair`` reduce the variance of a difference of two strengths."""
    (first, second), (high, low) = pair, difference
    chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    information = num_games * chance * (1 - chance)
    column = covariance[first] - covariance[second]
    return float(information * (column[high] - column[low]) ** 2 / (1 + information * (column[first] - column[second])))
