"""A match that asks the sequential test while it is played, and stops as soon as the test has decided.

match_watch.py knows what the walls that are there decide. If the candidate has passed, a match on new walls measures
how much better it is: the mean of the games that were stopped when it looked good is too good on average (the winner's
curse) and is not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace

from suphx.evaluation.match import MatchReport, PlayedWalls, play_seatings, play_walls
from suphx.evaluation.match_config import check_hanchans, widened_note
from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.sequential.match_watch import MatchWatch, SequentialOutcome
from suphx.evaluation.sequential.sequential_config import SequentialConfig, check_budget, last_look
from suphx.evaluation.sequential.sequential_test import LOOK_EVERY
from suphx.evaluation.workers.forfeits import Forfeit, Forfeits
from suphx.evaluation.workers.game_runner import ONE_PROCESS, GameRunner
from suphx.evaluation.workers.play_plan import MAX_WALL_SEED

FRESH_FOLDER = "fresh"
_MAX_TABLES = 64
"""Games side by side in a process: those in progress at the decision are lost."""
_FRESH_SEEDS = MAX_WALL_SEED // 2
"""The match on new walls has a seed that is so far away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialReport:
    """The outcome of a sequential match, with the match on new walls if the candidate has passed."""

    candidate: str
    opponent: str
    seed: int
    config: SequentialConfig
    outcome: SequentialOutcome
    fresh: MatchReport | None
    """Played only after a pass, in the seating that decided: its difference is the one to publish."""
    other_seatings: tuple[MatchReport, ...] = ()
    """After a pass with the seating ``all``: the matches on the same new walls in the other seatings."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of candidate (0) and opponent (1), on the walls that decided and on the new ones."""

    def renamed(self, candidate: str, opponent: str) -> SequentialReport:
        """Return the same with other names of the agents."""
        return replace(
            self,
            candidate=candidate,
            opponent=opponent,
            fresh=None if self.fresh is None else self.fresh.renamed(candidate, opponent),
            other_seatings=tuple(match.renamed(candidate, opponent) for match in self.other_seatings),
        )

    def verdict(self) -> str:
        """Return one sentence with the decision and its figures."""
        outcome, config = self.outcome, self.config
        unit = "places" if config.decides == "placement" else "points per hanchan"
        claim = {
            "better": f"{self.candidate} is better than {self.opponent}",
            "not_better": f"{self.candidate} is not better than {self.opponent} by {config.difference:g} {unit}",
            "undecided": f"undecided whether {self.candidate} is better than {self.opponent}",
        }[outcome.decision]
        low, high = outcome.intervals[config.decides].low, outcome.intervals[config.decides].high
        interval = f"always-valid 95 % interval {low:+.3f} to {high:+.3f} {unit}"
        text = f"{claim}: decided after {outcome.hanchans:,} hanchans ({interval})"
        if outcome.decision == "undecided":
            text = f"{claim}: {outcome.hanchans:,} hanchans played, about {outcome.expected_hanchans:,.0f} more needed"
            text += f" ({interval})"
        if self.fresh is None:
            return text
        others = "".join(f"; {match.seating}: {_fresh_text(match)}" for match in self.other_seatings)
        return f"{text}; on new walls {_fresh_text(self.fresh)}{others}"

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        outcome, config = self.outcome, self.config
        intervals = {name: [interval.low, interval.high] for name, interval in outcome.intervals.items()}
        return {
            "candidate": self.candidate,
            "opponent": self.opponent,
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
            "forfeits": self.forfeits.to_json(("candidate", "opponent")),
            "fresh_match": None if self.fresh is None else self.fresh.to_json(),
            "other_seatings": {match.seating: match.to_json() for match in self.other_seatings},
        }


def play_sequential_match(
    setup: MatchSetup,
    config: SequentialConfig,
    *,
    max_hanchans: int,
    fresh_hanchans: int,
    runner: GameRunner = ONE_PROCESS,
    tell: Callable[[SequentialOutcome], None] = lambda outcome: None,
) -> SequentialReport:
    """Play until ``config`` decides, at most ``max_hanchans`` games, and after a pass ``fresh_hanchans`` on new walls.

    With the seating ``all`` the games on new walls are played in each of the three seatings.
    The result does not depend on the workers, nor on kills if ``runner.kept`` has the finished parts. ``tell`` gets the
    state after each look; ``runner.records`` may also get games that had begun before the decision.
    Errors as for ``play_match``. ValueError for a budget that allows no decision.
    """
    check_budget(max_hanchans)
    check_hanchans(fresh_hanchans)
    watch = MatchWatch(config, last_look(max_hanchans))
    blocks = play_walls(
        setup,
        watch.max_walls,
        seating=config.deciding_seating,
        walls_per_task=LOOK_EVERY,
        runner=replace(runner, max_tables=min(runner.max_tables, _MAX_TABLES)),
    )
    forfeits = _follow(blocks, watch, tell)
    outcome = watch.outcome()
    fresh: tuple[MatchReport, ...] = ()
    if outcome.decision == "better":
        new_walls = replace(setup, seed=(setup.seed + _FRESH_SEEDS) % MAX_WALL_SEED)
        beside = replace(
            runner,
            kept=None if runner.kept is None else runner.kept.part(FRESH_FOLDER),
            records=None if runner.records is None else runner.records / FRESH_FOLDER,
        )
        fresh = play_seatings(new_walls, fresh_hanchans, config.seating, points=config.points, runner=beside).matches
    return SequentialReport(
        candidate=setup.candidate,
        opponent=setup.opponent,
        seed=setup.seed,
        config=config,
        outcome=outcome,
        fresh=fresh[0] if fresh else None,
        other_seatings=fresh[1:],
        forfeits=Forfeits.together([forfeits, *(match.forfeits for match in fresh)]),
    )


def _follow(
    blocks: Generator[PlayedWalls, None, None], watch: MatchWatch, tell: Callable[[SequentialOutcome], None]
) -> Forfeits:
    """Take walls until they decide, and tell the state after each look; return the forfeits on those that decided."""
    forfeits: dict[int, tuple[Forfeit, ...]] = {}
    with closing(blocks):  # ends the processes
        for block in blocks:
            forfeits[block.first] = block.forfeits
            if watch.add(block.first, block.rows):
                tell(watch.outcome())
            if watch.is_decided:
                break
    walls = watch.outcome().walls
    return Forfeits.of(forfeit for first, found in forfeits.items() if first < walls for forfeit in found)


def _fresh_text(fresh: MatchReport) -> str:
    places, points = fresh.difference, fresh.points_difference
    return (
        f"placement difference {places.mean:+.3f} ({places.interval.low:+.3f} to {places.interval.high:+.3f}), "
        f"{points.mean:+.1f} points per hanchan ({points.interval.low:+.1f} to {points.interval.high:+.1f}) "
        f"over {fresh.hanchans:,} hanchans{widened_note(places.interval.is_widened)}"
    )
