"""Who plays next: games go where they decide who is the best, not to all lineups alike.

Each lineup has the agent with the fewest games, so that nobody is unknown, and the three others that may be the best:
those with the highest upper bound of the strength above that of the best one so far. With every game the bound of an
agent comes down to what it is, so agents that are clearly weaker get few games. Games that are chosen but not played
yet count with the information that they will have on average, so a whole round can be chosen at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from suphx.evaluation.rating.rated_games import Four, RatedGame
from suphx.evaluation.rating.standing import Standing

GAMES_PER_WALL = 4


def choose_lineups(games: Iterable[RatedGame], agents: Sequence[str], num_walls: int, *, anchor: str) -> list[Four]:
    """Return the lineup of each of the next ``num_walls`` walls: four different indices into ``agents``, ascending.

    ``agents`` are the digests of those who can play; others may be in ``games``. The same set of games gives the same
    lineups. ValueError for fewer than four agents.
    """
    standing = Standing(games, agents, anchor=anchor, least=4)
    lineups: list[Four] = []
    for _ in range(num_walls):
        upper, counts = standing.upper_bounds(standing.covariance()), standing.counts
        rare = min(standing.there, key=lambda agent: (counts[agent], -upper[agent], agent))
        others = sorted((agent for agent in standing.there if agent != rare), key=lambda agent: (-upper[agent], agent))
        first, second, third, fourth = standing.count([rare, *others[:3]], GAMES_PER_WALL)
        lineups.append((first, second, third, fourth))
    return lineups
