"""Tenhou's points, and the stable rank: the dan at which a player's placements win and lose equal points.

Paper, section 4.1, equation 7 and table 6. Table 6 is mixed: its points for first and second place are those of an
East-only game, its points for fourth place those of a hanchan. Here both lengths stand on their own: an East-only game
moves two thirds of the points of a hanchan, so that the stable rank is the same formula for both. It has a meaning in
Tenhou's rooms only, against the players there: of games among agents there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.finite_number import is_finite_number
from suphx.number_range import Range, check_ranges

F64: TypeAlias = NDArray[np.float64]

LENGTHS = ("hanchan", "tonpuu")
_TONPUU_SHARE = 2 / 3
ROOM_POINTS = {"general": (30, 15), "advanced": (60, 15), "expert": (75, 30), "phoenix": (90, 45)}
"""Points for first and second place of a hanchan in each room; the third place has none."""
DAN_STEP = 15
"""Each dan more costs so many points more for the fourth place of a hanchan: 15 * (dan + 2)."""


def rank_terms(counts: F64 | NDArray[np.int64], room: str = "expert", length: str = "hanchan") -> F64:
    """Return [points won, points that each dan costs] of each row of placement counts: [n, 4] -> float64 [n, 2].

    The sums over games in any rooms and of both lengths have the stable rank ``ranks_of``. Expert room: (5 n1 + 2 n2)
    / n4 - 2 (equation 7); phoenix: (6 n1 + 3 n2) / n4 - 2. ValueError for an unknown room or length.
    """
    if length not in LENGTHS:
        raise ValueError(f"length is {length!r}: use one of {', '.join(LENGTHS)}")
    first, second = _room_points(room)
    terms = np.stack([first * counts[:, 0] + second * counts[:, 1], DAN_STEP * counts[:, 3]], axis=1)
    return np.asarray(terms, np.float64) * (1 if length == "hanchan" else _TONPUU_SHARE)


def ranks_of(terms: F64) -> F64:
    """Return the stable rank in dan of each row of sums of ``rank_terms``: [n, 2] -> float64 [n].

    Without any fourth place it is infinite, and nan if there is neither a first nor a second place either.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ranks: F64 = terms[:, 0] / terms[:, 1] - 2
    return ranks


def _room_points(room: str) -> tuple[int, int]:
    if room not in ROOM_POINTS:
        raise ValueError(f"room is {room!r}: use one of {', '.join(ROOM_POINTS)}")
    return ROOM_POINTS[room]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRewardConfig:
    """Reward of a seat for its placement in a hanchan."""

    room: str = "expert"
    """Tenhou's room: general, advanced, expert or phoenix. The paper's agents play in the expert room."""
    dan: Annotated[int, Range(1, 10)] = 8
    """Dan of the player, 1 to 10. At its stable rank a player wins and loses equal points; 8 is that of the paper's RL
    agents."""
    points: tuple[Annotated[float, Range(-1_000_000, 1_000_000)], ...] = ()
    """Four rewards, for first to fourth place, instead of those of room and dan."""

    def __post_init__(self) -> None:
        if self.room not in ROOM_POINTS:
            raise ValueError(f"room is {self.room!r}: use one of {', '.join(ROOM_POINTS)}")
        check_ranges(self)
        is_right = len(self.points) == 4 and all(map(is_finite_number, self.points)) and len(set(self.points)) > 1
        if self.points and not is_right:
            raise ValueError(f"points is {list(self.points)}: give four numbers that are not all equal, or none")

    def by_place(self) -> tuple[float, float, float, float]:
        """Return what first to fourth place are worth."""
        if self.points:
            first, second, third, fourth = self.points
            return first, second, third, fourth
        first, second = _room_points(self.room)
        return float(first), float(second), 0.0, -float(DAN_STEP * (self.dan + 2))
