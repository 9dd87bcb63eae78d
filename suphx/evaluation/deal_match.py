"""Paired deals: what a candidate gains a kyoku where an opponent sat, on the same wall and with the same scores.

A hanchan mixes some ten deals into one place of four. Here every deal is a result of its own, and its luck cancels as
far as both agents play it alike (selfplay/rollouts/branch_play.py), so a small difference needs far fewer games than
a match of hanchans. It is a difference in points, not in places: how an agent plays for its place is not measured.
Deals of one hanchan are drawn together in the bootstrap, since they share how the game went."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from suphx.evaluation.match_config import MIN_CLUSTERS, MIN_DEALS, SEATS, widened_note
from suphx.evaluation.match_setup import CANDIDATE, OPPONENT, MatchSetup
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.evaluation.workers.forfeits import ForfeitedSeats, Forfeits
from suphx.evaluation.workers.game_runner import ONE_PROCESS, GameRunner
from suphx.evaluation.workers.game_task import GameTask
from suphx.evaluation.workers.play_plan import Summary
from suphx.games.riichi import Rules
from suphx.selfplay.agents.agent import Agent
from suphx.selfplay.rollouts.branch_play import GameBranches, play_branches
from suphx.selfplay.rollouts.rollout import Game, NoteForfeit

USUAL_DEALS = 10
"""Deals of a hanchan, about."""
_GAMES_PER_TASK = 16


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

    def renamed(self, candidate: str, opponent: str) -> DealReport:
        """Return the same with other names of the agents."""
        return replace(self, candidate=candidate, opponent=opponent)

    def verdict(self) -> str:
        """Return one sentence that says who wins more points, as far as the deals can tell."""
        mean, low, high = self.difference.mean, self.difference.interval.low, self.difference.interval.high
        stronger, weaker = (self.candidate, self.opponent) if mean > 0 else (self.opponent, self.candidate)
        claim = f"{stronger} is better than {weaker}" if self.difference.is_significant else "no significant difference"
        claim = "too few deals to say who is stronger" if self.hanchans < MIN_CLUSTERS else claim
        return (
            f"{claim}: {mean:+.1f} points per kyoku ({low:+.1f} to {high:+.1f}, higher is better for the candidate) "
            f"over {self.deals:,} deals at four seats; it decided differently in {self.changed_share:.0%} of them"
            f"{widened_note(self.difference.interval.is_widened, 'hanchans')}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        return {
            "candidate": self.candidate,
            "opponent": self.opponent,
            "deals": self.deals,
            "hanchans": self.hanchans,
            "seed": self.seed,
            "changed_share": self.changed_share,
            "paired_difference": {
                "points_per_kyoku": self.difference.mean,
                "interval": [self.difference.interval.low, self.difference.interval.high],
                "is_widened": self.difference.interval.is_widened,
                "is_significant": self.difference.is_significant,
            },
        }


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
    walls = setup.walls(hanchans_of(num_deals))
    tasks = [_task(setup, walls, first) for first in range(0, len(walls), _GAMES_PER_TASK)]
    games = {played.index: played.summary["games"] for played in runner.play(setup.plan(_summarise, _play), tasks)}
    deals = [np.array(deal) for index in range(len(tasks)) for deal in games[index]]
    columns = np.concatenate(deals)
    own, other, differs = columns.reshape(len(columns), 3, SEATS).swapaxes(0, 1)
    clusters = np.repeat(np.arange(len(deals)), [SEATS * len(game) for game in deals])
    return DealReport(
        candidate=setup.candidate,
        opponent=setup.opponent,
        deals=len(columns),
        hanchans=len(walls),
        seed=setup.seed,
        changed_share=float(differs.mean()),
        difference=paired_difference(own.ravel(), other.ravel(), clusters),
    )


def _task(setup: MatchSetup, walls: range, first: int) -> GameTask:
    part = walls[first : first + _GAMES_PER_TASK]
    last = first + len(part)
    return GameTask(
        seating=np.full((len(part), SEATS), OPPONENT),
        seeds=tuple(part),
        key=f"deals-of-walls-{first + 1}-{last}",
        title=f"deals of {setup.opponent} again with {setup.candidate}, walls {first + 1} to {last} of {len(walls)}",
    )


def _play(
    agents: Sequence[Agent],
    games: Iterator[Game],
    rules: Rules,
    *,
    num_tables: int,
    has_draw_lanes: bool,
    names: Sequence[str],
    progress: Callable[[float], None],
    note_forfeit: NoteForfeit,
) -> Iterator[GameBranches]:
    seeds = (game.seed for game in games)
    candidate, opponent = agents[CANDIDATE], agents[OPPONENT]
    return play_branches(
        candidate, opponent, seeds, rules, num_games=num_tables, has_draw_lanes=has_draw_lanes, progress=progress
    )


def _summarise(games: Sequence[GameBranches], forfeited: ForfeitedSeats) -> Summary:
    """Return for each game one line a deal: points of the candidate, of the opponent, and where they differ; 4 each.

    Nobody forfeits: agents that must follow whole games, such as programs, play no deals.
    """
    columns = [np.concatenate([game.candidate, game.opponent, game.differs], axis=1) for game in games]
    return {"games": [game.tolist() for game in columns]}
