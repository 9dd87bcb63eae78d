"""A match: one candidate against three copies of an opponent on shared (duplicate) walls (paper, section 4.2).

Every wall is played four times, the candidate once at each seat; other seatings are in wall_difference.py. What it did
better than the opponent there is a paired difference, for which no game of four opponents is needed: at such a table
the places add up to 10 whatever the wall, so that over the four seats of a wall an opponent would have come 2.5th.
Walls are the clusters of the bootstrap, since the four games of a wall are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

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
    widened_note,
)
from suphx.evaluation.match_setup import CANDIDATE, CANDIDATE_NAME, OPPONENT, OPPONENT_NAME, MatchSetup
from suphx.evaluation.player_statistics import PLACE_COLUMN, PlayerStatistics, summarise_rows
from suphx.evaluation.statistics import PairedDifference, average_placement, paired_difference
from suphx.evaluation.wall_difference import PLACEMENT, Measure, candidate_seats, points_measure, wall_unit
from suphx.evaluation.workers.forfeits import Forfeit, ForfeitedSeats, Forfeits, counted_places
from suphx.evaluation.workers.game_runner import ONE_PROCESS, GameRunner
from suphx.evaluation.workers.game_task import GameTask, LoadAgent, Play
from suphx.evaluation.workers.play_plan import Summary
from suphx.games.riichi import GameLog, game_row
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games, play_stream

I32 = NDArray[np.int32]

_WALLS_PER_TASK = 16
Tell = Callable[[str], None]
"""Gets what is known of a match so far, in a few words for a progress line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchReport:
    """The outcome of a match."""

    candidate: str
    opponent: str
    hanchans: int
    """Games with the candidate; four for each wall."""
    walls: int
    seed: int
    statistics: PlayerStatistics
    """Of the candidate."""
    opponent_statistics: PlayerStatistics
    """Of the three opponents in the candidate's games."""
    placements: tuple[int, ...]
    """Of the candidate, wall by wall, seat by seat: matches with the same walls can be compared. Several candidates in
    a game: the sum of theirs."""
    difference: PairedDifference
    """Average placement of the candidate minus 2.5, that of equal agents; negative is better (wall_difference.py)."""
    points: tuple[int, ...]
    """What first to fourth place are worth in ``points_difference``."""
    points_difference: PairedDifference
    """The same in points for each hanchan; positive is better."""
    seating: Seating = "1v3"
    """Candidates against opponents at a table."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of CANDIDATE and OPPONENT: games that they could not play to the end, which count as last place."""

    def renamed(self, candidate: str, opponent: str) -> MatchReport:
        """Return the same with other names of the agents."""
        return replace(self, candidate=candidate, opponent=opponent)

    def verdict(self) -> str:
        """Return one sentence that says who is stronger, as far as the match can tell."""
        note, widened = few_games_note(self.hanchans), widened_note(self.difference.interval.is_widened)
        mean, low, high = self.difference.mean, self.difference.interval.low, self.difference.interval.high
        stronger, weaker = (self.candidate, self.opponent) if mean < 0 else (self.opponent, self.candidate)
        claim = f"{stronger} is better than {weaker}" if self.difference.is_significant else "no significant difference"
        claim = "too few games to say who is stronger" if note else claim
        figures = f"placement difference {mean:+.3f} ({low:+.3f} to {high:+.3f}, negative is better for the candidate)"
        return f"{claim}: {figures} over {self.hanchans:,} hanchans{note}{widened}"

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read (and those of the candidate's statistics)."""
        return {
            "candidate": self.candidate,
            "opponent": self.opponent,
            "hanchans": self.hanchans,
            "walls": self.walls,
            "seed": self.seed,
            **{name: value for name, value in self.statistics.to_json().items() if name not in ("player", "games")},
            "paired_difference": {
                "average_placement": self.difference.mean,
                "interval": [self.difference.interval.low, self.difference.interval.high],
                "is_widened": self.difference.interval.is_widened,
                "is_significant": self.difference.is_significant,
            },
            "points_difference": {
                "points": list(self.points),
                "per_hanchan": self.points_difference.mean,
                "interval": [self.points_difference.interval.low, self.points_difference.interval.high],
                "is_widened": self.points_difference.interval.is_widened,
            },
            "seating": self.seating,
            "forfeits": self.forfeits.to_json((CANDIDATE_NAME, OPPONENT_NAME)),
            "opponent_statistics": self.opponent_statistics.to_json(),
        }


@dataclass(frozen=True, slots=True)
class SeatingsReport:
    """The matches of a choice of seatings."""

    matches: tuple[MatchReport, ...]
    """At least one; of all three the first has one candidate against three opponents."""

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

    def renamed(self, candidate: str, opponent: str) -> SeatingsReport:
        """Return the same with other names of the agents."""
        return SeatingsReport(tuple(match.renamed(candidate, opponent) for match in self.matches))


def play_match(
    setup: MatchSetup,
    num_hanchans: int,
    *,
    seating: Seating = "1v3",
    points: tuple[int, ...] = PHOENIX_POINTS,
    runner: GameRunner = ONE_PROCESS,
    tell: Tell = lambda text: None,
) -> MatchReport:
    """Play ``num_hanchans`` games of the candidate, a multiple of 4 and at least 8.

    ``points`` are those of first to fourth place, for the difference in points. ``tell`` gets the placement so far
    whenever walls end.
    ValueError for an unknown agent or a wrong number, ChildProcessError if a process dies.
    """
    check_hanchans(num_hanchans)
    measure = points_measure(points)
    num_walls = num_hanchans // SEATS
    blocks: list[PlayedWalls] = []
    placements = np.zeros(SEATS, np.int64)
    for block in play_walls(setup, num_walls, seating=seating, runner=runner):
        blocks.append(block)
        placements += block.rows[CANDIDATE, :, :SEATS].sum(axis=0)
        games = sum(each.rows.shape[1] for each in blocks)
        tell(f"average placement {average_placement(placements.tolist()):.2f} after {games:,} hanchans")
    blocks.sort(key=lambda block: block.first)
    rows, opponent_rows = np.concatenate([block.rows for block in blocks], axis=1)
    clusters = np.repeat(np.arange(num_walls), SEATS)
    return MatchReport(
        candidate=setup.candidate,
        opponent=setup.opponent,
        hanchans=num_hanchans,
        walls=num_walls,
        seed=setup.seed,
        statistics=summarise_rows(rows, CANDIDATE_NAME, clusters=clusters),
        opponent_statistics=summarise_rows(opponent_rows, OPPONENT_NAME, clusters=clusters),
        placements=tuple(rows[:, PLACE_COLUMN].tolist()),
        difference=_difference(rows, PLACEMENT, seating, clusters),
        points=points,
        points_difference=_difference(rows, measure, seating, clusters),
        seating=seating,
        forfeits=Forfeits.of(forfeit for block in blocks for forfeit in block.forfeits),
    )


def play_seatings(
    setup: MatchSetup,
    num_hanchans: int,
    choice: SeatingChoice,
    *,
    points: tuple[int, ...] = PHOENIX_POINTS,
    runner: GameRunner = ONE_PROCESS,
    tell: Tell = lambda text: None,
) -> SeatingsReport:
    """Play a match of ``num_hanchans`` games in each seating of ``choice``; the rest as in ``play_match``."""
    return SeatingsReport(
        tuple(
            play_match(setup, num_hanchans, seating=seating, points=points, runner=runner, tell=tell)
            for seating in chosen_seatings(choice)
        )
    )


@dataclass(frozen=True, slots=True)
class PlayedWalls:
    """Walls of a match that were played as one task."""

    first: int
    """Number of the first wall, from 0."""
    rows: I32
    """``game_row`` of the candidates and of the opponents: [2][games][columns]."""
    forfeits: tuple[Forfeit, ...]


def play_walls(
    setup: MatchSetup,
    num_walls: int,
    *,
    seating: Seating = "1v3",
    walls_per_task: int = 0,
    runner: GameRunner = ONE_PROCESS,
    play: Play = play_stream,
) -> Generator[PlayedWalls, None, None]:
    """Yield the walls of each task, first those that were kept, then whatever ends first; four games a wall.

    ``play`` plays the games. When the caller stops iterating, the processes end. Errors as for ``play_match``.
    """
    size = 1 if setup.keeps_each_wall else walls_per_task or _WALLS_PER_TASK
    firsts = range(0, num_walls, size)
    walls = setup.walls(num_walls)
    tasks = [_task(setup, walls, slice(first, first + size), seating) for first in firsts]
    for played in runner.play(setup.plan(_summarise, play), tasks):
        yield PlayedWalls(firsts[played.index], np.array(played.summary["rows"], np.int32), played.forfeits)


def _difference(rows: I32, measure: Measure, seating: Seating, clusters: NDArray[np.int64]) -> PairedDifference:
    """Return the difference of a match from the candidates' rows, one for each game."""
    unit = SEATS * float(wall_unit(seating))
    places = rows[:, :SEATS]
    equal = places.sum(axis=1) * np.mean(measure.by_place)
    return paired_difference(unit * (places @ np.array(measure.by_place)), unit * equal, clusters)


def first_game(
    setup: MatchSetup, *, load: LoadAgent = load_agent, progress: Callable[[float], None] | None = None
) -> GameLog:
    """Play the first game of a match again and return it; agents that depend on time may play it differently.

    ``progress`` is called with parts of the game; their sum is 1.
    """
    agents = [load(setup.candidate), load(setup.opponent)]
    seating = np.full((1, SEATS), OPPONENT)
    seating[0, 0] = CANDIDATE
    (log,) = play_games(
        agents,
        seating,
        setup.walls(1),
        setup.rules,
        has_draw_lanes=setup.has_draw_lanes,
        names=(CANDIDATE_NAME, OPPONENT_NAME),
        progress=progress,
    )
    return log


def _task(setup: MatchSetup, walls: range, part: slice, seating: Seating) -> GameTask:
    """Return the games of a part of the walls, four for each; in ``1v3`` the candidate is at seat 0, 1, 2, 3."""
    numbers = range(len(walls))[part]
    seats = [np.where(candidate_seats(seating, number), CANDIDATE, OPPONENT) for number in numbers]
    first, last = numbers.start + 1, numbers.stop
    prefix = "" if seating == "1v3" else f"{seating}-"
    players = f"{setup.candidate} against {'three ' if seating == '1v3' else ''}{setup.opponent}"
    return GameTask(
        seating=np.concatenate(seats),
        seeds=tuple(wall for wall in walls[part] for _ in range(SEATS)),
        key=f"{prefix}walls-{first}-{last}",
        title=f"{players} on walls {first} to {last} of {len(walls)}",
    )


def _summarise(logs: Sequence[GameLog], forfeited: ForfeitedSeats) -> Summary:
    """Return ``game_row`` of the candidate and of the three opponents for each game: [2][games][columns]."""
    places = counted_places(np.array([log.final_scores for log in logs]), forfeited).tolist()
    games = list(zip(logs, places, strict=True))
    return {"rows": [[game_row(log, name, own) for log, own in games] for name in (CANDIDATE_NAME, OPPONENT_NAME)]}
