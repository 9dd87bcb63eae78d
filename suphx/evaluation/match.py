"""A match: one candidate against three copies of a baseline on shared (duplicate) walls (paper, section 4.2).

Every wall is played four times, the candidate once at each seat, and once more by four baselines. What the candidate
did better than the baseline at the same seat with the same wall is a paired difference; walls are the clusters of the
bootstrap, since the four games of a wall are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.game_workers import GameTask, LoadAgent, Summary, play_tasks, wall_seeds
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.player_statistics import PlayerStatistics, game_row, placement_of, summarise_rows
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.riichi.gamelog import GameLog
from suphx.riichi.rules import Rules, tenhou
from suphx.selfplay.agent import BASELINES, load_agent
from suphx.selfplay.answer import Answers
from suphx.selfplay.rollout import play_games

I32 = NDArray[np.int32]

CANDIDATE, BASELINE = 0, 1
GAMES_PER_WALL = 5
_WALLS_PER_TASK = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchConfig:
    """A match of the agent that a run has learned."""

    hanchans: int = 1000
    """Games of the candidate, a multiple of 4; each wall is played four times."""
    baseline: str = "ukeire"
    """Who sits at the three other seats: a shipped baseline, or the path of a folder of checkpoints."""
    answers: Answers = "probable"
    """How the learned riichi, chow, pong and kong nets say yes (selfplay/answer.py)."""
    workers: int = 2
    """Processes that play; the result does not depend on it."""

    def __post_init__(self) -> None:
        check_hanchans(self.hanchans)
        if self.baseline not in BASELINES and "/" not in self.baseline:
            raise ValueError(
                f"baseline is {self.baseline!r}: use {', '.join(BASELINES)}, or the path of a folder of checkpoints"
            )
        if self.answers not in get_args(Answers):
            raise ValueError(f"answers is {self.answers!r}: use one of {', '.join(get_args(Answers))}")
        if self.workers < 1:
            raise ValueError(f"workers is {self.workers}: use 1 or more")


def check_hanchans(number: int) -> None:
    """Raise ValueError for a number of games that no match can have."""
    if number < 8 or number % 4:
        raise ValueError(f"{number} hanchans: use a multiple of 4 (the seats), and at least 8 (two walls)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchReport:
    """The outcome of a match."""

    candidate: str
    baseline: str
    hanchans: int
    """Games with the candidate; four for each wall."""
    walls: int
    seed: int
    statistics: PlayerStatistics
    """Of the candidate."""
    baseline_statistics: PlayerStatistics
    """Of the three baselines in the candidate's games."""
    placements: tuple[int, ...]
    """Of the candidate, wall by wall, seat by seat: matches with the same walls can be held against each other."""
    difference: PairedDifference
    """Placement of the candidate minus that of the baseline at the same seat with the same wall; negative is better."""

    def verdict(self) -> str:
        """Return one sentence that says who is stronger, as far as the match can tell."""
        mean, low, high = self.difference.mean, self.difference.interval.low, self.difference.interval.high
        stronger, weaker = (self.candidate, self.baseline) if mean < 0 else (self.baseline, self.candidate)
        claim = f"{stronger} is better than {weaker}" if self.difference.is_significant else "no significant difference"
        figures = f"average placement {mean:+.3f} ({low:+.3f} to {high:+.3f}, lower is better for the candidate)"
        return f"{claim}: {figures} over {self.hanchans:,} hanchans"

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read (and those of the candidate's statistics)."""
        return {
            "candidate": self.candidate,
            "baseline": self.baseline,
            "hanchans": self.hanchans,
            "walls": self.walls,
            "seed": self.seed,
            **{name: value for name, value in self.statistics.to_json().items() if name not in ("player", "games")},
            "paired_difference": {
                "average_placement": self.difference.mean,
                "interval": [self.difference.interval.low, self.difference.interval.high],
                "is_significant": self.difference.is_significant,
            },
            "baseline_statistics": self.baseline_statistics.to_json(),
        }


def play_match(
    candidate: str,
    baseline: str,
    *,
    num_hanchans: int,
    seed: int,
    workers: int = 1,
    rules: Rules | None = None,
    progress: Callable[[int], None] = lambda count: None,
    load: LoadAgent = load_agent,
    kept: KeptResults | None = None,
) -> MatchReport:
    """Play ``num_hanchans`` games (a multiple of 4, at least 8) of ``candidate`` against three of ``baseline``.

    Both are addresses for ``load``. ``progress`` is told the number of the candidate's games that ended; what ``kept``
    has of the same match is not played again. Walls follow from ``seed``. ValueError for an unknown agent or a wrong
    number, ChildProcessError if a process dies.
    """
    check_hanchans(num_hanchans)
    walls = wall_seeds(seed, num_hanchans // 4)
    tasks = _tasks(candidate, baseline, walls)
    games: dict[int, _Games] = {}
    # In a match an agent goes by its part: both may be the same.
    for place, summary in play_tasks(
        (candidate, baseline),
        (_CANDIDATE_NAME, _BASELINE_NAME),
        tasks,
        summarise=_summarise,
        rules=rules or tenhou(),
        workers=workers,
        load=load,
        kept=kept,
    ):
        games[place] = _Games.of(summary)
        progress(len(games[place].own))
    played = [games[place] for place in range(len(tasks))]
    own = np.concatenate([part.own for part in played])
    reference = np.concatenate([part.reference for part in played])
    return MatchReport(
        candidate=candidate,
        baseline=baseline,
        hanchans=num_hanchans,
        walls=len(walls),
        seed=seed,
        statistics=summarise_rows(np.concatenate([part.rows for part in played]), _CANDIDATE_NAME),
        baseline_statistics=summarise_rows(np.concatenate([part.baseline_rows for part in played]), _BASELINE_NAME),
        placements=tuple(own.tolist()),
        difference=paired_difference(own, reference, np.repeat(np.arange(len(walls)), 4)),
    )


def first_game(
    candidate: str, baseline: str, *, seed: int, rules: Rules | None = None, load: LoadAgent = load_agent
) -> GameLog:
    """Play the first game of a match again and return it; agents that depend on time may play it differently."""
    agents = [load(candidate), load(baseline)]
    agents[CANDIDATE].name, agents[BASELINE].name = _CANDIDATE_NAME, _BASELINE_NAME
    seating = np.full((1, 4), BASELINE)
    seating[0, 0] = CANDIDATE
    (log,) = play_games(agents, seating, wall_seeds(seed, 1), rules or tenhou())
    return log


_CANDIDATE_NAME, _BASELINE_NAME = "candidate", "baseline"


def _tasks(candidate: str, baseline: str, walls: range) -> list[GameTask]:
    """Return the games of all walls: candidate at seat 0, 1, 2, 3, then four baselines."""
    pattern = np.full((GAMES_PER_WALL, 4), BASELINE)
    for seat in range(4):
        pattern[seat, seat] = CANDIDATE
    tasks = []
    for start in range(0, len(walls), _WALLS_PER_TASK):
        part = walls[start : start + _WALLS_PER_TASK]
        last = start + len(part)
        tasks.append(
            GameTask(
                seating=np.tile(pattern, (len(part), 1)),
                seeds=tuple(wall for wall in part for _ in range(GAMES_PER_WALL)),
                key=f"walls-{start + 1}-{last}",
                title=f"{candidate} against three {baseline} on walls {start + 1} to {last} of {len(walls)}",
            )
        )
    return tasks


def _summarise(logs: Sequence[GameLog]) -> Summary:
    """Return the columns of ``_Games`` as lists."""
    own = [log for log in logs if _CANDIDATE_NAME in log.names]
    return {
        "own": [_placement(log, log.names.index(_CANDIDATE_NAME)) for log in own],
        "reference": [_placement(log, seat) for log in logs if _CANDIDATE_NAME not in log.names for seat in range(4)],
        "rows": [game_row(log, _CANDIDATE_NAME) for log in own],
        "baseline_rows": [game_row(log, _BASELINE_NAME) for log in own],
    }


def _placement(log: GameLog, seat: int) -> int:
    assert log.final_scores is not None
    return placement_of(log.final_scores, seat)


@dataclass(frozen=True, slots=True)
class _Games:
    """What a match needs to know of the games of some walls, wall by wall, seat by seat."""

    own: I32
    """int32 [games]: placement of the candidate."""
    reference: I32
    """int32 [games]: placement of the baseline at the same seat with the same wall."""
    rows: I32
    """int32 [games, 19]: ``game_row`` of the candidate."""
    baseline_rows: I32
    """Of the three baselines in the candidate's games."""

    @staticmethod
    def of(summary: Summary) -> _Games:
        return _Games(**{name: np.array(column, np.int32) for name, column in summary.items()})
