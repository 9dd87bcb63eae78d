"""What decides a match, of fixed length or one that stops when it is decided: places, points by place, or games won.

What a deal says about two agents is a whole number, so that no order of additions changes a digit. In games of four
seats it is on one scale for all seatings: that of one candidate among three opponents. If a candidate alone comes
2.45th on average, and its strength adds up, then 1v3, 2v2 and 3v1 all show -0.05. With k candidates at a table it is
3/4 of the mean of the candidates minus the mean of the opponents; for k = 1 this is the candidate's place minus 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, TypeAlias, get_args

import numpy as np

from suphx.evaluation.match_config import (
    MAX_HANCHANS,
    MIN_CLUSTERS,
    PHOENIX_POINTS,
    SEATS,
    MeasureName,
    Seating,
    SeatingChoice,
    chosen_seatings,
)
from suphx.evaluation.sequential_test import FIRST_LOOK, SequentialTest, WallScale
from suphx.kernel.record import I64
from suphx.number_range import Range, check_ranges

if TYPE_CHECKING:
    from suphx.evaluation.statistics import Interval  # with SciPy, which the settings do not need

_GAMES_PER_DECK = 2
EQUAL_SHARE = 0.5
"""The share of games that equal agents win."""
_DECK_SPREAD = 0.35
"""Standard deviation of a deck's gain between equal agents if luck decides each game alone."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What counts of four seats: places, of which fewer are better, or points by place, of which more are better."""

    name: MeasureName
    by_place: tuple[int, ...]
    """What first to fourth place are worth."""

    @property
    def sign(self) -> int:
        """1 if larger values are better, -1 if smaller ones are."""
        return 1 if self.name == "points" else -1

    @property
    def best_difference(self) -> float:
        """By how much one candidate that is always first is better than three equal opponents."""
        return float(max(self.sign * (value - np.mean(self.by_place)) for value in self.by_place))

    def wall_sums(self, placements: I64, seating: Seating) -> I64:
        """Return how much the candidates had on each deal beyond the table's mean: int64 [deals].

        ``placements`` [deals, 4]: how often candidates came first to fourth in the four games of each deal. Multiplied
        by ``wall_unit`` it is the difference.
        """
        sums: I64 = placements @ np.array(self.by_place, np.int64)
        return sums - int(seating[0]) * sum(self.by_place)


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
    candidates = int(seating[0])
    return Fraction(3, 4 * candidates * (SEATS - candidates))


@dataclass(frozen=True, slots=True)
class PlaceGain:
    """A measure of four seats as the sequential test takes it."""

    measure: Measure
    seating: Seating

    @property
    def name(self) -> str:
        """Return the name of the measure."""
        return self.measure.name

    @property
    def scale(self) -> WallScale:
        """Return how whole numbers of deals become a gain."""
        by_place = self.measure.by_place
        spread = float(np.std(by_place)) / 2  # of the mean of four independent games among equal players
        largest = 0.75 * (max(by_place) - min(by_place))  # on one deal, in any seating
        return WallScale(self.measure.sign * float(wall_unit(self.seating)), spread, largest)

    def values(self, placements: I64) -> list[int]:
        """Return the number of each deal; ``placements`` [deals, 4] of candidates."""
        values: list[int] = self.measure.wall_sums(placements, self.seating).tolist()
        return values

    def shown(self, gain: Interval) -> Interval:
        """Return the interval of a gain as that of the difference."""
        return gain if self.measure.sign > 0 else replace(gain, low=-gain.high, high=-gain.low)

    @property
    def unit(self) -> str:
        """What differences are counted in."""
        return "places" if self.name == "placement" else "points per hanchan"

    def amount(self, difference: float) -> str:
        """Return in words how much better somebody is."""
        return f"{difference:g} {self.unit}"

    def text(self, interval: Interval) -> str:
        """Return the interval of the difference in words."""
        return f"{interval.low:+.3f} to {interval.high:+.3f} {self.unit}"


@dataclass(frozen=True, slots=True)
class ShareGain:
    """The share of games won on two sides as the sequential test takes it."""

    name: str = "share"

    @property
    def scale(self) -> WallScale:
        """How the numbers of deals, games won less one, become the gain: the share of games won less 0.5."""
        return WallScale(1 / _GAMES_PER_DECK, _DECK_SPREAD, EQUAL_SHARE)

    def values(self, placements: I64) -> list[int]:
        """Return the number of each deal; ``placements`` [deals, 2]: games of the candidate won and lost."""
        values: list[int] = (placements[:, 0] - _GAMES_PER_DECK // 2).tolist()
        return values

    def shown(self, gain: Interval) -> Interval:
        """Return the interval of a gain as that of the share."""
        return replace(gain, low=max(EQUAL_SHARE + gain.low, 0.0), high=min(EQUAL_SHARE + gain.high, 1.0))

    def amount(self, difference: float) -> str:
        """Return in words how much better somebody is."""
        return f"{100 * difference:g} % of the games won"

    def text(self, interval: Interval) -> str:
        """Return the interval of the share in words."""
        return f"{interval.low:.1%} to {interval.high:.1%} of the games won"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTestConfig:
    """What a match of two sides decides, and how sure the decision is."""

    difference: Annotated[float, Range(0, EQUAL_SHARE, "neither")] = 0.02
    """The difference that matters in the share of games won, above 0 and below 0.5: with 0.02, 52 instead of 50 % of
    the games. A smaller one needs more decks. A candidate that is better by less may or may not pass."""
    error: Annotated[float, Range(0, 0.5, "neither")] = 0.01
    """Share of wrong decisions, at most: equal agents that pass, and agents better by ``difference`` that do not."""

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def gains(self) -> tuple[ShareGain, ...]:
        """What is measured; the first one decides."""
        return (ShareGain(),)

    def test(self) -> SequentialTest:
        """Return the test that decides."""
        return SequentialTest(ShareGain().scale, self.difference, self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialConfig:
    """What a match of four seats decides, and how sure the decision is."""

    difference: Annotated[float, Range(0, 10_000, "right")] = 0.1
    """The difference that matters, above 0: in places, or in points per hanchan if ``decides`` is points. A smaller one
    needs more games (docs/evaluation.md). A candidate that is better by less may or may not pass."""
    error: Annotated[float, Range(0, 0.5, "neither")] = 0.01
    """Share of wrong decisions, at most: equal agents that pass, and agents better by ``difference`` that do not."""
    decides: MeasureName = "placement"
    """What decides: the average placement, or points. Both are reported."""
    points: tuple[Annotated[int, Range(-1_000_000, 1_000_000)], ...] = PHOENIX_POINTS
    """What first to fourth place are worth; by default in Tenhou's phoenix room for 7 dan."""
    seating: SeatingChoice = "1v3"
    """Candidates against opponents at a table: 1v3, 2v2 or 3v1. The difference is on the same scale in all three. all:
    1v3 decides, and after a pass there is a match on new walls in each of the three."""

    def __post_init__(self) -> None:
        check_ranges(self)
        for name, value, allowed in (
            ("decides", self.decides, get_args(MeasureName)),
            ("seating", self.seating, get_args(SeatingChoice)),
        ):
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}: use one of {', '.join(allowed)}")
        points_measure(self.points)
        if self.difference >= self.deciding.best_difference:
            points = ", or set decides to points" if self.decides == "placement" else ""
            raise ValueError(
                f"difference is {self.difference:g}: use a number below {self.deciding.best_difference:g}, the "
                f"difference of an agent that always comes first{points}"
            )

    @property
    def deciding_seating(self) -> Seating:
        """The seating of the match that decides."""
        return chosen_seatings(self.seating)[0]

    @property
    def deciding(self) -> Measure:
        """The measure that decides."""
        return points_measure(self.points) if self.decides == "points" else PLACEMENT

    @property
    def gains(self) -> tuple[PlaceGain, ...]:
        """What is measured; the first one decides."""
        other = PLACEMENT if self.decides == "points" else points_measure(self.points)
        return PlaceGain(self.deciding, self.deciding_seating), PlaceGain(other, self.deciding_seating)

    def test(self) -> SequentialTest:
        """Return the test that decides."""
        return SequentialTest(self.gains[0].scale, self.difference, self.error)


TestConfig: TypeAlias = SequentialConfig | SideTestConfig
MIN_HANCHANS = SEATS * FIRST_LOOK
"""Fewer have no look, so they decide nothing."""


def check_budget(hanchans: int) -> None:
    """Raise ValueError for a budget that allows no decision."""
    if not MIN_HANCHANS <= hanchans <= MAX_HANCHANS or hanchans % SEATS:
        raise ValueError(
            f"{hanchans} hanchans: use a multiple of {SEATS} (the seats), {MIN_HANCHANS} (for a decision) to "
            f"{MAX_HANCHANS:,}"
        )


def check_deals(deals: int, fresh_deals: int, name: str = "deal") -> None:
    """Raise ValueError for numbers of deals of a sequential match that allow no decision, or have no interval."""
    for what, number, least in ((f"{name}s", deals, FIRST_LOOK), (f"fresh_{name}s", fresh_deals, MIN_CLUSTERS)):
        if number < least:
            raise ValueError(f"{what} is {number}: use at least {least}")
