"""A match that asks the sequential test while it is played, and stops as soon as the test has decided.

The decision hangs on the deals 1, 2, 3, … without a gap only. A game that ends early cannot move it before all deals in
front of it are there, so neither the number of processes nor the order in which games end can. If the candidate has
passed, a match on new deals measures how much better it is: the mean of the games that were stopped when it looked good
is too good on average (the winner's curse) and is not reported. docs/evaluation.md explains the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from suphx.evaluation.game_runner import ONE_PROCESS, Forfeit, Forfeits, GameRunner
from suphx.evaluation.match import (
    AGENT_NAMES,
    MatchReport,
    MatchSetup,
    SideReport,
    play_deals,
    play_match,
    play_side_match,
)
from suphx.evaluation.measures import SequentialConfig, check_deals, decision_text
from suphx.evaluation.sequential_test import (
    FIRST_LOOK,
    Decision,
    WallScale,
    WallSums,
    is_look,
    last_look_within,
)
from suphx.evaluation.statistics import LEVEL, Interval
from suphx.games.registry import load_game
from suphx.games.scoring import SeatScoring, SideScoring
from suphx.kernel.record import I64

FRESH_FOLDER = "fresh"
_LEAST_TABLES = 64
"""Games side by side in a process while a match is undecided, or those of a task."""


def always_valid_interval(sums: WallSums, scale: WallScale, *, narrowest_at: int) -> Interval:
    """Return the interval of the mean gain that holds at all times together; infinite without walls.

    It is the narrowest possible after about ``narrowest_at`` walls, which must not depend on the results.
    """
    if sums.walls < 1:
        return Interval(-math.inf, math.inf)
    error = 1 - LEVEL
    rho_squared = (-2 * math.log(error) + math.log(-2 * math.log(error) + 1)) / narrowest_at
    grown = sums.walls * rho_squared + 1
    unit_radius = math.sqrt(2 * grown / (sums.walls**2 * rho_squared) * math.log(math.sqrt(grown) / error))
    radius = math.sqrt(scale.variance(sums)) * unit_radius
    return Interval(scale.mean(sums) - radius, scale.mean(sums) + radius)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialOutcome:
    """The decision of a match, and what may be said of it at any time."""

    decision: Decision
    deals: int
    """Walls or decks that decided."""
    log_likelihood_ratio: float
    bound: float
    """The ratio at which the match ends now, above or below zero; it changes a little with the measured variance."""
    expected_deals: float
    """How many more the decision takes on average; 0 after it, infinite before the first look."""
    intervals: dict[str, Interval]
    """Always-valid 95 % interval of each measure: of the differences ``placement`` and ``points``, or of ``share``."""

    def note(self, scoring: SeatScoring | SideScoring, seating: str | None = None) -> str:
        """Return the state in a few words, for a progress line; ``scoring``: of the game; ``seating``: of its own."""
        if share := self.intervals.get("share"):
            known = f"{share.low:.1%} to {share.high:.1%} of the games won"
        elif scoring.decides == "points":
            points = self.intervals["points"]
            known = f"points {points.low:+.2f} to {points.high:+.2f}"
        else:
            places = self.intervals["placement"]
            known = f"placement {places.low:+.3f} to {places.high:+.3f}"
        left = f"{scoring.num_games(seating) * self.expected_deals:,.0f} {scoring.games}"
        more = "" if math.isinf(self.expected_deals) else f", about {left} left"
        return f"{known}, ratio {self.log_likelihood_ratio:+.1f} of ±{self.bound:.1f}{more}"


class MatchWatch:
    """The longest complete prefix of the deals of a match, which come in any order, and what it decides.

    Deals behind a gap do not count before it is closed, and those behind a decision change nothing.

    >>> watch = MatchWatch(config, max_deals=1000)
    >>> watch.add(8, outcomes)  # before the deals 0 to 7
    False
    """

    def __init__(
        self, config: SequentialConfig, max_deals: int, scoring: SeatScoring | SideScoring | None = None
    ) -> None:
        """``scoring``: of the game; None: of one that decides by places."""
        self.max_deals = max_deals
        self._gains = config.gains(scoring)
        self._test = config.test(scoring)
        self._sums = WallSums()
        self._decision: Decision = "undecided"
        self._outcomes: dict[int, I64] = {}
        """By the first deal, as ``Measure.wall_sums`` takes them."""

    @property
    def is_decided(self) -> bool:
        """Whether more deals change nothing."""
        return self._decision != "undecided"

    def add(self, first: int, outcomes: I64) -> bool:
        """Take ``PlayedDeals.outcomes`` of the deals from ``first`` on; return whether the complete prefix has grown.

        ValueError for deals that it has already.
        """
        before = self._sums.walls
        if first < before or first in self._outcomes:
            raise ValueError(f"deal {first} has a result already")
        self._outcomes[first] = outcomes
        while not self.is_decided and self._sums.walls in self._outcomes:
            for value in self._gains[0].wall_sums(self._outcomes[self._sums.walls]).tolist():
                self._sums = self._sums.with_walls([value])
                if is_look(self._sums.walls):
                    self._decision = self._test.decide(self._sums)
                if self.is_decided:
                    break
        return self._sums.walls > before

    def outcome(self) -> SequentialOutcome:
        """Return what is known now."""
        sums = self._sums
        deals = [self._outcomes[first] for first in sorted(self._outcomes) if first < sums.walls]
        intervals = {}
        for number, gain in enumerate(self._gains):
            own = sums
            if number and deals:
                own = WallSums().with_walls(gain.wall_sums(np.concatenate(deals)[: sums.walls]))
            # Narrowest in the middle of the budget, on a logarithmic scale.
            narrowest_at = round(math.sqrt(FIRST_LOOK * self.max_deals))
            intervals[gain.name] = gain.shown(always_valid_interval(own, gain.scale, narrowest_at=narrowest_at))
        return SequentialOutcome(
            decision=self._decision,
            deals=sums.walls,
            log_likelihood_ratio=self._test.log_likelihood_ratio(sums),
            bound=self._test.bound(sums),
            expected_deals=self._test.expected_walls(sums),
            intervals=dict(sorted(intervals.items())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialReport:
    """The outcome of a sequential match, with the match on new deals if the candidate has passed."""

    candidate: str
    opponent: str
    seed: int
    config: SequentialConfig
    outcome: SequentialOutcome
    fresh: MatchReport | SideReport | None = None
    """Played only after a pass, in the seating that decided: its difference is the one to publish. With the seating
    ``all`` it has the matches on the same new walls in the other seatings."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of candidate (0) and opponent (1), on the deals that decided and on the new ones."""
    scoring: SeatScoring | SideScoring
    """Of the game."""

    def verdict(self) -> str:
        """Return one sentence with the decision and its figures."""
        text = decision_text(self.to_json(), self.candidate, self.opponent, self.scoring.games)
        if self.fresh is None:
            return text
        others = [f"{match.seating}: {match.figures_text()}" for match in getattr(self.fresh, "other_seatings", ())]
        return "; ".join([f"{text}; on new {self.scoring.deal}s {self.fresh.figures_text()}", *others])

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read; ``fresh_match`` is null without a pass."""
        outcome, config, scoring = self.outcome, self.config, self.scoring
        per_deal = scoring.num_games(config.deciding_seating)
        intervals = {name: interval.ends for name, interval in outcome.intervals.items()}
        fresh = None if self.fresh is None else self.fresh.to_json()
        others = fresh.pop("other_seatings", {}) if fresh else {}
        values: dict[str, Any] = {
            "verdict": outcome.decision,
            "games": per_deal * outcome.deals,
            "deals": outcome.deals,
            "difference": config.gain,
            "error": config.error,
            "decides": config.decides,
            "log_likelihood_ratio": outcome.log_likelihood_ratio,
            "bound": outcome.bound,
            "expected_games": per_deal * outcome.expected_deals,
            "always_valid_interval": intervals[config.gains(scoring)[0].name],
            "always_valid_intervals": intervals,
            "forfeits": self.forfeits.to_json(AGENT_NAMES),
            "fresh_match": fresh,
        }
        if config.deciding_seating is None:
            return values
        return values | {
            "candidate": self.candidate,
            "opponent": self.opponent,
            "seed": self.seed,
            "seating": config.seating,
            "points": [] if scoring.decides == "points" else list(config.points),
            "other_seatings": others,
        }


Look = Callable[[SequentialOutcome], None]


def play_sequential_match(
    setup: MatchSetup,
    config: SequentialConfig,
    *,
    max_deals: int,
    fresh_deals: int,
    runner: GameRunner = ONE_PROCESS,
    tell: Look = lambda outcome: None,
) -> SequentialReport:
    """Play until ``config`` decides, at most ``max_deals`` deals, and after a pass ``fresh_deals`` new ones.

    In a game of two sides ``config`` decides by ``share``. With the seating ``all`` the new deals are played in each of
    the three seatings. The result does not depend on the workers, nor on kills if ``runner.kept`` has the finished
    parts. ``tell`` gets the state after each look; ``runner.records`` may also get games that had begun before the
    decision. Errors as for ``play_match``. ValueError for numbers that ``check_deals`` refuses.
    """
    scoring = load_game(setup.game).scoring
    check_deals(max_deals, fresh_deals, scoring.deal)
    seating = config.deciding_seating or ""
    watch = MatchWatch(config, last_look_within(max_deals), scoring)  # deals behind the last look could decide nothing
    size = scoring.deals_per_look
    tables = max(_LEAST_TABLES, size * scoring.num_games())  # games in progress at the decision are lost
    deciding = replace(runner, max_tables=min(runner.max_tables, tables))
    found: dict[int, tuple[Forfeit, ...]] = {}
    blocks = play_deals(setup, watch.max_deals, seating=seating, deals_per_task=size, runner=deciding)
    with closing(blocks):  # ends the processes
        for block in blocks:
            found[block.first] = block.forfeits
            if watch.add(block.first, block.outcomes):
                tell(watch.outcome())
            if watch.is_decided:
                break
    outcome = watch.outcome()
    forfeits = [each for first in sorted(found) if first < outcome.deals for each in found[first]]
    fresh: MatchReport | SideReport | None = None
    if outcome.decision == "better":
        new = setup.on_fresh_deals()
        beside = replace(  # results and records of the new deals lie beside those that decided
            runner,
            kept=None if runner.kept is None else runner.kept.part(FRESH_FOLDER),
            records=None if runner.records is None else runner.records / FRESH_FOLDER,
        )
        if config.decides == "share":
            fresh = play_side_match(new, fresh_deals, deals_per_task=size, runner=beside)
        else:
            games = scoring.num_games(seating) * fresh_deals
            fresh = play_match(new, games, seating=config.seating, points=config.points, runner=beside)
    return SequentialReport(
        candidate=setup.names[0],
        opponent=setup.names[1],
        seed=setup.seed,
        config=config,
        outcome=outcome,
        fresh=fresh,
        forfeits=Forfeits(chain(forfeits, *(match.forfeits for match in (fresh.matches if fresh else ())))),
        scoring=scoring,
    )
