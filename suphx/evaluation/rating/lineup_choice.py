"""Who plays next: games go where they decide who is the best, not to all lineups alike.

Each lineup has the agent with the fewest games, so that nobody is unknown, and the three others that may be the best:
those with the highest upper bound of the strength above that of the best one so far. With every game the bound of an
agent comes down to what it is, so agents that are clearly weaker get few games. Games that are chosen but not played
yet count with the information that they will have on average, so a whole round can be chosen at a time.
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
from suphx.evaluation.rating.rated_games import Four, RatedGame, game_table
from suphx.evaluation.stable_rank import F64

GAMES_PER_WALL = 4
_DEVIATIONS = 2.0
"""Standard deviations from a difference to its upper bound."""


def choose_lineups(games: Iterable[RatedGame], agents: Sequence[str], num_walls: int, *, anchor: str) -> list[Four]:
    """Return the lineup of each of the next ``num_walls`` walls: four different indices into ``agents``, ascending.

    ``agents`` are the digests of those who can play; others may be in ``games``. The same set of games gives the same
    lineups. ValueError for fewer than four agents.
    """
    if len(agents) < 4:
        raise ValueError(f"{len(agents)} agents: at least 4 are needed, add scripted agents")
    table = game_table(games, agents)
    num = len(table.agents)
    fixed = table.agents.index(anchor) if anchor in table.agents else None
    strengths = fit_strengths(table.orders, num, anchor=fixed)
    information = Derivatives(table.orders, strengths).information(np.ones(len(table.orders)))
    counts = table.games_of()
    there = [table.agents.index(agent) for agent in agents]
    lineups: list[Four] = []
    for _ in range(num_walls):
        leader = max(there, key=lambda agent: (strengths[agent], -agent))
        upper = strengths + _DEVIATIONS * deviations_from(leader, information, fixed)
        rare = min(there, key=lambda agent: (counts[agent], -upper[agent], agent))
        best = sorted((agent for agent in there if agent != rare), key=lambda agent: (-upper[agent], agent))[:3]
        lineup = np.array(sorted([rare, *best]), np.int64)
        information = information + GAMES_PER_WALL * expected_information(lineup, strengths)
        counts[lineup] += GAMES_PER_WALL
        first, second, third, fourth = sorted(there.index(agent) for agent in lineup.tolist())
        lineups.append((first, second, third, fourth))
    return lineups


def deviations_from(agent: int, information: F64, anchor: int | None) -> F64:
    """Return the standard deviation of the difference of each strength to that of ``agent``, float64 [agents]."""
    deviations: F64 = np.sqrt(differences_of(agent, covariance_of(information, anchor)))
    return deviations
