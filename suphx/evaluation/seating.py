"""Who sits where in the four games of a wall: one candidate, two or three, each seat as often as every other.

``1v3`` is one candidate against three opponents, once at each seat; ``3v1`` the reverse. In ``2v2`` each of the two
sides gets every seat twice: two ways to choose the candidates' seats, and both again with the sides exchanged. Of the
three such pairs of ways, walls take turns, so that partners are neighbours as often as chance would have it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.match_config import Seating

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
