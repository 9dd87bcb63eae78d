"""Paired deals: what a candidate gains a kyoku where an opponent sat, on the same wall and with the same scores.

A hanchan mixes some ten deals into one place of four. Here every deal is a result of its own, and its luck cancels as
far as both agents play it alike, so a small difference needs far fewer games than a match of hanchans. It is a
difference in points, not in places: how an agent plays for its place is not measured. Deals of one hanchan are drawn
together in the bootstrap, since they share how the game went.

The opponent plays hanchans at all seats, so scores, honba and sticks at the start of a deal are as in real games. Up to
the first decision that the candidate makes differently at a seat both plays of a deal are the same, so only the rest is
played again: at that decision the table is copied, and the copy continues with the candidate there and the opponent
at the three others. A deal in which the candidate decides as the opponent does costs no second play.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.game_runner import ONE_PROCESS, Forfeits, GamePlan, GameRunner, GameTask, Summary
from suphx.evaluation.match import CANDIDATE, OPPONENT, MatchSetup
from suphx.evaluation.match_config import MIN_CLUSTERS, MIN_DEALS, SEATS, widened_note
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.games.game import Agent, Game
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END, KYOKU_END
from suphx.games.riichi.tables import shares_played
from suphx.games.scoring import Forfeited
from suphx.kernel.record import I32, I64, Records
from suphx.selfplay.rollouts.rollout import GameFollower, SeatedGame

USUAL_DEALS = 10
"""Deals of a hanchan, about."""
_GAMES_PER_TASK = 16
DEFAULT_GAMES = 512
_TABLES = 1 + SEATS  # of a game: that of the opponent, and one for each seat of the candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class DealReport:
    """The outcome of paired deals."""

    candidate: str
    opponent: str
    deals: int
    """Different deals; the candidate plays each at all four seats."""
    hanchans: int
    """Games of the opponent that the deals come from."""
    seed: int
    changed_share: float
    """Share of deals and seats in which the candidate decided differently at least once."""
    difference: PairedDifference
    """Points a kyoku of the candidate minus those of the opponent; positive is better."""

    @property
    def forfeits(self) -> Forfeits:
        """None: agents that must follow whole games, such as programs, play no deals."""
        return Forfeits()

    def verdict(self) -> str:
        """Return one sentence that says who wins more points, as far as the deals can tell."""
        mean, low, high = self.difference.mean, self.difference.interval.low, self.difference.interval.high
        stronger, weaker = (self.candidate, self.opponent) if mean > 0 else (self.opponent, self.candidate)
        claim = f"{stronger} is better than {weaker}" if self.difference.is_significant else "no significant difference"
        claim = "too few deals to say who is stronger" if self.hanchans < MIN_CLUSTERS else claim
        return (
            f"{claim}: {mean:+.1f} points per kyoku (95 % interval {low:+.1f} to {high:+.1f}; positive is better) over "
            f"{self.deals:,} deals at four seats; it decided differently in {self.changed_share:.0%} of them"
            f"{widened_note(self.difference.interval.is_widened, 'hanchans')}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        names = ("candidate", "opponent", "deals", "hanchans", "seed", "changed_share")
        own: dict[str, object] = {name: getattr(self, name) for name in names}
        return own | {"paired_difference": self.difference.to_json("points_per_kyoku")}


def hanchans_of(num_deals: int) -> int:
    """Return how many hanchans have about ``num_deals`` deals; ValueError for fewer than 20."""
    if num_deals < MIN_DEALS:
        raise ValueError(f"{num_deals} deals: use at least {MIN_DEALS}, about those of two hanchans")
    return -(-num_deals // USUAL_DEALS)


def play_deal_match(setup: MatchSetup, num_deals: int, *, runner: GameRunner = ONE_PROCESS) -> DealReport:
    """Play all deals of ``num_deals`` / 10 hanchans of the opponent, and again with the candidate at each seat.

    The number of deals is therefore only about ``num_deals``. ``runner`` reports parts of hanchans as progress.
    ValueError for an unknown agent, one that must follow whole games, or a wrong number.
    """
    walls = setup.deals(hanchans_of(num_deals))
    tasks = []
    for first in range(0, len(walls), _GAMES_PER_TASK):
        part = walls[first : first + _GAMES_PER_TASK]
        last = first + len(part)
        which = f"walls {first + 1} to {last} of {len(walls)}"
        tasks.append(
            GameTask(
                seating=np.full((len(part), SEATS), OPPONENT),
                seeds=tuple(part),
                key=f"deals-of-walls-{first + 1}-{last}",
                title=f"deals of {setup.opponent} again with {setup.candidate}, {which}",
            )
        )
    plan = replace(setup.plan(), play=_play, summarise=_summarise)
    games = {played.index: played.summary["games"] for played in runner.play(plan, tasks)}
    deals = [np.array(deal) for index in range(len(tasks)) for deal in games[index]]
    columns = np.concatenate(deals)
    own, other, differs = columns.reshape(len(columns), 3, SEATS).swapaxes(0, 1)
    clusters = np.repeat(np.arange(len(deals)), [SEATS * len(game) for game in deals])
    return DealReport(
        candidate=setup.names[0],
        opponent=setup.names[1],
        deals=len(columns),
        hanchans=len(walls),
        seed=setup.seed,
        changed_share=float(differs.mean()),
        difference=paired_difference(own.ravel(), other.ravel(), clusters),
    )


def _play(
    game: Game,
    agents: Sequence[Agent],
    games: Iterator[SeatedGame],
    rules: Rules,
    *,
    num_tables: int,
    options: dict[str, Any],
    progress: Callable[[float], None],
    **_: Any,
) -> Iterator[GameBranches]:
    seeds = (each.seed for each in games)
    candidate, opponent = agents[CANDIDATE], agents[OPPONENT]
    return play_branches(candidate, opponent, seeds, rules, num_games=num_tables, progress=progress, **options)


def _summarise(plan: GamePlan, games: Sequence[GameBranches], forfeited: Forfeited) -> Summary:
    """Return for each game one line a deal: points of the candidate, of the opponent, and where they differ; 4 each.

    Nobody forfeits: agents that must follow whole games, such as programs, play no deals.
    """
    columns = [np.concatenate([game.candidate, game.opponent, game.differs], axis=1) for game in games]
    return {"games": [game.tolist() for game in columns]}


@dataclass(frozen=True, slots=True)
class GameBranches:
    """The deals of one hanchan of the opponent."""

    id: str
    opponent: I32
    """int32 [deals, 4]: points that each seat won or lost with the opponent at all seats."""
    candidate: I32
    """int32 [deals, 4]: points that each seat won or lost with the candidate there and the opponent elsewhere."""
    differs: NDArray[np.bool_]
    """[deals, 4]: the candidate decided differently at least once."""


def play_branches(
    candidate: Agent,
    opponent: Agent,
    seeds: Iterable[int],
    rules: Rules,
    *,
    num_games: int = DEFAULT_GAMES,
    has_draw_lanes: bool = False,
    progress: Callable[[float], None] = lambda parts: None,
) -> Iterator[GameBranches]:
    """Play a hanchan of ``opponent`` for each of ``seeds`` with all branches, and yield them in that order.

    At most ``num_games`` are played side by side; a seed is taken from ``seeds`` when the next game can begin.
    With ``has_draw_lanes`` every seat draws from its own positions of the wall, so that branches have more in common
    with the game (docs/evaluation.md). ``progress`` is called with parts of games, whose sum is their number.
    ValueError for an agent that must follow whole games, or keeps what it needs by table (``needs_same_table``).
    """
    for agent in (candidate, opponent):
        if isinstance(agent, GameFollower) or getattr(agent, "needs_same_table", False):
            raise ValueError(f"{agent.name} follows whole games and cannot play a single deal again: play hanchans")
    simulator = Simulator(_TABLES * num_games, rules, stops_at_kyoku_end=True, has_draw_lanes=has_draw_lanes)
    yield from _BranchPool(candidate, opponent, iter(seeds), simulator, progress).play()


_Deal = tuple[I32, I32, NDArray[np.bool_]]


class _BranchPool:
    """Games side by side: table 5 g is that of game g, table 5 g + 1 + s its branch with the candidate at seat s.

    When a game ends, the next one begins at its tables.
    """

    def __init__(
        self,
        candidate: Agent,
        opponent: Agent,
        seeds: Iterator[int],
        simulator: Simulator,
        progress: Callable[[float], None],
    ) -> None:
        num_games = len(simulator.tables) // _TABLES
        self._candidate, self._opponent, self._progress = candidate, opponent, progress
        self._seeds = enumerate(seeds)
        self._simulator = simulator
        self._tables: Records = simulator.tables
        self._has_branch = np.zeros((num_games, SEATS), np.bool_)
        self._start_scores = np.zeros((num_games, SEATS), np.int32)
        self._numbers = np.zeros(num_games, np.int64)
        """Of the game at each slot, in the order of the seeds."""
        self._deals: list[list[_Deal]] = [[] for _ in range(num_games)]
        self._finished: dict[int, GameBranches] = {}
        """By the number of the game, until those before it are finished."""

    def play(self) -> Iterator[GameBranches]:
        next_number = 0
        self._begin_games(np.arange(len(self._deals)))
        while (waiting := self._simulator.waiting()).size:
            self._decide(waiting)
            self._finish_deals()
            while next_number in self._finished:
                yield self._finished.pop(next_number)
                next_number += 1

    def _begin_games(self, free: I64) -> None:
        """Begin games at the slots ``free`` while there are any."""
        begun = list(zip(free.tolist(), self._seeds, strict=False))
        if not begun:
            return
        slots = np.array([slot for slot, _ in begun], np.int64)
        self._numbers[slots] = [number for _, (number, _) in begun]
        self._simulator.reset([seed for _, (_, seed) in begun], _TABLES * slots)
        self._start_scores[slots] = self._tables["scores"][_TABLES * slots]

    def _decide(self, waiting: I64) -> None:
        """Make one decision at each of the tables ``waiting``; begin a branch where the candidate differs."""
        tables = self._tables
        games, parts = waiting // _TABLES, waiting % _TABLES
        seats = tables["actor"][waiting].astype(np.int64)
        is_candidates = parts == 1 + seats
        is_compared = (parts == 0) & ~self._has_branch[games, seats]
        actions = np.zeros(waiting.shape, np.int16)
        actions[~is_candidates] = self._opponent.act(tables, waiting[~is_candidates])
        wishes = actions.copy()
        is_asked = is_candidates | is_compared
        wishes[is_asked] = self._candidate.act(tables, waiting[is_asked])
        actions[is_candidates] = wishes[is_candidates]
        branching = np.flatnonzero(wishes != actions)
        branches = waiting[branching] + 1 + seats[branching]
        tables[branches] = tables[waiting[branching]]
        self._has_branch[games[branching], seats[branching]] = True
        self._simulator.advance(np.concatenate([waiting, branches]), np.concatenate([actions, wishes[branching]]))

    def _finish_deals(self) -> None:
        """Count the deals that are over at all tables of their game, and deal the next ones."""
        is_over = (self._tables["phase"] == KYOKU_END).reshape(-1, _TABLES)
        ended = np.flatnonzero(is_over[:, 0] & (is_over[:, 1:] | ~self._has_branch).all(axis=1))
        if not ended.size:
            return
        main = _TABLES * ended
        scores = self._tables["scores"].reshape(-1, _TABLES, SEATS)[ended]
        own = scores[:, 1:].diagonal(axis1=1, axis2=2)
        points = scores[:, 0] - self._start_scores[ended]
        changed = np.where(self._has_branch[ended], own - self._start_scores[ended], points)
        for i, game in enumerate(ended):
            self._deals[game].append((points[i], changed[i], self._has_branch[game].copy()))
        self._has_branch[ended] = False
        self._simulator.next_kyoku(main)
        self._start_scores[ended] = self._tables["scores"][main]
        game_is_over = self._tables["phase"][main] == GAME_END
        counts = np.array([len(self._deals[game]) for game in ended])
        before = shares_played(counts - 1, np.zeros_like(game_is_over))
        self._progress(float((shares_played(counts, game_is_over) - before).sum()))
        for slot in ended[game_is_over].tolist():
            columns = zip(*self._deals[slot], strict=True)
            number = int(self._numbers[slot])
            self._finished[number] = GameBranches(str(number), *(np.stack(column) for column in columns))
            self._deals[slot] = []
        self._begin_games(ended[game_is_over])
