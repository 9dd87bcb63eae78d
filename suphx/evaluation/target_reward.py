"""What a finished game is worth: placement points of a room and a grade, or any four numbers (paper, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

from suphx.evaluation.stable_rank import GRADES, ROOM_POINTS, placement_points
from suphx.finite_number import is_finite_number

_FIRST_DAN = 10  # its number among Tenhou's grades


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRewardConfig:
    """Reward of a seat for its placement in a hanchan."""

    room: str = "expert"
    """Tenhou's room: general, advanced, expert or phoenix. The paper's agents play in the expert room."""
    dan: int = 8
    """Dan of the player, 1 to 10. At its stable rank a player wins and loses equal points; 8 is that of the paper's RL
    agents."""
    points: tuple[float, ...] = ()
    """Four rewards, for first to fourth place, instead of those of room and dan."""

    def __post_init__(self) -> None:
        if self.room not in ROOM_POINTS:
            raise ValueError(f"room is {self.room!r}: use one of {', '.join(ROOM_POINTS)}")
        if not 1 <= self.dan <= len(GRADES) - _FIRST_DAN:
            raise ValueError(f"dan is {self.dan}: use 1 to {len(GRADES) - _FIRST_DAN}")
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
