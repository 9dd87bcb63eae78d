"""A match that asks the sequential test while it is played, and stops as soon as the test has decided.

match_watch.py knows what the walls that are there decide. If the candidate has passed, a match on new walls measures
how much better it is: the mean of the games that were stopped when it looked good is too good on average (the winner's
curse) and is not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suphx.evaluation.match import I32, MatchReport, play_seatings, play_walls
from suphx.evaluation.match_config import check_hanchans
from suphx.evaluation.sequential.match_watch import MatchWatch, SequentialOutcome
from suphx.evaluation.sequential.sequential_config import SequentialConfig, check_budget, last_look
from suphx.evaluation.sequential.sequential_test import LOOK_EVERY
from suphx.evaluation.workers.forfeits import Forfeits
from suphx.evaluation.workers.game_task import LoadAgent, Workers
from suphx.evaluation.workers.game_workers import MAX_WALL_SEED, wall_seeds
from suphx.evaluation.workers.kept_results import KeptResults
from suphx.games.riichi import Rules
from suphx.selfplay.agents.agent import load_agent

FRESH_FOLDER = "fresh"
_MAX_TABLES = 64
"""Games side by side in a process: those in progress at the decision are lost."""
_FRESH_SEEDS = MAX_WALL_SEED // 2
"""The match on new walls has a seed that is so far away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialReport:
    """The outcome of a sequential match, with the match on new walls if the candidate has passed."""

    candidate: str
    baseline: str
    seed: int
    config: SequentialConfig
    outcome: SequentialOutcome
    fresh: MatchReport | None
    """Played only after a pass, in the seating that decided: its difference is the one to publish."""
    other_seatings: tuple[MatchReport, ...] = ()
    """After a pass with the seating ``all``: the matches on the same new walls in the other seatings."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of candidate (0) and baseline (1), on the walls that decided."""

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
            "other_seatings": {match.seating: match.to_json() for match in self.other_seatings},
        }


def play_sequential_match(
    candidate: str,
    baseline: str,
    config: SequentialConfig,
    *,
    max_hanchans: int,
    fresh_hanchans: int,
    seed: int,
    workers: Workers = 1,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    progress: Callable[[float], None] = lambda games: None,
    tell: Callable[[SequentialOutcome], None] = lambda outcome: None,
    load: LoadAgent = load_agent,
    kept: KeptResults | None = None,
    records: Path | None = None,
) -> SequentialReport:
    """Play until ``config`` decides, at most ``max_hanchans`` games, and after a pass ``fresh_hanchans`` on new walls.

    With the seating ``all`` the games on new walls are played in each of the three seatings.
    The result does not depend on ``workers``, nor on kills if ``kept`` has the finished parts. ``tell`` gets the state
    after each look; ``records`` may also get games that had begun before the decision.
    Other arguments and errors as for ``play_match``. ValueError for a budget that allows no decision.
    """
    check_budget(max_hanchans)
    check_hanchans(fresh_hanchans)
    watch = MatchWatch(config, last_look(max_hanchans))
    how: dict[str, Any] = {"workers": workers, "rules": rules}
    how |= {"has_draw_lanes": has_draw_lanes, "load": load, "progress": progress}
    lost: list[tuple[int, str]] = []
    blocks = play_walls(
        (candidate, baseline),
        wall_seeds(seed, watch.max_walls),
        seating=config.deciding_seating,
        walls_per_task=LOOK_EVERY,
        max_tables=_MAX_TABLES,
        kept=kept,
        records=records,
        note_forfeit=lambda agent, reason: lost.append((agent, reason)),
        **how,
    )
    forfeits = _follow(blocks, lost, watch, tell)
    fresh: tuple[MatchReport, ...] = ()
    if watch.outcome().decision == "better":
        how |= {"num_hanchans": fresh_hanchans, "seed": (seed + _FRESH_SEEDS) % MAX_WALL_SEED}
        fresh = _play_fresh((candidate, baseline), config, kept, records, how)
    return SequentialReport(
        candidate=candidate,
        baseline=baseline,
        seed=seed,
        config=config,
        outcome=watch.outcome(),
        fresh=fresh[0] if fresh else None,
        other_seatings=fresh[1:],
        forfeits=forfeits,
    )


def _play_fresh(
    agents: tuple[str, str],
    config: SequentialConfig,
    kept: KeptResults | None,
    records: Path | None,
    how: dict[str, Any],
) -> tuple[MatchReport, ...]:
    """Play on new walls in each seating of ``config``, first in the one that decided."""
    return play_seatings(
        *agents,
        config.seating,
        points=config.points,
        kept=None if kept is None else KeptResults(kept.folder / FRESH_FOLDER),
        records=None if records is None else records / FRESH_FOLDER,
        **how,
    ).matches


def _follow(
    blocks: Generator[tuple[int, I32], None, None],
    lost: list[tuple[int, str]],
    watch: MatchWatch,
    tell: Callable[[SequentialOutcome], None],
) -> Forfeits:
    """Take walls until they decide, and tell the state after each look; return the forfeits on the walls that decided.

    ``lost`` gets the forfeits of a block, agent and reason, before the block itself comes.
    """
    of_blocks: dict[int, list[tuple[int, str]]] = {}
    with closing(blocks):  # ends the processes
        for first, rows in blocks:
            of_blocks[first] = lost.copy()
            lost.clear()
            if watch.add(first, rows):
                tell(watch.outcome())
            if watch.is_decided:
                break
    forfeits, walls = Forfeits(), watch.outcome().walls
    for agent, reason in (each for first, block in of_blocks.items() if first < walls for each in block):
        forfeits.note(agent, reason)
    return forfeits


def _fresh_text(fresh: MatchReport) -> str:
    places, points = fresh.difference, fresh.points_difference
    return (
        f"average placement {places.mean:+.3f} ({places.interval.low:+.3f} to {places.interval.high:+.3f}), "
        f"{points.mean:+.1f} points per hanchan ({points.interval.low:+.1f} to {points.interval.high:+.1f}) "
        f"over {fresh.hanchans:,} hanchans"
    )
