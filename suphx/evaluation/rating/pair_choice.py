"""Who plays the next decks of a game of two sides: the pairs whose games show best who is the strongest.

Every second pair has the agent with the fewest games, so that nobody is unknown. Every other pair has the challenger:
the agent with the highest upper bound of its strength besides the best one so far, as in lineup_choice.py. The opponent
is the agent whose games reduce the uncertainty of the difference to the best one most. That is often the best one
itself, but not where it wins nearly every game: such games show little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from suphx.evaluation.rating.plackett_luce import (
    Derivatives,
    covariance_of,
    differences_of,
    expected_information,
    fit_strengths,
)
from suphx.evaluation.rating.rated_games import RatedGame, game_table
from suphx.evaluation.stable_rank import F64

Pair = tuple[int, int]
_DEVIATIONS = 2.0
"""Standard deviations from a difference to its upper bound."""


def choose_pairs(
    games: Iterable[RatedGame], agents: Sequence[str], num_pairs: int, *, games_per_pair: int, anchor: str
) -> list[Pair]:
    """Return the next ``num_pairs`` pairs, each of two different indices into ``agents``, ascending.

    ``agents`` are the digests of those who can play; others may be in ``games``. ``games_per_pair``: games of each pair
    until the next one is chosen. The same set of games gives the same pairs. ValueError for fewer than two agents.
    """
    if len(agents) < 2:
        raise ValueError(f"{len(agents)} agents: at least 2 are needed, add a scripted one")
    table = game_table(games, agents)
    num = len(table.agents)
    fixed = table.agents.index(anchor) if anchor in table.agents else None
    strengths = fit_strengths(table.orders, num, anchor=fixed)
    information = Derivatives(table.orders, strengths).information(np.ones(len(table.orders)))
    counts = table.games_of()
    there = [table.agents.index(agent) for agent in agents]
    leader = max(there, key=lambda agent: (strengths[agent], -agent))
    pairs: list[Pair] = []
    for number in range(num_pairs):
        covariance = covariance_of(information, fixed)
        upper = strengths + _DEVIATIONS * np.sqrt(differences_of(leader, covariance))
        challenger = max((agent for agent in there if agent != leader), key=lambda agent: (upper[agent], -agent))
        rare = min(there, key=lambda agent: (counts[agent], agent))
        chosen = rare if number % 2 == 0 or not counts[rare] else challenger
        goal = challenger if chosen == leader else chosen
        gains = {
            other: _gain(covariance, strengths, (chosen, other), (goal, leader), games_per_pair)
            for other in there
            if other != chosen
        }
        opponent = max(gains, key=lambda other: (gains[other], -other))
        pair = np.array([chosen, opponent], np.int64)
        information = information + games_per_pair * expected_information(pair, strengths)
        counts[pair] += games_per_pair
        first, second = sorted((there.index(chosen), there.index(opponent)))
        pairs.append((first, second))
    return pairs


def _gain(covariance: F64, strengths: F64, pair: Pair, difference: Pair, num_games: int) -> float:
    """Return by how much ``num_games`` games of ``pair`` reduce the variance of a difference of two strengths."""
    (first, second), (high, low) = pair, difference
    chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    information = num_games * chance * (1 - chance)
    column = covariance[first] - covariance[second]
    return float(information * (column[high] - column[low]) ** 2 / (1 + information * (column[first] - column[second])))
