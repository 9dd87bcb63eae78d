"""A match: one candidate against three copies of a baseline on shared (duplicate) walls (paper, section 4.2).

Every wall is played four times, the candidate once at each seat; other seatings are in seating.py. What it did better
than the baseline there is a paired difference, for which no game of four baselines is needed: at such a table the
places add up to 10 whatever the wall, so that over the four seats of a wall a baseline would have come 2.5th. Walls are
the clusters of the bootstrap, since the four games of a wall are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.match_config import (
    PHOENIX_POINTS,
    SEATS,
    Seating,
    SeatingChoice,
    check_hanchans,
    chosen_seatings,
    few_games_note,
)
from suphx.evaluation.player_statistics import PLACE_COLUMN, PlayerStatistics, summarise_rows
from suphx.evaluation.seating import candidate_seats
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.evaluation.wall_difference import PLACEMENT, Measure, points_measure, wall_unit
from suphx.evaluation.workers.forfeits import ForfeitedSeats, Forfeits, counted_places
from suphx.evaluation.workers.game_task import GameTask, LoadAgent, Play, Summary, Workers
from suphx.evaluation.workers.game_workers import play_tasks, wall_seeds
from suphx.evaluation.workers.kept_results import KeptResults
from suphx.games.riichi import GameLog, Rules, game_row, tenhou
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games, play_stream

I32 = NDArray[np.int32]

CANDIDATE, BASELINE = 0, 1
CANDIDATE_NAME, BASELINE_NAME = "candidate", "baseline"
"""In the records of a match."""
_WALLS_PER_TASK = 16


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
    """Of the candidate, wall by wall, seat by seat: matches with the same walls can be compared. Several candidates in
    a game: the sum of theirs."""
    difference: PairedDifference
    """Placement of the candidate minus that of the baseline on the same walls and seats; negative is better."""
    points: tuple[int, ...]
    """What first to fourth place are worth in ``points_difference``."""
    points_difference: PairedDifference
    """The same in points for each hanchan; positive is better."""
    seating: Seating = "1v3"
    """Candidates against baselines at a table."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of CANDIDATE and BASELINE: games that they could not play to the end, which count as last place."""

    def renamed(self, candidate: str, baseline: str) -> MatchReport:
        """Return the same with other names of the agents."""
        return replace(self, candidate=candidate, baseline=baseline)

    def verdict(self) -> str:
        """Return one sentence that says who is stronger, as far as the match can tell."""
        note = few_games_note(self.hanchans)
        mean, low, high = self.difference.mean, self.difference.interval.low, self.difference.interval.high
        stronger, weaker = (self.candidate, self.baseline) if mean < 0 else (self.baseline, self.candidate)
        claim = f"{stronger} is better than {weaker}" if self.difference.is_significant else "no significant difference"
        claim = "too few games to say who is stronger" if note else claim
        figures = f"average placement {mean:+.3f} ({low:+.3f} to {high:+.3f}, lower is better for the candidate)"
        return f"{claim}: {figures} over {self.hanchans:,} hanchans{note}"

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
            "points_difference": {
                "points": list(self.points),
                "per_hanchan": self.points_difference.mean,
                "interval": [self.points_difference.interval.low, self.points_difference.interval.high],
            },
            "seating": self.seating,
            "forfeits": self.forfeits.to_json((CANDIDATE_NAME, BASELINE_NAME)),
            "baseline_statistics": self.baseline_statistics.to_json(),
        }


@dataclass(frozen=True, slots=True)
class SeatingsReport:
    """The matches of a choice of seatings."""

    matches: tuple[MatchReport, ...]
    """At least one; of all three the first has one candidate against three baselines."""

    @property
    def forfeits(self) -> Forfeits:
        """Of all matches together."""
        return Forfeits.together(match.forfeits for match in self.matches)

    def verdict(self) -> str:
        """Return one sentence, which names the seatings if there are several."""
        if len(self.matches) == 1:
            return self.matches[0].verdict()
        return "; ".join(f"{match.seating}: {match.verdict()}" for match in self.matches)

    def to_json(self) -> dict[str, object]:
        """Return the keys of the first match, and in ``other_seatings`` those of the others."""
        first, *others = self.matches
        return first.to_json() | {"other_seatings": {match.seating: match.to_json() for match in others}}

    def renamed(self, candidate: str, baseline: str) -> SeatingsReport:
        """Return the same with other names of the agents."""
        return SeatingsReport(tuple(match.renamed(candidate, baseline) for match in self.matches))


def play_match(
    candidate: str,
    baseline: str,
    *,
    num_hanchans: int,
    seed: int,
    seating: Seating = "1v3",
    points: tuple[int, ...] = PHOENIX_POINTS,
    workers: Workers = 1,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    progress: Callable[[float], None] = lambda games: None,
    load: LoadAgent = load_agent,
    kept: KeptResults | None = None,
    records: Path | None = None,
) -> MatchReport:
    """Play ``num_hanchans`` games (a multiple of 4, at least 8) of ``candidate`` against ``baseline``.

    Both are addresses for ``load``. ``points`` are those of first to fourth place, for the difference in points.
    ``progress`` is called with parts of games while they are played; what ``kept`` has of the same match is not played
    again. Walls follow from ``seed``. With ``has_draw_lanes`` every seat draws from its own positions of the wall
    (docs/evaluation.md). ``records`` is a folder for the games that are played now.
    ValueError for an unknown agent or a wrong number, ChildProcessError if a process dies.
    """
    check_hanchans(num_hanchans)
    measure = points_measure(points)
    forfeits = Forfeits()
    walls = wall_seeds(seed, num_hanchans // SEATS)
    parts = dict(
        play_walls(
            (candidate, baseline),
            walls,
            seating=seating,
            rules=rules,
            has_draw_lanes=has_draw_lanes,
            workers=workers,
            load=load,
            kept=kept,
            records=records,
            progress=progress,
            note_forfeit=forfeits.note,
        )
    )
    rows, baseline_rows = np.concatenate([parts[first] for first in sorted(parts)], axis=1)
    clusters = np.repeat(np.arange(len(walls)), SEATS)
    return MatchReport(
        candidate=candidate,
        baseline=baseline,
        hanchans=num_hanchans,
        walls=len(walls),
        seed=seed,
        statistics=summarise_rows(rows, CANDIDATE_NAME, clusters=clusters),
        baseline_statistics=summarise_rows(baseline_rows, BASELINE_NAME, clusters=clusters),
        placements=tuple(rows[:, PLACE_COLUMN].tolist()),
        difference=_difference(rows, PLACEMENT, seating, clusters),
        points=points,
        points_difference=_difference(rows, measure, seating, clusters),
        seating=seating,
        forfeits=forfeits,
    )


def play_seatings(candidate: str, baseline: str, choice: SeatingChoice, **how: Any) -> SeatingsReport:
    """Play a match of ``how`` (the arguments of ``play_match``) in each seating of ``choice``; errors as there."""
    return SeatingsReport(
        tuple(play_match(candidate, baseline, seating=seating, **how) for seating in chosen_seatings(choice))
    )


def play_walls(
    agents: tuple[str, str],
    walls: range,
    *,
    seating: Seating = "1v3",
    walls_per_task: int = 0,
    max_tables: int | None = None,
    workers: Workers = 1,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    progress: Callable[[float], None] = lambda games: None,
    load: LoadAgent = load_agent,
    play: Play = play_stream,
    kept: KeptResults | None = None,
    records: Path | None = None,
    note_forfeit: Callable[[int, str], None] = lambda agent, reason: None,
) -> Generator[tuple[int, I32], None, None]:
    """Yield the number of the first wall of each task and its rows, first what is ``kept``, then whatever ends first.

    The rows are ``game_row`` of the candidates and of the baselines, [2][games][columns]; ``agents`` are the addresses
    of candidate and baseline, ``walls`` the seeds. At most ``max_tables`` games are played side by side in a process;
    ``play`` plays them. When the caller stops iterating, the processes end. Errors as for ``play_match``.
    """
    size = walls_per_task or _WALLS_PER_TASK
    firsts = range(0, len(walls), size)
    tasks = [_task(agents, walls, slice(first, first + size), seating) for first in firsts]
    # In a match an agent goes by its part: both may be the same.
    for index, summary in play_tasks(
        agents,
        (CANDIDATE_NAME, BASELINE_NAME),
        tasks,
        summarise=_summarise,
        rules=rules or tenhou(),
        has_draw_lanes=has_draw_lanes,
        workers=workers,
        max_tables=max_tables,
        load=load,
        play=play,
        kept=kept,
        records=records,
        progress=progress,
        note_forfeit=note_forfeit,
    ):
        yield firsts[index], np.array(summary["rows"], np.int32)


def _difference(rows: I32, measure: Measure, seating: Seating, clusters: NDArray[np.int64]) -> PairedDifference:
    """Return the difference of a match from the candidates' rows, one for each game."""
    unit = SEATS * float(wall_unit(seating))
    places = rows[:, :SEATS]
    equal = places.sum(axis=1) * np.mean(measure.by_place)
    return paired_difference(unit * (places @ np.array(measure.by_place)), unit * equal, clusters)


def first_game(
    candidate: str,
    baseline: str,
    *,
    seed: int,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    load: LoadAgent = load_agent,
    progress: Callable[[float], None] | None = None,
) -> GameLog:
    """Play the first game of a match again and return it; agents that depend on time may play it differently.

    ``progress`` is called with parts of the game; their sum is 1.
    """
    agents = [load(candidate), load(baseline)]
    agents[CANDIDATE].name, agents[BASELINE].name = CANDIDATE_NAME, BASELINE_NAME
    seating = np.full((1, SEATS), BASELINE)
    seating[0, 0] = CANDIDATE
    (log,) = play_games(
        agents, seating, wall_seeds(seed, 1), rules or tenhou(), has_draw_lanes=has_draw_lanes, progress=progress
    )
    return log


def _task(agents: tuple[str, str], walls: range, part: slice, seating: Seating) -> GameTask:
    """Return the games of a part of the walls, four for each; in ``1v3`` the candidate is at seat 0, 1, 2, 3."""
    numbers = range(len(walls))[part]
    seats = [np.where(candidate_seats(seating, number), CANDIDATE, BASELINE) for number in numbers]
    first, last = numbers.start + 1, numbers.stop
    prefix = "" if seating == "1v3" else f"{seating}-"
    players = f"{agents[CANDIDATE]} against {'three ' if seating == '1v3' else ''}{agents[BASELINE]}"
    return GameTask(
        seating=np.concatenate(seats),
        seeds=tuple(wall for wall in walls[part] for _ in range(SEATS)),
        key=f"{prefix}walls-{first}-{last}",
        title=f"{players} on walls {first} to {last} of {len(walls)}",
    )


def _summarise(logs: Sequence[GameLog], forfeited: ForfeitedSeats) -> Summary:
    """Return ``game_row`` of the candidate and of the three baselines for each game: [2][games][columns]."""
    places = counted_places(np.array([log.final_scores for log in logs]), forfeited).tolist()
    games = list(zip(logs, places, strict=True))
    return {"rows": [[game_row(log, name, own) for log, own in games] for name in (CANDIDATE_NAME, BASELINE_NAME)]}
