"""The table of a tournament in a game of two sides: ratings, games won and points by side, who beats whom, the nights.

Its keys stand in docs/result_files.md. The page of the report and the live page show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.rating import count_ahead
from suphx.evaluation.rating.side_tournament import PlayedBlock
from suphx_pipelines.tournament.leaderboard_table import rated_entrants, rating_keys
from suphx_pipelines.tournament.pool.tournament_history import EarlierNights, night_of
from suphx_pipelines.tournament.pool.tournament_pool import Pool


@dataclass(slots=True, kw_only=True)
class SideBoard:
    """What is known of a night so far; ``table`` may be asked while games come in."""

    pool: Pool
    sides: Sequence[str]
    """Of the game."""
    earlier: EarlierNights
    anchor: str
    """Scripted agent whose rating is fixed; such agents have their names as digests."""
    night: str
    run_id: str
    games: list[RatedGame] = field(default_factory=list)
    points: dict[tuple[str, str], float] = field(default_factory=dict)
    """Of tonight's games, by digest and side."""

    def note_block(self, block: PlayedBlock) -> None:
        """Take the games of a block; blocks come in any order."""
        self.games += block.games
        for agent, sums in block.points.items():
            for side, points in sums.items():
                self.points[agent, side] = self.points.get((agent, side), 0.0) + points

    def table(self) -> dict[str, Any]:
        """Return the table, the strongest agent first; agents without a game are left out."""
        games = [*self.earlier.games, *self.games]
        champion = None if self.pool.champion is None else self.pool.entrants[self.pool.champion]
        rated = rated_entrants(self.pool, games, anchor=self.anchor)
        rows = [
            {
                **rating_keys(entrant, rating),
                "is_candidate": entrant.is_candidate,
                "is_champion": entrant is champion,
                "games": rating.games,
                "sides": {side: self._figures(entrant.digest, number, games) for number, side in enumerate(self.sides)},
            }
            for entrant, rating in rated
        ]
        return {
            "agents": rows,
            "decks": len({game.wall for game in self.games}),
            "earlier_games": len(self.earlier.games),
            "anchor": self.anchor,
            "is_anchored": any(self.anchor in game.seats for game in games),
            "pairings": count_ahead(games, [entrant.digest for entrant, _ in rated]).tolist(),
            "nights": [*self.earlier.nights, night_of(self.run_id, self.night, rows)],
        }

    def _figures(self, agent: str, side: int, games: Sequence[RatedGame]) -> dict[str, float | None]:
        """Return ``wp`` over all nights and ``adp`` over tonight's games on a side; None without a game."""
        own = [game for game in games if game.seats[side] == agent]
        tonight = sum(game.seats[side] == agent for game in self.games)
        wins = sum(game.places[side] == 1 for game in own)
        return {
            "wp": wins / len(own) if own else None,
            "adp": self.points[agent, self.sides[side]] / tonight if tonight else None,
        }
