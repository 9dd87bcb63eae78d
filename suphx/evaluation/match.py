"""A match: one candidate against three copies of a baseline on shared (duplicate) walls (paper, section 4.2).

Every wall is played four times, the candidate once at each seat, and once more by four baselines. What the candidate
did better than the baseline at the same seat with the same wall is a paired difference; walls are the clusters of the
bootstrap, since the four games of a wall are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import get_args

import numpy as np

from suphx.evaluation.game_workers import GameTask, LoadAgent, play_tasks, wall_seeds
from suphx.evaluation.player_statistics import PlayerStatistics, placement_of, player_statistics
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.riichi.gamelog import GameLog
from suphx.riichi.rules import Rules, tenhou
from suphx.selfplay.agent import BASELINES, load_agent
from suphx.selfplay.answer import Answers

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
    sample: Callable[[GameLog], None] = lambda log: None,
    load: LoadAgent = load_agent,
) -> MatchReport:
    """Play ``num_hanchans`` games (a multiple of 4, at least 8) of ``candidate`` against three of ``baseline``.

    Both are addresses for ``load``. ``progress`` is told the number of the candidate's games that ended;
    ``sample`` gets the first one. Walls follow from ``seed``. ValueError for an unknown agent or a wrong number.
    """
    check_hanchans(num_hanchans)
    num_walls = num_hanchans // 4
    walls = wall_seeds(seed, num_walls)
    own_games: list[GameLog] = []
    own: list[int] = []
    reference: list[int] = []
    for log in _play_walls(candidate, baseline, walls, rules or tenhou(), workers, load):
        assert log.final_scores is not None
        if _CANDIDATE_NAME in log.names:
            seat = log.names.index(_CANDIDATE_NAME)
            own.append(placement_of(log.final_scores, seat))
            own_games.append(log)
            progress(1)
        else:
            reference.extend(placement_of(log.final_scores, seat) for seat in range(4))
    sample(own_games[0])
    clusters = np.repeat(np.arange(num_walls), 4)
    return MatchReport(
        candidate=candidate,
        baseline=baseline,
        hanchans=num_hanchans,
        walls=num_walls,
        seed=seed,
        statistics=player_statistics(own_games, _CANDIDATE_NAME),
        baseline_statistics=player_statistics(own_games, _BASELINE_NAME),
        placements=tuple(own),
        difference=paired_difference(own, reference, clusters),
    )


_CANDIDATE_NAME, _BASELINE_NAME = "candidate", "baseline"


def _play_walls(
    candidate: str, baseline: str, walls: range, rules: Rules, workers: int, load: LoadAgent
) -> Iterator[GameLog]:  # fmt: skip
    """Yield the games of all walls in order: candidate at seat 0, 1, 2, 3, then four baselines."""
    tasks = [_task(walls[start : start + _WALLS_PER_TASK]) for start in range(0, len(walls), _WALLS_PER_TASK)]
    # In a match an agent goes by its part: both may be the same.
    names = (_CANDIDATE_NAME, _BASELINE_NAME)
    for logs in play_tasks((candidate, baseline), names, tasks, rules=rules, workers=workers, load=load):
        yield from logs


def _task(walls: range) -> GameTask:
    seating = np.full((len(walls), GAMES_PER_WALL, 4), BASELINE)
    for seat in range(4):
        seating[:, seat, seat] = CANDIDATE
    return GameTask(seating.reshape(-1, 4), tuple(wall for wall in walls for _ in range(GAMES_PER_WALL)))
