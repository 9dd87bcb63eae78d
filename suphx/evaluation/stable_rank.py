"""Tenhou's grades and points, and the stable rank: the dan at which a player's placements win and lose equal points.

Paper, section 4.1, equation 7 and table 6. Table 6 is mixed: its points for first and second place are those of an
East-only game, its points for fourth place those of a hanchan. Here both lengths stand on their own: an East-only game
moves two thirds of the points of a hanchan, so that the stable rank is the same formula for both. It has a meaning in
Tenhou's rooms only, against the players there: of games among agents there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade of Tenhou (table 6): points at its start, points to rise, points lost by a fourth place (hanchan)."""

    name: str
    start: int
    rise: int
    fourth: int


GRADES = (
    Grade("newcomer", 0, 20, 0),
    Grade("9 kyu", 0, 20, 0),
    Grade("8 kyu", 0, 20, 0),
    Grade("7 kyu", 0, 20, 0),
    Grade("6 kyu", 0, 40, 0),
    Grade("5 kyu", 0, 60, 0),
    Grade("4 kyu", 0, 80, 0),
    Grade("3 kyu", 0, 100, 0),
    Grade("2 kyu", 0, 100, 15),
    Grade("1 kyu", 0, 100, 30),
    *(Grade(f"{dan} dan", 200 * dan, 400 * dan, DAN_STEP * (dan + 2)) for dan in range(1, 11)),
)
"""By Tenhou's number of a grade (GameLog.dans): 0 = newcomer, 10 = 1 dan, 19 = 10 dan; 20 is an honour, no points."""


def placement_points(placement: int, grade: int, room: str = "expert", length: str = "hanchan") -> int:
    """Return the points that a game's ``placement`` (1-4) moves for a player of ``grade`` (0-19, see GRADES).

    ``room`` is a key of ROOM_POINTS, ``length`` one of LENGTHS; ValueError for anything else.
    """
    if not 1 <= placement <= 4:
        raise ValueError(f"placement is {placement}: use 1 to 4")
    if not 0 <= grade < len(GRADES):
        raise ValueError(f"grade is {grade}: use 0 (newcomer) to {len(GRADES) - 1} (10 dan)")
    if length not in LENGTHS:
        raise ValueError(f"length is {length!r}: use one of {', '.join(LENGTHS)}")
    first, second = _room_points(room)
    points = (first, second, 0, -GRADES[grade].fourth)[placement - 1]
    return points if length == "hanchan" else points * 2 // 3


def stable_rank(counts: Sequence[int], room: str = "expert", length: str = "hanchan") -> float:
    """Return the stable rank in dan of four placement counts (first to fourth place), or of shares that add up to 1.

    Expert room: (5 n1 + 2 n2) / n4 - 2 (equation 7); phoenix: (6 n1 + 3 n2) / n4 - 2. Without any fourth place it is
    infinite, and not a number (nan) if there is neither a first nor a second place either.
    ValueError for anything but four counts >= 0, for an unknown room or length.
    """
    if len(counts) != 4 or not all(count >= 0 and math.isfinite(count) for count in counts):
        raise ValueError(f"counts are {list(counts)}: give four numbers >= 0, games in first to fourth place")
    return float(ranks_of(rank_terms(np.asarray([counts], np.float64), room, length))[0])


def rank_terms(counts: F64 | NDArray[np.int64], room: str = "expert", length: str = "hanchan") -> F64:
    """Return [points won, points that each dan costs] of each row of placement counts: [n, 4] -> float64 [n, 2].

    The sums over games in any rooms and of both lengths have the stable rank ``ranks_of``. ValueError for an unknown
    room or length.
    """
    if length not in LENGTHS:
        raise ValueError(f"length is {length!r}: use one of {', '.join(LENGTHS)}")
    first, second = _room_points(room)
    terms = np.stack([first * counts[:, 0] + second * counts[:, 1], DAN_STEP * counts[:, 3]], axis=1)
    return np.asarray(terms, np.float64) * (1 if length == "hanchan" else _TONPUU_SHARE)


def ranks_of(terms: F64) -> F64:
    """Return the stable rank of each row of sums of ``rank_terms``: [n, 2] -> float64 [n]; inf and nan as there."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ranks: F64 = terms[:, 0] / terms[:, 1] - 2
    return ranks


def _room_points(room: str) -> tuple[int, int]:
    if room not in ROOM_POINTS:
        raise ValueError(f"room is {room!r}: use one of {', '.join(ROOM_POINTS)}")
    return ROOM_POINTS[room]


_FIRST_DAN = 10  # its number among Tenhou's grades


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
        grade = _FIRST_DAN - 1 + self.dan
        first, second, third, fourth = (float(placement_points(place, grade, self.room)) for place in range(1, 5))
        return first, second, third, fourth
