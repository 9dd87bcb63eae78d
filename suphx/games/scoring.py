"""How a match repeats a deal so that luck cancels, and what its games are worth.

In some games every seat plays for itself and comes first to last (``SeatScoring``), in others two sides play against
each other (``SideScoring``). A *party* is who has a result of its own: a seat, or a side. A *lineup* has an agent for
each party. Deals are the clusters of all statistics, as games on the same deal are not independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.record import I64

Seats: TypeAlias = NDArray[np.bool_]
MeasureName = Literal["placement", "points", "share"]
"""What an agent may be judged by (suphx/evaluation/measures.py); share: in games of two sides."""
Forfeited: TypeAlias = Sequence[Sequence[int]]
"""For each game the seats whose agents could not play it to its end, in the order of time."""
MAX_DEAL_SEED = 1 << 20
_FIRST_WALL = 1 << 40
"""Keeps the deals of matches apart from those of training games."""
DEALS_PER_SEED = 1 << 40
_PARTNERS = ((0, 1), (0, 2), (0, 3))
"""Seats of two candidates among four, up to an exchange of the agents."""


def deal_seeds(seed: int, num_deals: int) -> range:
    """Return the seeds of ``num_deals`` deals; different ``seed`` (0 to 2**20 - 1) never share one. ValueError else."""
    if not 0 <= seed < MAX_DEAL_SEED:
        raise ValueError(f"seed is {seed}: use 0 to {MAX_DEAL_SEED - 1}")
    first = _FIRST_WALL + seed * DEALS_PER_SEED
    return range(first, first + num_deals)


PLACE_COUNTERS = ("first", "second", "third", "fourth", "games", "place")
"""What the counters of a game of four seats begin with: places of a player by number, his games, the sum of his places.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What both kinds have in common."""

    deal: str = "deal"
    """What people call a deal: a wall, a deck."""
    games: str = "games"
    """What people call the games."""
    deals_per_task: int = 16
    """Deals that a process plays as one task, whose result is kept as one."""
    deals_per_look: int = 8
    """The same in a match that stops when it is decided: games in progress at the decision are lost."""
    deals_per_lineup: int = 1
    """Deals that the agents of a lineup play one after another in a tournament."""
    first_forfeit_decides: bool = False
    """A game is lost with its first forfeit; other seats that could not play it to the end afterwards do not count."""
    table_options: Mapping[str, Any] = field(default_factory=dict)
    """Of the tables of matches, where they name none."""
    decides: MeasureName = "placement"
    """What a match decides by, if nobody chooses. points: a game is worth its points, whole numbers that add up to 0,
    and in tournaments their sums over all games of a deal decide. Else points are what a place is worth."""
    points_spread: float = 0.0
    """Standard deviation of the points of a seat in a game, about, where they decide."""
    largest_points: float = 0.0
    """What a game can be worth to a seat, at most, where points decide."""
    has_deals: bool = False
    """A game has several deals, each with points of its own, which ``suphx evaluate --deals`` compares."""
    counters: tuple[str, ...] = ()
    """Names of what ``count`` counts."""
    ratios: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Figures of a player in reports: by name the two counters whose sums are divided."""

    def count(self, record: Any, player: str, places: Sequence[int]) -> list[int] | None:
        """Return what ``player`` did in a recorded game: a number for each of ``counters``; None if he was not there.

        ``places``: of the parties, as they count.
        """
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatScoring(Scoring):
    """Each of four seats plays for itself. A deal is played four times, with rotated agents, or in all orders."""

    has_all_orders: bool = False
    """A deal is played in all orders of its agents: 24 of four, 6 of two against two."""
    party_seats: tuple[int, ...] = (0, 1, 2, 3)
    """A seat of each party."""
    seatings: tuple[str, ...] = ("1v3", "2v2", "3v1")
    """Numbers of candidates and of opponents at a table, by name, the usual one first."""

    def candidate_seats(self, seating: str, deal_number: int) -> Seats:
        """Return where candidates sit in the games of a deal: bool [games, seats]."""
        if seating == "1v3":
            return np.eye(4, dtype=np.bool_)
        if seating == "3v1":
            return ~np.eye(4, dtype=np.bool_)
        skipped = len(_PARTNERS) if self.has_all_orders else deal_number % len(_PARTNERS)
        ways = [way for index, way in enumerate(_PARTNERS) if index != skipped]
        seats = np.zeros((2 * len(ways), 4), np.bool_)
        for number, partners in enumerate(ways):
            seats[2 * number, partners] = True
            seats[2 * number + 1] = ~seats[2 * number]
        return seats

    def num_games(self, seating: str | None = None) -> int:
        """Return the games of a deal in a seating, by default the usual one."""
        return len(self.candidate_seats(seating or self.seatings[0], 0))

    def lineup_seats(self, deal_seed: int) -> I64:
        """Return who of a lineup sits where in the games of a deal, int64 [games, seats].

        Rotation after rotation of an order that changes with the deal, or all orders.
        """
        if self.has_all_orders:
            return np.array(list(permutations(range(4))))
        order = np.random.default_rng(deal_seed).permutation(4)
        return np.array([np.roll(order, rotation) for rotation in range(4)])

    def settle(self, points: NDArray[np.number], forfeited: Forfeited) -> tuple[I64, NDArray[np.number]]:
        """Return the place of each party from 1 on, int64 [games, parties], and its points, as they count.

        ``points`` [games, seats]; of equal points the first seat is ahead. A seat that forfeited is behind all seats
        that did not; among each other they are ordered by their points.
        """
        places = _ranks(-np.asarray(points))
        behind = np.array([[seat in lost for seat in self.party_seats] for lost in forfeited], np.int64)
        return _ranks(places + 4 * behind.reshape(places.shape)), points

    def first_deal(self, seed: int, *, is_fresh: bool = False) -> int:
        """Return the seed of the first deal of a match; ``is_fresh``: of the new ones after a pass."""
        first = deal_seeds(seed, 1).start
        return deal_seeds((seed + MAX_DEAL_SEED // 2) % MAX_DEAL_SEED, 1).start if is_fresh else first


@dataclass(frozen=True, slots=True, kw_only=True)
class SideScoring(Scoring):
    """Two sides play against each other. Every deal is played twice, with the agents' sides swapped.

    The points of all seats of a side are equal, those of the sides add up to zero.
    """

    sides: tuple[str, str]
    side_of_seat: tuple[int, ...]
    """The side of each seat."""
    first_seed: int
    """Of the deals of matches, where no training has any."""
    deals_per_seed: int
    """From one seed of a match to the next."""
    fresh_distance: int
    """From the first deal of a match to the first of the new ones after a pass."""
    max_seed: int
    first_forfeit_decides: bool = True
    decides: MeasureName = "share"
    seatings: tuple[str, ...] = ("swapped",)

    @property
    def party_seats(self) -> tuple[int, ...]:
        """A seat of each party."""
        return tuple(self.side_of_seat.index(side) for side in range(len(self.sides)))

    def candidate_seats(self, seating: str, deal_number: int) -> Seats:
        """Return where the candidate sits in both games of a deal: on the first side, then on the second."""
        return np.array([[own == side for own in self.side_of_seat] for side in range(2)])

    def num_games(self, seating: str | None = None) -> int:
        """Return the games of a deal in a seating, by default the usual one."""
        return len(self.candidate_seats(seating or self.seatings[0], 0))

    def lineup_seats(self, deal_seed: int) -> I64:
        """Return who of a pair has each seat in both games of a deal, int64 [games, seats]."""
        return np.where(self.candidate_seats(self.seatings[0], 0), 0, 1)

    def settle(self, points: NDArray[np.number], forfeited: Forfeited) -> tuple[I64, NDArray[np.number]]:
        """Return the place of each side, int64 [games, 2], and its points [games, 2], as they count.

        ``points`` [games, seats]. A game that was forfeited is lost for the side of the first seat that forfeited it,
        with the points that it had when it was over.
        """
        own = np.asarray(points)[:, self.party_seats]
        for game, lost in enumerate(forfeited):
            if lost:
                has_lost = np.arange(2) == self.side_of_seat[lost[0]]
                own[game] = np.where(has_lost, -1, 1) * np.abs(own[game])
        return np.where(own > 0, 1, 2), own

    def side_points(self, points: NDArray[np.number]) -> dict[str, NDArray[np.float64]]:
        """Return the candidate's points on each side, float64 [deals], from those of all games [games, seats]."""
        own = np.asarray(points, np.float64)[:, self.party_seats]
        return {side: own[number :: self.num_games(), number] for number, side in enumerate(self.sides)}

    def first_deal(self, seed: int, *, is_fresh: bool = False) -> int:
        """Return the seed of the first deal of a match; ``is_fresh``: of the new ones after a pass."""
        if not 0 <= seed <= self.max_seed:
            raise ValueError(f"seed is {seed:,}: use 0 to {self.max_seed:,}")
        return self.first_seed + self.deals_per_seed * seed + self.fresh_distance * is_fresh


def shared_ranks(sums: NDArray[np.number]) -> NDArray[np.float64]:
    """Return the place of each of ``sums`` [n], the largest first; equal ones share the mean of their places."""
    values = np.asarray(sums)
    ahead, equal = (values > values[:, None]).sum(axis=1), (values == values[:, None]).sum(axis=1)
    places: NDArray[np.float64] = ahead + (equal + 1) / 2
    return places


def _ranks(values: NDArray[np.number]) -> I64:
    """Return the rank from 1 on in each row, the smallest first; of equal values the first one is ahead."""
    order = np.argsort(values, axis=1, kind="stable")
    return np.asarray(np.argsort(order, axis=1) + 1, np.int64)
