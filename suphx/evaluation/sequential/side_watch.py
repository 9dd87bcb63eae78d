"""What the complete decks of a match in a game of two sides decide, whatever the order in which they arrive.

As match_watch.py in riichi: neither the number of processes nor the order in which games end moves the decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from suphx.evaluation.sequential.confidence_sequence import always_valid_interval
from suphx.evaluation.sequential.sequential_test import FIRST_LOOK, Decision, SequentialState
from suphx.evaluation.sequential.side_config import EQUAL_SHARE, SideTestConfig
from suphx.evaluation.statistics import Interval
from suphx.evaluation.workers.deck_block import GAMES_PER_DECK


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
