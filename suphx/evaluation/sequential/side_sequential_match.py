"""A match in a game of two sides that stops as soon as the sequential test has decided.

match_watch.py knows what the decks that are there decide. As in riichi (sequential_match.py), a candidate that has
passed then plays on new decks, whose figures are those to publish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from suphx.evaluation.sequential.match_watch import SideOutcome, SideWatch
from suphx.evaluation.sequential.sequential_config import SideTestConfig, check_decks
from suphx.evaluation.sequential.sequential_test import last_look_within
from suphx.evaluation.side_match import SIDE_AGENTS, SideReport, deck_blocks, forfeits_of, side_report
from suphx.evaluation.workers.forfeits import Forfeits
from suphx.evaluation.workers.play_plan import Summary
from suphx.evaluation.workers.side_runner import SidePlan, SideRunner
from suphx.games.candidate_game import candidate_game

FRESH_FOLDER = "fresh"
DECKS_PER_BLOCK = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SideMatchSetup:
    """Who plays, by which rules and which decks."""

    game: str
    """Name of the game in the registry."""
    rules: Any
    candidate: str
    """Address for ``SideRunner.load``, like that of the opponent."""
    opponent: str
    first_deal: int
    """Seed of the first deck; the next decks have the next seeds."""
    first_fresh_deal: int
    """The same of the match on new decks: as far away as a match may have decks."""
    decks_per_block: int = DECKS_PER_BLOCK
    """Of one task: nets answer many tables faster, and those in progress at the decision are lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSequentialReport:
    """The outcome of a match, with the match on new decks if the candidate has passed."""

    config: SideTestConfig
    outcome: SideOutcome
    fresh: SideReport | None
    forfeits: Forfeits = field(default_factory=Forfeits)
    """Of the candidate (0) and the opponent (1), on the decks that decided and on the new ones."""

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read; ``fresh_match`` is null without a pass."""
        outcome, config = self.outcome, self.config
        return {
            "verdict": outcome.decision,
            "decks": outcome.decks,
            "difference": config.difference,
            "error": config.error,
            "log_likelihood_ratio": outcome.log_likelihood_ratio,
            "bound": outcome.bound,
            "expected_decks": outcome.expected_decks,
            "always_valid_interval": [outcome.interval.low, outcome.interval.high],
            "forfeits": self.forfeits.to_json(SIDE_AGENTS),
            "fresh_match": None if self.fresh is None else {"decks": self.fresh.deals, **self.fresh.to_json()},
        }


def play_sequential_side_match(
    setup: SideMatchSetup,
    config: SideTestConfig,
    *,
    max_decks: int,
    fresh_decks: int,
    runner: SideRunner,
    tell: Callable[[SideOutcome], None] = lambda outcome: None,
) -> SideSequentialReport:
    """Play until ``config`` decides, at most ``max_decks`` decks, and after a pass ``fresh_decks`` new ones.

    The result does not depend on the workers, nor on kills if ``runner.kept`` has the finished blocks. ``tell`` gets
    the state after each look. ValueError for numbers that ``check_decks`` refuses and for an unknown agent,
    ChildProcessError if a process dies.
    """
    check_decks(max_decks, fresh_decks)
    sides = candidate_game(setup.game).sides
    plan = SidePlan(game=setup.game, rules=setup.rules, addresses=(setup.candidate, setup.opponent), load=runner.load)
    watch = SideWatch(config, last_look_within(max_decks))
    blocks = deck_blocks(setup.first_deal, watch.max_decks, setup.decks_per_block)
    found: dict[int, Summary] = {}
    with closing(runner.play(plan, blocks)) as played:
        for index, summary in played:
            found[index * setup.decks_per_block] = summary
            if watch.add(index * setup.decks_per_block, _wins(sides, summary)):
                tell(watch.outcome())
            if watch.is_decided:
                break
    outcome = watch.outcome()
    fresh = None
    if outcome.decision == "better":
        kept = None if runner.kept is None else runner.kept.part(FRESH_FOLDER)
        blocks = deck_blocks(setup.first_fresh_deal, fresh_decks, setup.decks_per_block)
        new = dict(replace(runner, kept=kept).play(plan, blocks))
        fresh = side_report(sides, [new[index] for index in sorted(new)])
    forfeits = forfeits_of(summary for first, summary in found.items() if first < outcome.decks)
    parts = [forfeits] if fresh is None else [forfeits, fresh.forfeits]
    return SideSequentialReport(config=config, outcome=outcome, fresh=fresh, forfeits=Forfeits.together(parts))


def _wins(sides: Sequence[str], summary: Summary) -> list[int]:
    """Return how many of the two games of each deck of a block the candidate won."""
    return [sum(map(int, pair)) for pair in zip(*(summary["wins"][side] for side in sides), strict=True)]
