"""What the complete walls of a match decide, whatever the order in which they arrive.

The decision hangs on the walls 1, 2, 3, … without a gap only. A game that ends early cannot move it before all walls
in front of it are there, so neither the number of processes nor the order in which games end can.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suphx.evaluation.match import I32
from suphx.evaluation.match_config import SEATS
from suphx.evaluation.match_setup import CANDIDATE
from suphx.evaluation.sequential.sequential_config import EQUAL_SHARE, SequentialConfig, SideTestConfig
from suphx.evaluation.sequential.sequential_test import FIRST_LOOK, Decision, SequentialState, WallScale, WallSums
from suphx.evaluation.statistics import LEVEL, Interval
from suphx.evaluation.wall_difference import Measure
from suphx.evaluation.workers.play_plan import GAMES_PER_DECK


def always_valid_interval(sums: WallSums, scale: WallScale, *, narrowest_at: int, level: float = LEVEL) -> Interval:
    """Return the interval of the mean gain that holds at all times together; infinite without walls.

    It is the narrowest possible after about ``narrowest_at`` walls, which must not depend on the results.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}: use a number between 0 and 1, such as 0.95")
    if narrowest_at < 1:
        raise ValueError(f"narrowest_at is {narrowest_at}: use 1 wall or more")
    if sums.walls < 1:
        return Interval(-math.inf, math.inf)
    radius = math.sqrt(scale.variance(sums)) * _unit_radius(sums.walls, narrowest_at, 1 - level)
    return Interval(scale.mean(sums) - radius, scale.mean(sums) + radius)


def _unit_radius(walls: int, narrowest_at: int, error: float) -> float:
    """Return half the width for a standard deviation of 1."""
    rho_squared = (-2 * math.log(error) + math.log(-2 * math.log(error) + 1)) / narrowest_at
    grown = walls * rho_squared + 1
    return math.sqrt(2 * grown / (walls**2 * rho_squared) * math.log(math.sqrt(grown) / error))


@dataclass(frozen=True, slots=True, kw_only=True)
class SideOutcome:
    """The decision of a match, and what may be said of it at any time."""

    decision: Decision
    decks: int
    """Decks that decided; each has two games."""
    log_likelihood_ratio: float
    bound: float
    """The ratio at which the match ends now, above or below zero."""
    expected_decks: float
    """How many more the decision takes on average; 0 after it, infinite before the first look."""
    interval: Interval
    """Always-valid 95 % interval of the share of games that the candidate wins."""

    def note(self) -> str:
        """Return the state in a few words, for a progress line."""
        left = "" if math.isinf(self.expected_decks) else f", about {self.expected_decks:,.0f} decks left"
        share = f"{self.interval.low:.1%} to {self.interval.high:.1%} of the games won"
        return f"{share}, ratio {self.log_likelihood_ratio:+.1f} of ±{self.bound:.1f}{left}"


class SideWatch:
    """Gets the decks of a match in any order, and knows what the complete ones in front decide.

    >>> watch = SideWatch(SideTestConfig(), max_decks=1000)
    >>> watch.add(100, wins)  # before the decks 0 to 99
    False
    """

    def __init__(self, config: SideTestConfig, max_decks: int) -> None:
        self.max_decks = max_decks
        self._config = config
        self._test = config.test()
        self._state = SequentialState()

    @property
    def is_decided(self) -> bool:
        """Whether more decks change nothing."""
        return self._state.decision != "undecided"

    def add(self, first: int, wins: Sequence[int]) -> bool:
        """Take how many games the candidate won of the decks ``first``, ``first`` + 1, …: 0 to 2 each.

        Returns whether there are more complete decks in front now.
        """
        before = self._state.sums.walls
        self._state = self._state.with_block(first, [won - GAMES_PER_DECK // 2 for won in wins], self._test)
        return self._state.sums.walls > before

    def outcome(self) -> SideOutcome:
        """Return what is known now."""
        sums = self._state.sums
        # Narrowest in the middle of the budget, on a logarithmic scale.
        narrowest = round(math.sqrt(FIRST_LOOK * self.max_decks))
        gain = always_valid_interval(sums, self._config.scale, narrowest_at=narrowest)
        return SideOutcome(
            decision=self._state.decision,
            decks=sums.walls,
            log_likelihood_ratio=self._test.log_likelihood_ratio(sums),
            bound=self._test.bound(sums),
            expected_decks=self._test.expected_walls(sums),
            interval=Interval(max(EQUAL_SHARE + gain.low, 0.0), min(EQUAL_SHARE + gain.high, 1.0)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialOutcome:
    """The decision of a match, and what may be said of it at any time."""

    decision: Decision
    walls: int
    """Walls that decided; each has four hanchans."""
    log_likelihood_ratio: float
    bound: float
    """The ratio at which the match ends now, above or below zero; it changes a little with the measured variance."""
    expected_hanchans: float
    """How many more the decision takes on average; 0 after it, infinite before the first look."""
    intervals: dict[str, Interval]
    """Always-valid 95 % interval of the difference, for ``placement`` and ``points``."""

    @property
    def hanchans(self) -> int:
        """Hanchans that decided."""
        return SEATS * self.walls

    def note(self) -> str:
        """Return the state in a few words, for a progress line."""
        low, high = self.intervals["placement"].low, self.intervals["placement"].high
        left = "" if math.isinf(self.expected_hanchans) else f", about {self.expected_hanchans:,.0f} hanchans left"
        return f"placement {low:+.3f} to {high:+.3f}, ratio {self.log_likelihood_ratio:+.1f} of ±{self.bound:.1f}{left}"


class MatchWatch:
    """Gets the walls of a match in any order, and knows what the complete ones in front decide.

    >>> watch = MatchWatch(config, max_walls=1000)
    >>> watch.add(8, rows)  # before the walls 0 to 7
    False
    """

    def __init__(self, config: SequentialConfig, max_walls: int) -> None:
        self.max_walls = max_walls
        self._config = config
        self._test = config.test()
        self._state = SequentialState()
        self._placements: dict[int, I32] = {}
        """How often candidates came first to fourth on each wall, [walls, 4], by the first wall."""

    @property
    def is_decided(self) -> bool:
        """Whether more walls change nothing."""
        return self._state.decision != "undecided"

    def add(self, first: int, rows: I32) -> bool:
        """Take the rows of ``play_walls``; return whether the complete prefix has grown."""
        before = self._state.sums.walls
        placements = rows[CANDIDATE, :, :SEATS].reshape(-1, SEATS, SEATS).sum(axis=1)
        self._placements[first] = placements
        values = self._config.deciding.wall_sums(placements.astype(np.int64), self._config.deciding_seating)
        self._state = self._state.with_block(first, values.tolist(), self._test)
        return self._state.sums.walls > before

    def outcome(self) -> SequentialOutcome:
        """Return what is known now."""
        sums = self._state.sums
        left = self._test.expected_walls(sums)
        return SequentialOutcome(
            decision=self._state.decision,
            walls=sums.walls,
            log_likelihood_ratio=self._test.log_likelihood_ratio(sums),
            bound=self._test.bound(sums),
            expected_hanchans=SEATS * left,
            intervals={measure.name: self._interval(measure) for measure in self._config.measures},
        )

    def _interval(self, measure: Measure) -> Interval:
        """Return the always-valid interval of the difference, whose sign is that of the measure."""
        scale = self._config.scale(measure)
        # Narrowest in the middle of the budget, on a logarithmic scale.
        narrowest = round(math.sqrt(FIRST_LOOK * self.max_walls))
        gain = always_valid_interval(self._sums(measure), scale, narrowest_at=narrowest)
        return gain if measure.sign > 0 else Interval(-gain.high, -gain.low)

    def _sums(self, measure: Measure) -> WallSums:
        """Return the sums of a measure over the walls that count."""
        if measure == self._config.deciding:
            return self._state.sums
        walls = [self._placements[first] for first in sorted(self._placements) if first < self._state.sums.walls]
        if not walls:
            return WallSums()
        placements = np.concatenate(walls)[: self._state.sums.walls].astype(np.int64)
        return WallSums().with_walls(measure.wall_sums(placements, self._config.deciding_seating).tolist())
