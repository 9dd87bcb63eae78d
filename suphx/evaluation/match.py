"""A match of a candidate against an opponent on shared deals (paper, section 4.2).

>>> report = play_match(MatchSetup("runs/a/supervised", "ukeire", seed=0), 1000)
>>> report.difference.mean  # of the candidate's placement to 2.5; negative is better
>>> report = play_side_match(MatchSetup("rule", "random", seed=0, game="doudizhu"), 500)
>>> report.figures["wp_landlord"].mean  # the share of its games as landlord that the candidate wins

In a game of four seats every deal is played four times, the candidate once at each seat among three opponents; other
seatings, and games that decide by their points: suphx/games/scoring.py. What it did better than the opponent there is a
paired difference, for which no game of four opponents is needed: at such a table the places add up to 10 whatever the
deal, so that over the four seats of a deal an opponent would have come 2.5th. In a game of two sides every deal is
played twice, with the sides swapped; WP is the share of games won, ADP the mean points per game (DouZero, Zha et al.
2021, section 5.1). Deals are the clusters of the bootstrap, since their games are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.game_runner import ONE_PROCESS, Forfeit, Forfeits, GamePlan, GameRunner, GameTask, LoadAgent
from suphx.evaluation.match_config import (
    MIN_CLUSTERS,
    PHOENIX_POINTS,
    SEATS,
    Seating,
    SeatingChoice,
    check_hanchans,
    check_side_deals,
    chosen_seatings,
    few_games_note,
    widened_note,
)
from suphx.evaluation.measures import PLACEMENT, Measure, points_of
from suphx.evaluation.player_statistics import PLACE_COLUMN, PlayerStatistics, summarise_rows
from suphx.evaluation.statistics import (
    Interval,
    PairedDifference,
    average_placement,
    mean_interval,
    paired_difference,
    proportion_interval,
    reaching,
)
from suphx.games.game import Game
from suphx.games.registry import DEFAULT_GAME, load_game
from suphx.games.scoring import MAX_DEAL_SEED, PLACE_COUNTERS, MeasureName, SideScoring
from suphx.kernel.record import I64
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games

CANDIDATE, OPPONENT = 0, 1
"""The numbers of the agents."""
AGENT_NAMES = ("candidate", "opponent")
"""In records and reports: an agent goes by its part, since both may be the same."""
Tell = Callable[[str], None]
"""Gets what is known of a match so far, in a few words for a progress line."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """Who plays against whom, by which rules and on which deals."""

    candidate: str
    opponent: str
    """Both are addresses for ``GameRunner.load``."""
    seed: int = field(kw_only=True)
    game: str = field(kw_only=True, default=DEFAULT_GAME)
    rules: Any = field(kw_only=True, default=None)
    """None: those of the game without options."""
    options: Mapping[str, Any] = field(kw_only=True, default_factory=dict)
    """Of the game's tables, where they are not those of its scoring; of riichi ``has_draw_lanes``: whether every seat
    draws from its own positions of the wall (docs/evaluation.md)."""
    first_deal: int | None = field(kw_only=True, default=None)
    """Seed of the first deal, the next ones have the next seeds; None: ``Scoring.first_deal`` of ``seed``."""
    first_fresh_deal: int | None = field(kw_only=True, default=None)
    """The same of the match on new deals after a sequential match."""
    deals_per_task: int = field(kw_only=True, default=0)
    """Deals of a task, at most, for agents with games of minutes: a task is kept when its games end. 0: many."""
    typed_names: tuple[str, str] | None = field(kw_only=True, default=None)
    """What people call the agents; None: their addresses."""

    @property
    def names(self) -> tuple[str, str]:
        """Of both agents in reports."""
        return self.typed_names or (self.candidate, self.opponent)

    def deals(self, number: int) -> range:
        """Return the seeds of the first ``number`` deals. ValueError if ``seed`` is out of range."""
        first = load_game(self.game).scoring.first_deal(self.seed) if self.first_deal is None else self.first_deal
        return range(first, first + number)

    def on_fresh_deals(self) -> MatchSetup:
        """Return the setup of the match on new deals."""
        first = self.first_fresh_deal
        if first is None:
            first = load_game(self.game).scoring.first_deal(self.seed, is_fresh=True)
        return replace(self, seed=(self.seed + MAX_DEAL_SEED // 2) % MAX_DEAL_SEED, first_deal=first)

    def plan(self) -> GamePlan:
        """Return how both agents play games of the match."""
        return GamePlan(
            addresses=(self.candidate, self.opponent),
            names=AGENT_NAMES,
            game=self.game,
            rules=self.rules,
            options=self.options,
        )


@dataclass(frozen=True, slots=True)
class PlayedDeals:
    """Deals of a match that were played as one task, from the number ``first`` (from 0) on."""

    first: int
    placements: I64
    """int64 [deals, parties]: how often candidates came first, second, … on each deal."""
    points: NDArray[np.float64]
    """[games, parties]."""
    own_points: NDArray[np.float64]
    """[games]: the sum of the candidates' points."""
    rows: I64
    """What the candidates and the opponents did in each game, [2][games][counters]: those of the game, or
    PLACE_COUNTERS."""
    forfeits: tuple[Forfeit, ...]

    @property
    def outcomes(self) -> I64:
        """Return int64 [deals, parties + 1]: ``placements``, and the sum of the candidates' points."""
        sums = np.rint(self.own_points.reshape(len(self.placements), -1).sum(axis=1))
        return np.column_stack([self.placements, sums.astype(np.int64)])


def play_deals(
    setup: MatchSetup, num_deals: int, *, seating: str = "", deals_per_task: int = 0, runner: GameRunner = ONE_PROCESS
) -> Generator[PlayedDeals, None, None]:
    """Yield the deals of each task, first those that were kept, then whatever ends first.

    ``seating``: a name of the game's scoring, by default its first. When the caller stops iterating, the processes end.
    ValueError for an unknown agent, ChildProcessError if a process dies.
    """
    game: Game = load_game(setup.game)
    scoring = game.scoring
    size = deals_per_task or scoring.deals_per_task
    size = min(size, setup.deals_per_task) if setup.deals_per_task else size
    firsts = range(0, num_deals, size)
    deals = setup.deals(num_deals)
    seating = seating or scoring.seatings[0]
    tasks = [_task(setup, game, deals, slice(first, first + size), seating) for first in firsts]
    with closing(runner.play(setup.plan(), tasks)) as played_tasks:
        for played in played_tasks:
            summary, task = played.summary, tasks[played.index]
            places = np.array(summary["places"], np.int64)
            is_own = task.seating[:, scoring.party_seats] == CANDIDATE
            placements, points = _placements(places, is_own), np.array(summary["points"], np.float64)
            if "rows" in summary:
                rows = np.array([summary["rows"][name] for name in AGENT_NAMES], np.int64)
            else:  # a game without counters: only where both came
                rows = np.zeros((2, len(places), len(PLACE_COUNTERS)), np.int64)
                for line, own in zip(rows, (is_own, ~is_own), strict=True):
                    line[:, : places.shape[1]] = _placements(places, own)
                    line[:, SEATS] = own.sum(axis=1)
                    line[:, PLACE_COLUMN] = (places * own).sum(axis=1)
            yield PlayedDeals(
                firsts[played.index],
                placements.reshape(-1, scoring.num_games(seating), places.shape[1]).sum(axis=1),
                points,
                (points * is_own).sum(axis=1),
                rows,
                played.forfeits,
            )


def _task(setup: MatchSetup, game: Game, deals: range, part: slice, seating: str) -> GameTask:
    """Return the games of a part of the deals; in ``1v3`` the candidate is at seat 0, 1, 2, 3."""
    numbers, scoring = range(len(deals))[part], game.scoring
    seats = [np.where(scoring.candidate_seats(seating, number), CANDIDATE, OPPONENT) for number in numbers]
    first, last = numbers.start + 1, numbers.stop
    prefix = "" if seating == scoring.seatings[0] else f"{seating}-"
    return GameTask(
        seating=np.concatenate(seats),
        seeds=tuple(deal for deal in deals[part] for _ in range(scoring.num_games(seating))),
        key=f"{prefix}{scoring.deal}s-{first}-{last}",
        title=(
            f"{setup.candidate} against {'three ' if seating == '1v3' else ''}{setup.opponent} on {scoring.deal}s "
            f"{first} to {last} of {len(deals)}"
        ),
    )


def _placements(places: I64, is_own: NDArray[np.bool_]) -> I64:
    """Return how often those who are in ``is_own`` [games, parties] came first, second, …: [games, parties]."""
    by_place = [((places == place) & is_own).sum(axis=1) for place in range(1, places.shape[1] + 1)]
    return np.stack(by_place, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchReport:
    """The outcome of a match of four seats."""

    candidate: str
    opponent: str
    games: int
    """With the candidate; four for each deal, or as many as its seating has."""
    deals: int
    seed: int
    statistics: PlayerStatistics
    opponent_statistics: PlayerStatistics
    placements: tuple[int, ...]
    """Of the candidate, deal by deal, seat by seat: matches on the same deals can be compared. Several candidates in a
    game: the sum of theirs."""
    difference: PairedDifference
    """Average placement of the candidate minus 2.5, that of equal agents; negative is better (measures.py)."""
    points: tuple[int, ...]
    """What first to fourth place are worth in ``points_difference``; empty: it is that of the games' own points."""
    points_difference: PairedDifference
    """The same in points per game; positive is better."""
    own_points: tuple[float, ...]
    """The points of ``points_difference`` game by game, in the order of ``placements``; empty: those of places."""
    seating: Seating = "1v3"
    decides: MeasureName = "placement"
    """Which of both differences says who is better."""
    unit: str = "games"
    """What people call the games."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of CANDIDATE and OPPONENT: games that they could not play to the end, which count as last place."""
    other_seatings: tuple[MatchReport, ...] = ()
    """The matches in the other seatings, if all were played."""

    @property
    def matches(self) -> tuple[MatchReport, ...]:
        """This match and those in the other seatings."""
        return (self, *self.other_seatings)

    @property
    def deciding_difference(self) -> PairedDifference:
        """The difference that says who is better."""
        return self.points_difference if self.decides == "points" else self.difference

    def verdict(self) -> str:
        """Return one sentence that says who is stronger, as far as the match can tell; it names several seatings."""
        if self.other_seatings:
            alone = (replace(match, other_seatings=()) for match in self.matches)
            return "; ".join(f"{match.seating}: {match.verdict()}" for match in alone)
        has_points, decides = self.decides == "points", self.deciding_difference
        note = few_games_note(self.games, self.unit, self.games // self.deals)
        widened = widened_note(decides.interval.is_widened)
        mean, low, high = decides.mean, decides.interval.low, decides.interval.high
        is_stronger = mean > 0 if has_points else mean < 0
        stronger, weaker = (self.candidate, self.opponent) if is_stronger else (self.opponent, self.candidate)
        claim = f"{stronger} is better than {weaker}" if decides.is_significant else "no significant difference"
        claim = "too few games to say who is stronger" if note else claim
        figures = f"placement difference {mean:+.3f} (95 % interval {low:+.3f} to {high:+.3f}; negative is better)"
        if has_points:
            figures = f"{mean:+.2f} points per game (95 % interval {low:+.2f} to {high:+.2f}; positive is better)"
        return f"{claim}: {figures} over {self.games:,} {self.unit}{note}{widened}"

    def figures_text(self) -> str:
        """Return both differences in words."""
        places, points, game = self.difference, self.points_difference, self.unit.removesuffix("s")
        if self.decides == "points":
            return (
                f"{points.mean:+.2f} points per {game} (95 % interval {points.interval.low:+.2f} to "
                f"{points.interval.high:+.2f}) over {self.games:,} {self.unit}"
                f"{widened_note(points.interval.is_widened)}"
            )
        return (
            f"placement difference {places.mean:+.3f} (95 % interval {places.interval.low:+.3f} to "
            f"{places.interval.high:+.3f}), {points.mean:+.1f} points per {game} (95 % interval "
            f"{points.interval.low:+.1f} to {points.interval.high:+.1f}) over {self.games:,} {self.unit}"
            f"{widened_note(places.interval.is_widened)}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read (and those of the candidate's statistics)."""
        return self._figures() | {"other_seatings": {match.seating: match._figures() for match in self.other_seatings}}

    def _figures(self) -> dict[str, object]:
        return {
            **{name: getattr(self, name) for name in ("candidate", "opponent", "games", "deals", "seed")},
            **({} if self.decides == "placement" else {"decides": self.decides}),
            **{name: value for name, value in self.statistics.to_json().items() if name not in ("player", "games")},
            "paired_difference": self.difference.to_json("average_placement"),
            "points_difference": {"points": list(self.points), **self.points_difference.to_json("per_game")},
            "seating": self.seating,
            "forfeits": self.forfeits.to_json(AGENT_NAMES),
            "opponent_statistics": self.opponent_statistics.to_json(),
        }


def play_match(
    setup: MatchSetup,
    num_games: int,
    *,
    seating: SeatingChoice = "1v3",
    points: tuple[int, ...] = PHOENIX_POINTS,
    runner: GameRunner = ONE_PROCESS,
    tell: Tell = lambda text: None,
) -> MatchReport:
    """Play ``num_games`` games of the candidate, a multiple of 4 and at least 8, in a game of four seats.

    If a wall has more than four games, those that fill no wall are not played. With the seating ``all`` there is a
    match of so many games in each seating. ``points`` are those of first to fourth place, for the difference in points,
    unless the game's own points decide. ``tell`` gets the placement so far, or the points, whenever walls end. Errors
    as for ``play_deals``, and ValueError for a wrong number.
    """
    check_hanchans(num_games)
    first, *others = (_play_seating(setup, num_games, each, points, runner, tell) for each in chosen_seatings(seating))
    return replace(first, other_seatings=tuple(others))


def _play_seating(
    setup: MatchSetup, num_games: int, seating: Seating, points: tuple[int, ...], runner: GameRunner, tell: Tell
) -> MatchReport:
    scoring = load_game(setup.game).scoring
    if isinstance(scoring, SideScoring):
        raise ValueError(f"{setup.game} has two sides: play_side_match plays it")
    per_deal, has_points = scoring.num_games(seating), scoring.decides == "points"
    places, measure = (replace(each, candidates=int(seating[0])) for each in (PLACEMENT, points_of(scoring, points)))
    num_deals = num_games // per_deal
    if num_deals < 2:
        raise ValueError(
            f"{num_games} {scoring.games} are one {scoring.deal} in {seating}: use at least {2 * per_deal}"
        )

    def known(blocks: Sequence[PlayedDeals]) -> str:
        walls = np.concatenate([each.outcomes for each in blocks])
        text = f"average placement {average_placement(walls[:, :SEATS].sum(axis=0).tolist()):.2f}"
        if has_points:
            text = f"{measure.game_unit * walls[:, -1].sum() / (per_deal * len(walls)):+.2f} points per game"
        return f"{text} after {per_deal * len(walls):,} {scoring.games}"

    blocks = _play_all(setup, num_deals, known, tell, seating=seating, runner=runner)
    rows, opponent_rows = np.concatenate([block.rows for block in blocks], axis=1)
    own_points = np.concatenate([block.own_points for block in blocks]) * measure.game_unit
    clusters = np.repeat(np.arange(num_deals), per_deal)
    counters = scoring.counters or PLACE_COUNTERS
    summarise = partial(summarise_rows, counters=counters, ratios=scoring.ratios, clusters=clusters)
    return MatchReport(
        candidate=setup.names[0],
        opponent=setup.names[1],
        games=per_deal * num_deals,
        deals=num_deals,
        seed=setup.seed,
        statistics=summarise(rows, AGENT_NAMES[CANDIDATE]),
        opponent_statistics=summarise(opponent_rows, AGENT_NAMES[OPPONENT]),
        placements=tuple(rows[:, PLACE_COLUMN].tolist()),
        difference=_difference(rows, places, clusters),
        points=() if has_points else points,
        points_difference=paired_difference(own_points, np.zeros_like(own_points), clusters)
        if has_points
        else _difference(rows, measure, clusters),
        own_points=tuple(own_points.tolist()) if has_points else (),
        seating=seating,
        decides=scoring.decides,
        unit=scoring.games,
        forfeits=_forfeits_of(blocks),
    )


def _play_all(
    setup: MatchSetup, num_deals: int, known: Callable[[Sequence[PlayedDeals]], str], tell: Tell, **options: Any
) -> list[PlayedDeals]:
    """Return the deals of all tasks in their order; ``tell`` gets what is ``known`` of those so far."""
    blocks: list[PlayedDeals] = []
    for block in play_deals(setup, num_deals, **options):
        blocks.append(block)
        tell(known(blocks))
    return sorted(blocks, key=lambda block: block.first)


def _forfeits_of(blocks: Iterable[PlayedDeals]) -> Forfeits:
    return Forfeits(forfeit for block in blocks for forfeit in block.forfeits)


def _difference(rows: I64, measure: Measure, clusters: I64) -> PairedDifference:
    """Return the difference of a match from the candidates' rows, one for each game."""
    places = rows[:, :SEATS]
    equal = places.sum(axis=1) * np.mean(measure.by_place)
    own = places @ np.array(measure.by_place)
    return paired_difference(measure.game_unit * own, measure.game_unit * equal, clusters)


def first_game(
    setup: MatchSetup, *, load: LoadAgent = load_agent, progress: Callable[[float], None] | None = None
) -> Any:
    """Play the first game of a match again and return its record; agents that depend on time may play it differently.

    ``progress`` is called with parts of the game; their sum is 1.
    """
    game: Game = load_game(setup.game)
    seats = game.scoring.candidate_seats(game.scoring.seatings[0], 0)[:1]
    (record,) = play_games(
        [load(setup.candidate), load(setup.opponent)],
        np.where(seats, CANDIDATE, OPPONENT),
        setup.deals(1),
        game.new_rules({}) if setup.rules is None else setup.rules,
        game=setup.game,
        options={**game.scoring.table_options, **setup.options},
        names=AGENT_NAMES,
        progress=progress,
    )
    return record


@dataclass(frozen=True, slots=True)
class SideFigure:
    """A mean over deals."""

    mean: float
    interval: Interval

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read."""
        return {"mean": self.mean, "interval": self.interval.ends, "is_widened": self.interval.is_widened}


@dataclass(frozen=True, slots=True, kw_only=True)
class SideReport:
    """The outcome of a match of two sides: what the candidate reached."""

    deals: int
    figures: dict[str, SideFigure]
    """``share``: of all games won, half of them on each side, so that equal agents have 0.5; ``points``: the mean of
    both sides; ``wp_<side>`` and ``adp_<side>`` of each side."""
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of CANDIDATE and OPPONENT: games that they could not play to the end, which they have lost."""

    @property
    def outcome(self) -> Literal["better", "worse", "undecided"]:
        """Whether the candidate wins more than half of the games, beyond doubt; few deals decide nothing."""
        if self.deals < MIN_CLUSTERS:
            return "undecided"
        interval = self.figures["share"].interval
        return "better" if interval.low > 0.5 else "worse" if interval.high < 0.5 else "undecided"

    @property
    def matches(self) -> tuple[SideReport, ...]:
        """This match alone."""
        return (self,)

    def verdict(self) -> str:
        """Return one sentence that says who is stronger, as far as the match can tell."""
        words = {
            "better": "The candidate is stronger: it wins",
            "worse": "The candidate is weaker: it wins",
            "undecided": "Neither agent is clearly stronger: the candidate wins",
        }
        return f"{words[self.outcome]} {self.figures_text()}."

    def figures_text(self) -> str:
        """Return the share of games won in words."""
        share = self.figures["share"]
        low, high = share.interval.low, share.interval.high
        note = widened_note(share.interval.is_widened, "decks")
        if self.deals < MIN_CLUSTERS:
            note = f"; over {self.deals} decks it means little, play at least {MIN_CLUSTERS}{note}"
        return (
            f"{share.mean:.1%} of the games on both sides together over {self.deals:,} decks (95 % interval "
            f"{low:.1%} to {high:.1%}{note})"
        )

    def to_json(self) -> dict[str, Any]:
        """Return all figures by name, and who forfeited games."""
        figures = {name: figure.to_json() for name, figure in self.figures.items()}
        return {"games": 2 * self.deals, "deals": self.deals, **figures, "forfeits": self.forfeits.to_json(AGENT_NAMES)}


def play_side_match(
    setup: MatchSetup,
    num_deals: int,
    *,
    deals_per_task: int = 0,
    runner: GameRunner = ONE_PROCESS,
    tell: Tell = lambda text: None,
) -> SideReport:
    """Play ``num_deals`` deals (at least 2) on both sides, in a game of two sides.

    ``tell`` gets what is known so far, in a few words. Errors as for ``play_deals``, and ValueError for fewer deals.
    """
    check_side_deals(num_deals)
    scoring = load_game(setup.game).scoring
    if not isinstance(scoring, SideScoring):
        raise ValueError(f"{setup.game} has no two sides: play_match plays it")

    def known(blocks: Sequence[PlayedDeals]) -> str:
        placements = np.concatenate([each.placements for each in blocks])
        share = placements[:, 0].sum() / placements.sum()
        return f"{share:.1%} of the games won after {len(placements):,} {scoring.deal}s"

    blocks = _play_all(setup, num_deals, known, tell, deals_per_task=deals_per_task, runner=runner)
    points = np.concatenate([block.points for block in blocks])
    columns: dict[str, NDArray[np.float64]] = {}
    for number, side in enumerate(scoring.sides):  # in the game of this number the candidate is on this side
        own = points[number :: scoring.num_games(), number]
        columns |= {f"wp_{side}": (own > 0).astype(np.float64), f"adp_{side}": own}
    for name, measure in (("share", "wp"), ("points", "adp")):
        columns[name] = np.mean([columns[f"{measure}_{side}"] for side in scoring.sides], axis=0)
    figures = {}
    for name, column in columns.items():
        is_share = name == "share" or name.startswith("wp_")
        interval = proportion_interval(column) if is_share else mean_interval(column)
        interval = reaching(0.5, interval, column) if name == "share" else interval
        figures[name] = SideFigure(float(column.mean()), interval)
    return SideReport(deals=num_deals, figures=figures, forfeits=_forfeits_of(blocks))
