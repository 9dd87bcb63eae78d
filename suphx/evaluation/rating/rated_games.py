"""What a rating knows of games: who played on which wall, and who came where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from suphx.kernel.record import I64

Four = tuple[int, int, int, int]
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
