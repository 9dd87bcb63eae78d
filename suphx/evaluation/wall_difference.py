"""What a wall says about two agents: the difference of their places, or of points by place, over its four games.

The difference is on one scale for all seatings: that of one candidate among three opponents. If a candidate alone
comes 2.45th on average, and its strength adds up, then 1v3, 2v2 and 3v1 all show -0.05. With k candidates at a table
it is 3/4 of the mean of the candidates minus the mean of the opponents; for k = 1 this is the candidate's place minus
2.5. Sums are integers, so that no order of additions changes a digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.match_config import SEATS, MeasureName, Seating

NUM_CANDIDATES: dict[str, int] = {"1v3": 1, "2v2": 2, "3v1": 3}
_PARTNERS = ((0, 1), (0, 2), (0, 3))
"""Seats of the candidates, up to an exchange of the sides."""


def candidate_seats(seating: Seating, wall_number: int) -> NDArray[np.bool_]:
    """Return where candidates sit in the four games of a wall: bool [4 games, 4 seats]."""
    if seating == "1v3":
        return np.eye(4, dtype=np.bool_)
    if seating == "3v1":
        return ~np.eye(4, dtype=np.bool_)
    seats = np.zeros((4, 4), np.bool_)
    skipped = wall_number % len(_PARTNERS)
    for number, partners in enumerate(way for index, way in enumerate(_PARTNERS) if index != skipped):
        seats[2 * number, partners] = True
        seats[2 * number + 1] = ~seats[2 * number]
    return seats


I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Measure:
    """What counts: places, of which fewer are better, or points, of which more are better."""

    name: MeasureName
    by_place: tuple[int, ...]
    """What first to fourth place are worth."""

    @property
    def sign(self) -> int:
        """1 if larger values are better, -1 if smaller ones are."""
        return 1 if self.name == "points" else -1

    @property
    def wall_spread(self) -> float:
        """Standard deviation of the mean of four independent games among equal players."""
        return float(np.std(self.by_place)) / 2

    @property
    def best_difference(self) -> float:
        """By how much one candidate that is always first is better than three equal opponents."""
        return float(max(self.sign * (value - np.mean(self.by_place)) for value in self.by_place))

    @property
    def largest_difference(self) -> float:
        """A bound of the difference on one wall, in any seating."""
        return 0.75 * (max(self.by_place) - min(self.by_place))

    def wall_sums(self, placements: I64, seating: Seating) -> I64:
        """Return how much the candidates had on each wall beyond the table's mean: int64 [walls].

        ``placements`` [walls, 4]: how often candidates came first to fourth in the four games of each wall. Multiplied
        by ``wall_unit`` it is the difference.
        """
        sums: I64 = placements @ np.array(self.by_place, np.int64)
        return sums - NUM_CANDIDATES[seating] * sum(self.by_place)


PLACEMENT = Measure("placement", (1, 2, 3, 4))


def points_measure(points: tuple[int, ...]) -> Measure:
    """Return the measure in points; ValueError unless there are four that fall from first to fourth place."""
    if (
        len(points) != SEATS
        or not all(isinstance(value, int) for value in points)
        or list(points) != sorted(points, reverse=True)
        or points[0] == points[-1]
    ):
        raise ValueError(
            f"points is {list(points)}: give four whole numbers, for first to fourth place, none above the one before"
        )
    return Measure("points", points)


def wall_unit(seating: Seating) -> Fraction:
    """Return what 1 of ``Measure.wall_sums`` is as a difference."""
    candidates = NUM_CANDIDATES[seating]
    return Fraction(3, 4 * candidates * (SEATS - candidates))
