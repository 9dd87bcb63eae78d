"""A match that asks the sequential test while it is played, and stops as soon as the test has decided.

The decision hangs on the walls 1, 2, 3, … without a gap only. A game that ends early cannot move it before all walls
in front of it are there, so neither the number of processes nor the order in which games end can. If the candidate has
passed, a match on new walls measures how much better it is: the mean of the games that were stopped when it looked good
is too good on average (the winner's curse) and is not reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from suphx.evaluation.forfeits import Forfeits
from suphx.evaluation.game_workers import MAX_WALL_SEED, LoadAgent, wall_seeds
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import CANDIDATE, I32, MatchReport, play_match, play_walls
from suphx.evaluation.match_config import SEATS, check_hanchans
from suphx.evaluation.sequential.confidence_sequence import always_valid_interval
from suphx.evaluation.sequential.sequential_config import SequentialConfig, check_budget, last_look
from suphx.evaluation.sequential.sequential_test import FIRST_LOOK, LOOK_EVERY, Decision, SequentialState
from suphx.evaluation.sequential.wall_sums import WallSums
from suphx.evaluation.statistics import Interval
from suphx.evaluation.wall_difference import Measure
from suphx.games.riichi import Rules
from suphx.selfplay.agents.agent import load_agent

FRESH_FOLDER = "fresh"
_MAX_TABLES = 64
"""Games side by side in a process: those in progress at the decision are lost."""
_FRESH_SEEDS = MAX_WALL_SEED // 2
"""The match on new walls has a seed that is so far away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialOutcome:
    """The decision of a match, and what may be said of it at any time."""

    decision: Decision
    walls: int
    """Walls that decided; each has four hanchans."""
    log_likelihood_ratio: float
    bound: float
    """The ratio at which the match ends, above or below zero."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialReport:
    """The outcome of a sequential match, with the match on new walls if the candidate has passed."""

    candidate: str
    baseline: str
    seed: int
    config: SequentialConfig
    outcome: SequentialOutcome
    fresh: MatchReport | None
    """Played only after a pass: its difference is the one to publish."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of candidate (0) and baseline (1), in the games before the decision and in those that had begun then."""

    def verdict(self) -> str:
        """Return one sentence with the decision and its figures."""
        outcome, config = self.outcome, self.config
        unit = "places" if config.decides == "placement" else "points per hanchan"
        claim = {
            "better": f"{self.candidate} is better than {self.baseline}",
            "not_better": f"{self.candidate} is not better than {self.baseline} by {config.difference:g} {unit}",
            "undecided": f"undecided whether {self.candidate} is better than {self.baseline}",
        }[outcome.decision]
        low, high = outcome.intervals[config.decides].low, outcome.intervals[config.decides].high
        interval = f"always-valid 95 % interval {low:+.3f} to {high:+.3f} {unit}"
        text = f"{claim}: decided after {outcome.hanchans:,} hanchans ({interval})"
        if outcome.decision == "undecided":
            text = f"{claim}: {outcome.hanchans:,} hanchans played, about {outcome.expected_hanchans:,.0f} more needed"
            text += f" ({interval})"
        return text if self.fresh is None else f"{text}; on new walls {_fresh_text(self.fresh)}"

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        outcome, config = self.outcome, self.config
        intervals = {name: [interval.low, interval.high] for name, interval in outcome.intervals.items()}
        return {
            "candidate": self.candidate,
            "baseline": self.baseline,
            "seed": self.seed,
            "verdict": outcome.decision,
            "hanchans": outcome.hanchans,
            "walls": outcome.walls,
            "difference": config.difference,
            "error": config.error,
            "decides": config.decides,
            "seating": config.seating,
            "points": list(config.points),
            "log_likelihood_ratio": outcome.log_likelihood_ratio,
            "bound": outcome.bound,
            "expected_hanchans": outcome.expected_hanchans,
            "always_valid_interval": intervals[config.decides],
            "always_valid_intervals": intervals,
            "forfeits": self.forfeits.to_json(("candidate", "baseline")),
            "fresh_match": None if self.fresh is None else self.fresh.to_json(),
        }


def play_sequential_match(
    candidate: str,
    baseline: str,
    config: SequentialConfig,
    *,
    max_hanchans: int,
    fresh_hanchans: int,
    seed: int,
    workers: int = 1,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    progress: Callable[[float], None] = lambda games: None,
    tell: Callable[[SequentialOutcome], None] = lambda outcome: None,
    load: LoadAgent = load_agent,
    kept: KeptResults | None = None,
    records: Path | None = None,
) -> SequentialReport:
    """Play until ``config`` decides, at most ``max_hanchans`` games, and after a pass ``fresh_hanchans`` on new walls.

    The result does not depend on ``workers``, nor on kills if ``kept`` has the finished parts. ``tell`` gets the state
    after each look; ``records`` may also get games that had begun before the decision.
    Other arguments and errors as for ``play_match``. ValueError for a budget that allows no decision.
    """
    check_budget(max_hanchans)
    check_hanchans(fresh_hanchans)
    watch = MatchWatch(config, last_look(max_hanchans))
    how: dict[str, Any] = {"seating": config.seating, "workers": workers, "rules": rules}
    how |= {"has_draw_lanes": has_draw_lanes, "load": load, "progress": progress}
    forfeits = Forfeits()
    blocks = play_walls(
        (candidate, baseline),
        wall_seeds(seed, watch.max_walls),
        walls_per_task=LOOK_EVERY,
        max_tables=_MAX_TABLES,
        kept=kept,
        records=records,
        note_forfeit=forfeits.note,
        **how,
    )
    with closing(blocks):  # ends the processes
        for first, rows in blocks:
            if watch.add(first, rows):
                tell(watch.outcome())
            if watch.is_decided:
                break
    fresh = None
    if watch.outcome().decision == "better":
        fresh = play_match(
            candidate,
            baseline,
            num_hanchans=fresh_hanchans,
            seed=(seed + _FRESH_SEEDS) % MAX_WALL_SEED,
            points=config.points,
            kept=None if kept is None else KeptResults(kept.folder / FRESH_FOLDER),
            records=None if records is None else records / FRESH_FOLDER,
            **how,
        )
    return SequentialReport(
        candidate=candidate,
        baseline=baseline,
        seed=seed,
        config=config,
        outcome=watch.outcome(),
        fresh=fresh,
        forfeits=forfeits,
    )


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
        values = self._config.deciding.wall_sums(placements.astype(np.int64), self._config.seating)
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
            bound=self._test.bound,
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
        return WallSums().with_walls(measure.wall_sums(placements, self._config.seating).tolist())


def _fresh_text(fresh: MatchReport) -> str:
    places, points = fresh.difference, fresh.points_difference
    return (
        f"average placement {places.mean:+.3f} ({places.interval.low:+.3f} to {places.interval.high:+.3f}), "
        f"{points.mean:+.1f} points per hanchan ({points.interval.low:+.1f} to {points.interval.high:+.1f}) "
        f"over {fresh.hanchans:,} hanchans"
    )
