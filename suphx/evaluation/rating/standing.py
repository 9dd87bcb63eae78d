"""What is known of agents while their next games are chosen (lineup_choice.py, pair_choice.py)."""

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
        """Games of each agent, also those that are chosen."""
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
