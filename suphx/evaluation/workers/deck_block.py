"""Decks of a game of two sides that a pair of agents plays."""

from __future__ import annotations

from dataclasses import dataclass

GAMES_PER_DECK = 2
"""The second with the sides swapped."""


@dataclass(frozen=True, slots=True)
class DeckBlock:
    """Decks that a pair plays: one task of a process, whose result is kept as one."""

    pair: tuple[int, int]
    """The agents, as indices among the addresses of the plan."""
    first_deal: int
    num_deals: int
    key: str
    """Under which its result is kept: differs for every block of a match or a tournament."""
    title: str
    """Who plays what, for errors."""

    @property
    def num_games(self) -> int:
        """How many games it has."""
        return GAMES_PER_DECK * self.num_deals
