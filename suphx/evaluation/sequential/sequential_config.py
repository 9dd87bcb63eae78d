"""The settings of a match that stops as soon as it is decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, get_args

from suphx.evaluation.match_config import (
    MAX_HANCHANS,
    MAX_SIDE_DECKS,
    MIN_CLUSTERS,
    PHOENIX_POINTS,
    SEATS,
    MeasureName,
    Seating,
    SeatingChoice,
    chosen_seatings,
)
from suphx.evaluation.sequential.sequential_test import FIRST_LOOK, SequentialTest, WallScale, last_look_within
from suphx.evaluation.wall_difference import PLACEMENT, Measure, points_measure, wall_unit
from suphx.evaluation.workers.play_plan import GAMES_PER_DECK
from suphx.number_range import Range, check_ranges

EQUAL_SHARE = 0.5
"""The share of games that equal agents win."""
_DECK_SPREAD = 0.35
"""Standard deviation of a deck's gain between equal agents if luck decides each game alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTestConfig:
    """What a match decides, and how sure the decision is."""

    difference: Annotated[float, Range(0, EQUAL_SHARE, "neither")] = 0.02
    """The difference that matters in the share of games won, above 0 and below 0.5: with 0.02, 52 instead of 50 % of
    the games. A smaller one needs more decks. A candidate that is better by less may or may not pass."""
    error: Annotated[float, Range(0, 0.5, "neither")] = 0.01
    """Share of wrong decisions, at most: equal agents that pass, and agents better by ``difference`` that do not."""

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def scale(self) -> WallScale:
        """How the numbers of decks, games won less one, become the gain: the share of games won less 0.5."""
        return WallScale(1 / GAMES_PER_DECK, _DECK_SPREAD, EQUAL_SHARE)

    def test(self) -> SequentialTest:
        """Return the test that decides."""
        return SequentialTest(self.scale, self.difference, self.error)


def check_decks(decks: int, fresh_decks: int) -> None:
    """Raise ValueError for numbers of decks that allow no decision, or have no interval."""
    for name, number, least in (("decks", decks, FIRST_LOOK), ("fresh_decks", fresh_decks, MIN_CLUSTERS)):
        if not least <= number <= MAX_SIDE_DECKS:
            raise ValueError(f"{name} is {number}: use {least} to {MAX_SIDE_DECKS:,}")


MIN_HANCHANS = SEATS * FIRST_LOOK
"""Fewer have no look, so they decide nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialConfig:
    """What a match decides, and how sure the decision is."""

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
    def measures(self) -> tuple[Measure, Measure]:
        """Placement and points."""
        return PLACEMENT, points_measure(self.points)

    @property
    def deciding(self) -> Measure:
        """The measure that decides."""
        return next(measure for measure in self.measures if measure.name == self.decides)

    def scale(self, measure: Measure) -> WallScale:
        """Return how walls of ``measure`` become a gain."""
        unit = measure.sign * float(wall_unit(self.deciding_seating))
        return WallScale(unit, measure.wall_spread, measure.largest_difference)

    def test(self) -> SequentialTest:
        """Return the test that decides."""
        return SequentialTest(self.scale(self.deciding), self.difference, self.error)


def last_look(hanchans: int) -> int:
    """Return the last number of walls, within a budget of ``hanchans``, at which the test is asked; 0 if there is none.

    Walls beyond it could decide nothing and are not played.
    """
    return last_look_within(hanchans // SEATS)


def check_budget(hanchans: int) -> None:
    """Raise ValueError for a budget that allows no decision."""
    if not MIN_HANCHANS <= hanchans <= MAX_HANCHANS or hanchans % SEATS:
        raise ValueError(
            f"{hanchans} hanchans: use a multiple of {SEATS} (the seats), {MIN_HANCHANS} (for a decision) to "
            f"{MAX_HANCHANS:,}"
        )
