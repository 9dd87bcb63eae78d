"""The table of a tournament: ratings, placements and style of the agents, who beats whom, the ratings of each night.

Its keys stand in docs/result_files.md. The page of the report and the live page show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suphx.evaluation.match_config import MIN_CLUSTERS
from suphx.evaluation.player_statistics import STATISTICS_COLUMNS, STATISTICS_RATIOS
from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.rating import Rating, count_ahead, rate_agents
from suphx.evaluation.rating.tournament import SEATS, PlayedWall, head_to_head, placements_of
from suphx.evaluation.workers.forfeits import Forfeits
from suphx.kernel.record import I64
from suphx_pipelines.tournament.pool.tournament_history import EarlierNights, night_of
from suphx_pipelines.tournament.pool.tournament_pool import Entrant, Pool

STYLE = ("win_rate", "deal_in_rate", "riichi_rate", "call_rate", "average_win_turn")
"""Ratios of ``game_row`` that say how an agent plays."""


@dataclass(slots=True, kw_only=True)
class Leaderboard:
    """What is known of a night so far; ``table`` may be asked while games come in."""

    pool: Pool
    earlier: EarlierNights
    anchor: str
    """Name of the agent whose rating is fixed."""
    night: str
    run_id: str
    games: list[RatedGame] = field(default_factory=list)
    rows: dict[str, I64] = field(default_factory=dict)
    """Sums of ``game_row`` of tonight's games, by digest."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """By number in the pool."""

    @property
    def anchor_digest(self) -> str:
        """Return the digest of the anchor: its name itself where it does not play tonight."""
        return next((entrant.digest for entrant in self.pool.entrants if entrant.name == self.anchor), self.anchor)

    def note_wall(self, wall: PlayedWall) -> None:
        """Take the games of a wall; walls come in any order."""
        self.games += wall.games
        for digest, row in wall.rows.items():
            self.rows[digest] = self.rows.get(digest, 0) + row
        for digest, reason in wall.forfeits:
            self.forfeits.note([entrant.digest for entrant in self.pool.entrants].index(digest), reason)

    def table(self) -> dict[str, Any]:
        """Return the table, the strongest agent first; agents without a game are left out."""
        games = [*self.earlier.games, *self.games]
        rated = rated_entrants(self.pool, games, anchor=self.anchor_digest)
        lost = self.forfeits.to_json([entrant.name for entrant in self.pool.entrants])
        rows = [
            {
                **rating_keys(entrant, rating),
                "hanchans": rating.games,
                **self._results(entrant, games),
                "style": self._style(entrant),
                **lost.get(entrant.name, {"forfeits": 0}),
            }
            for entrant, rating in rated
        ]
        return {
            "agents": rows,
            "walls": len({game.wall for game in self.games}),
            "earlier_hanchans": len(self.earlier.games),
            "anchor": self.anchor,
            "is_anchored": any(self.anchor_digest in game.seats for game in games),
            "pairings": count_ahead(games, [entrant.digest for entrant, _ in rated]).tolist(),
            "nights": [*self.earlier.nights, night_of(self.run_id, self.night, rows)],
        }

    def _results(self, entrant: Entrant, games: Sequence[RatedGame]) -> dict[str, Any]:
        champion = None if self.pool.champion is None else self.pool.entrants[self.pool.champion]
        places = placements_of(games, entrant.digest)
        counts = [int(np.count_nonzero(places == rank)) for rank in range(1, SEATS + 1)]
        return {
            "is_candidate": entrant.is_candidate,
            "is_champion": entrant is champion,
            "placements": counts,
            "average_placement": float(places.mean()),
            "against_champion": _against(games, entrant, champion),
        }

    def _style(self, entrant: Entrant) -> dict[str, float | None]:
        """Return the ratios of ``STYLE`` over tonight's games; None where there is nothing to divide by."""
        row = self.rows.get(entrant.digest)
        if row is None:
            return dict.fromkeys(STYLE)
        sums = dict(zip(STATISTICS_COLUMNS, row.tolist(), strict=True))
        pairs = {name: STATISTICS_RATIOS[name] for name in STYLE}
        return {name: sums[above] / sums[below] if sums[below] else None for name, (above, below) in pairs.items()}


def rated_entrants(pool: Pool, games: Iterable[RatedGame], *, anchor: str) -> list[tuple[Entrant, Rating]]:
    """Return the agents of the pool that have games, each with its rating, the strongest first."""
    ratings = rate_agents(games, anchor=anchor)
    rated = [(entrant, ratings[entrant.digest]) for entrant in pool.entrants if entrant.digest in ratings]
    return sorted(rated, key=lambda each: -each[1].rating)


def rating_keys(entrant: Entrant, rating: Rating) -> dict[str, Any]:
    """Return the keys with which the row of an agent begins, in the table of any game."""
    return {
        "name": entrant.name,
        "digest": entrant.digest,
        "rating": rating.rating,
        "interval": None if rating.interval is None else [rating.interval.low, rating.interval.high],
    }


def _against(games: Sequence[RatedGame], entrant: Entrant, champion: Entrant | None) -> dict[str, Any] | None:
    """Return the difference to the champion in their common games; None with few common walls."""
    if champion is None or entrant is champion:
        return None
    pair = {entrant.digest, champion.digest}
    if len({game.wall for game in games if pair <= set(game.seats)}) < MIN_CLUSTERS:
        return None
    difference = head_to_head(games, entrant.digest, champion.digest)
    interval = difference.interval
    return {
        "difference": difference.mean,
        "interval": [interval.low, interval.high],
        "is_widened": interval.is_widened,
    }
