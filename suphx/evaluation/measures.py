"""What decides a match, of fixed length or one that stops when it is decided: places, points, or games won.

What a deal says about two agents is a whole number, so that no order of additions changes a digit. In games of four
seats it is on one scale for all seatings: that of one candidate among three opponents. If a candidate alone comes
2.45th on average, and its strength adds up, then 1v3, 2v2 and 3v1 all show -0.05. With k candidates at a table it is
3/4 of the mean of the candidates minus the mean of the opponents; for k = 1 this is the candidate's place minus 2.5.
Points are those of places, or those of the games themselves where these decide (``Scoring.decides``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np

from suphx.evaluation.match_config import (
    MIN_CLUSTERS,
    PHOENIX_POINTS,
    SEATS,
    Seating,
    SeatingChoice,
    chosen_seatings,
)
from suphx.evaluation.sequential_test import FIRST_LOOK, SequentialTest, WallScale
from suphx.games.scoring import MeasureName, SeatScoring, SideScoring
from suphx.kernel.record import I64
from suphx.number_range import Range, check_ranges

if TYPE_CHECKING:
    from suphx.evaluation.statistics import Interval  # with SciPy, which the settings do not need

EQUAL_SHARE = 0.5
"""The share of games that equal agents win."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What counts of a table: places, of which fewer are better, or points or games won: more are better."""

    name: MeasureName
    by_place: tuple[int, ...]
    """What first, second, … place are worth; empty: the points of the game itself count, which add up to 0."""
    candidates: int = 1
    """At a table."""
    games: int = 0
    """Of a deal; 0: as many as parties."""
    points_spread: float = 0.0
    """Of the game's points, as those of ``Scoring``."""
    largest_points: float = 0.0

    @property
    def _parties(self) -> int:
        return len(self.by_place) or SEATS

    @property
    def sign(self) -> int:
        """1 if larger values are better, -1 if smaller ones are."""
        return -1 if self.name == "placement" else 1

    @property
    def best_difference(self) -> float:
        """By how much one candidate that is always first is better than equal opponents."""
        if not self.by_place:
            return self.largest_points
        return float(max(self.sign * (value - np.mean(self.by_place)) for value in self.by_place))

    @property
    def game_unit(self) -> float:
        """What 1 of the sum of the candidates in a game, beyond the table's mean, is as a difference."""
        return (self._parties - 1) / (self.candidates * (self._parties - self.candidates))

    @property
    def wall_unit(self) -> float:
        """What 1 of ``wall_sums`` is as a difference."""
        return self.game_unit / (self.games or self._parties)

    def wall_sums(self, outcomes: I64) -> I64:
        """Return how much the candidates had on each deal beyond the table's mean: int64 [deals].

        ``outcomes`` [deals, parties, or one more]: how often candidates came first, second, … in the games of each
        deal, and the sum of their points. Multiplied by ``wall_unit`` it is the difference.
        """
        if not self.by_place:
            points: I64 = outcomes[:, -1]
            return points
        sums: I64 = outcomes[:, : self._parties] @ np.array(self.by_place, np.int64)
        return sums - self.candidates * (self.games or self._parties) * sum(self.by_place) // self._parties

    @property
    def scale(self) -> WallScale:
        """Return how whole numbers of deals become a gain, as the sequential test takes it."""
        parties = self._parties
        spread, largest = self.points_spread, self.largest_points
        if self.by_place:
            spread = float(np.std(self.by_place))
            largest = (parties - 1) / parties * (max(self.by_place) - min(self.by_place))  # on one deal, in any seating
        # of the mean of independent games among equal players
        return WallScale(self.sign * self.wall_unit, spread / parties**0.5, largest)

    def shown(self, gain: Interval) -> Interval:
        """Return the interval of a gain as that of the difference, or of the share of games won."""
        if self.name == "share":
            return replace(gain, low=max(EQUAL_SHARE + gain.low, 0.0), high=min(EQUAL_SHARE + gain.high, 1.0))
        return gain if self.sign > 0 else replace(gain, low=-gain.high, high=-gain.low)

    def is_better(self, low: float, high: float) -> bool:
        """Tell whether the whole interval of a difference says that the candidate is better."""
        return low > 0 if self.sign > 0 else high < 0

    def is_worse(self, low: float, high: float) -> bool:
        """Tell whether the whole interval of a difference says that the candidate is worse."""
        return self.is_better(-high, -low)

    @property
    def better_sign(self) -> str:
        """The sign of a difference that is better, in words."""
        return "positive" if self.sign > 0 else "negative"

    @property
    def unit(self) -> str:
        """What differences are counted in."""
        return {"placement": "places", "points": "points per game", "share": "of the games won"}[self.name]

    @property
    def difference_name(self) -> str:
        """What a difference is called."""
        return f"difference in {'average placement' if self.name == 'placement' else self.unit}"

    def amount(self, difference: float) -> str:
        """Return in words how much better somebody is."""
        return f"{100 * difference:g} % {self.unit}" if self.name == "share" else f"{difference:g} {self.unit}"

    def text(self, ends: Sequence[float]) -> str:
        """Return the interval of the difference, or of the share, in words."""
        form = ".1%" if self.name == "share" else "+.3f"
        return f"{ends[0]:{form}} to {ends[1]:{form}} {self.unit}"


PLACEMENT = Measure("placement", (1, 2, 3, 4))
POINTS = Measure("points", ())
"""Of the games themselves."""
SHARE = Measure("share", (1, 0))
"""Of games won on two sides."""


def measure_of(result: Mapping[str, Any]) -> Measure:
    """Return what decides a match with this JSON: ``decides``, by default the placement."""
    return {each.name: each for each in (PLACEMENT, POINTS, SHARE)}[result.get("decides", "placement")]


def decision_text(test: Mapping[str, Any], candidate: str, opponent: str, games: str, *, is_worse: bool = False) -> str:
    """Return one sentence with the decision of a sequential test and its figures.

    ``test``: JSON of the match (``SequentialReport.to_json``); ``games``: what people call the games; ``is_worse``: the
    interval says that the candidate is worse, whatever the test itself has decided.
    """
    decides = measure_of(test)
    number = f"{test['games']:,} {games}"
    interval = f"always-valid 95 % interval {decides.text(test['always_valid_intervals'][decides.name])}"
    if is_worse:
        return f"{candidate} is worse than {opponent}: {number} played ({interval})"
    if test["verdict"] == "undecided":
        more = f"about {test['expected_games']:,.0f} more needed"
        return f"undecided whether {candidate} is better than {opponent}: {number} played, {more} ({interval})"
    claim = f"is better than {opponent}"
    if test["verdict"] == "not_better":
        claim = f"is not better than {opponent} by {decides.amount(test['difference'])}"
    return f"{candidate} {claim}: decided after {number} ({interval})"


def deciding_measure(scoring: SeatScoring | SideScoring) -> Measure:
    """Return what decides the matches of a game."""
    return points_of(scoring, ()) if scoring.decides == "points" else measure_of({"decides": scoring.decides})


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


def points_of(scoring: SeatScoring | SideScoring, points: tuple[int, ...]) -> Measure:
    """Return the measure in points of a game: its own if they decide, else ``points`` by place."""
    if scoring.decides != "points":
        return points_measure(points)
    spread, largest = scoring.points_spread, scoring.largest_points
    return Measure("points", (), points_spread=spread, largest_points=largest)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialConfig:
    """What a match decides, and how sure the decision is."""

    difference: Annotated[float, Range(0, 10_000)] = 0.0
    """The difference that matters, 0 = 0.1 places or 0.02 of the games: in places, in points per game if ``decides`` is
    points, and in a game of two sides in the share of games won (with 0.02, 52 instead of 50 % of the games). A smaller
    one needs more games (docs/evaluation.md). A candidate that is better by less may or may not pass."""
    error: Annotated[float, Range(0, 0.5, "neither")] = 0.01
    """Share of wrong decisions, at most: equal agents that pass, and agents better by ``difference`` that do not."""
    decides: MeasureName = "placement"
    """What decides: the average placement, or points; both are reported. In a game of two sides it is share, that of
    the games won."""
    points: tuple[Annotated[int, Range(-1_000_000, 1_000_000)], ...] = PHOENIX_POINTS
    """What first to fourth place are worth; by default in Tenhou's phoenix room for 7 dan. Not for two sides, nor in
    games that pay points of their own, such as mcr."""
    seating: SeatingChoice = "1v3"
    """Candidates against opponents at a table: 1v3, 2v2 or 3v1. The difference is on the same scale in all three. all:
    1v3 decides, and after a pass there is a match on new walls in each of the three. Not in games of two sides."""

    def __post_init__(self) -> None:
        check_ranges(self)
        for name, value, allowed in (
            ("decides", self.decides, get_args(MeasureName)),
            ("seating", self.seating, get_args(SeatingChoice)),
        ):
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}: use one of {', '.join(allowed)}")
        best = self.gains()[0].best_difference
        if not 0 < self.gain < best:
            points = ", or set decides to points" if self.decides == "placement" else ""
            raise ValueError(
                f"difference is {self.difference:g}: use a number above 0 and below {best:g}, the difference of an "
                f"agent that always comes first{points}"
            )

    @property
    def gain(self) -> float:
        """The difference that matters, also if it is not given."""
        return self.difference or _USUAL_GAINS.get(self.decides, 0.0)

    @property
    def deciding_seating(self) -> Seating | None:
        """The seating of the match that decides; None in a game of two sides."""
        return None if self.decides == "share" else chosen_seatings(self.seating)[0]

    def gains(self, scoring: SeatScoring | SideScoring | None = None) -> tuple[Measure, ...]:
        """Return what is measured in a game with this scoring, by default one that decides by places.

        The first one decides.
        """
        if self.deciding_seating is None:
            return (SHARE,)
        points = points_measure(self.points) if scoring is None else points_of(scoring, self.points)
        games = 0 if scoring is None else scoring.num_games(self.deciding_seating)
        measures = (PLACEMENT, points)[:: -1 if self.decides == "points" else 1]
        return tuple(replace(each, candidates=int(self.deciding_seating[0]), games=games) for each in measures)

    def test(self, scoring: SeatScoring | SideScoring | None = None) -> SequentialTest:
        """Return the test that decides."""
        return SequentialTest(self.gains(scoring)[0].scale, self.gain, self.error)


_USUAL_GAINS: dict[MeasureName, float] = {"placement": 0.1, "share": 0.02}


def check_deals(deals: int, fresh_deals: int, name: str = "deal") -> None:
    """Raise ValueError for numbers of deals of a sequential match that allow no decision, or have no interval."""
    for what, number, least in ((f"{name}s", deals, FIRST_LOOK), (f"fresh_{name}s", fresh_deals, MIN_CLUSTERS)):
        if number < least:
            raise ValueError(f"{what} is {number}: use at least {least}")
