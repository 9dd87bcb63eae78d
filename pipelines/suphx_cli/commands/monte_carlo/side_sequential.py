"""``suphx evaluate --sequential`` for a game of two sides: a match that stops as soon as it is decided."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suphx.evaluation.match_config import widened_note

if TYPE_CHECKING:
    from suphx.evaluation.sequential.match_watch import SideOutcome
    from suphx.evaluation.sequential.sequential_config import SideTestConfig
    from suphx.evaluation.sequential.side_sequential_match import SideSequentialReport
    from suphx.evaluation.side_match import SideReport
    from suphx.evaluation.workers.match_records import KeptResults
    from suphx.games.candidate_game import CandidateGame, Player
    from suphx_platform.console.console import Console


AGENTS, LOST = ("the candidate", "the opponent"), "lost"
"""For sentences about forfeits."""


def figures_table(report: SideReport, game: CandidateGame) -> list[dict[str, str]]:
    """Return what people see: WP (share of games won) and ADP (points per game), a line for each side."""
    rows = []
    for label, names in (
        *((side, (f"wp_{side}", f"adp_{side}")) for side in game.sides),
        ("both", ("share", "points")),
    ):
        wins, points = (report.figures[name] for name in names)
        rows.append(
            {
                "candidate as": label,
                "WP": f"{wins.mean:.1%}",
                "WP, 95 % interval": f"{wins.interval.low:.1%} to {wins.interval.high:.1%}",
                "ADP": f"{points.mean:+.3f}",
                "ADP, 95 % interval": f"{points.interval.low:+.3f} to {points.interval.high:+.3f}",
            }
        )
    return rows


SEQUENTIAL_DECKS, FRESH_DECKS = 20_000, 2000
"""The most decks, and the new ones after a pass."""
_WORDS = {
    "better": "The candidate is stronger",
    "not_better": "The candidate is not stronger by this difference",
    "undecided": "Undecided, more decks are needed",
}


def check_options(args: argparse.Namespace, max_decks: int) -> None:
    """Raise ValueError for a test or a number of decks that allows no decision."""
    from suphx.evaluation.sequential.sequential_config import check_decks

    check_decks(max_decks, FRESH_DECKS)
    _test_config(args)


def _test_config(args: argparse.Namespace) -> SideTestConfig:
    from suphx.evaluation.sequential.sequential_config import SideTestConfig

    return SideTestConfig(difference=args.sequential, **({} if args.error is None else {"error": args.error}))


@dataclass(frozen=True, slots=True)
class SequentialMatch:
    """Who plays, by which rules and which decks."""

    game: CandidateGame
    rules: Any
    candidate: Player
    opponent: Player
    first_deal: int
    kept: KeptResults
    decks_per_block: int

    def play(self, args: argparse.Namespace, console: Console, max_decks: int) -> dict[str, object]:
        """Return what the command prints; the options have been checked."""
        from suphx.evaluation.match_config import MAX_SIDE_DECKS
        from suphx.evaluation.sequential.side_sequential_match import (
            DECKS_PER_BLOCK,
            SideMatchSetup,
            play_sequential_side_match,
        )
        from suphx.evaluation.workers.play_plan import GAMES_PER_DECK
        from suphx.evaluation.workers.side_runner import SideRunner

        players = {"candidate": self.candidate, "opponent": self.opponent}
        setup = SideMatchSetup(
            game=self.game.name,
            rules=self.rules,
            candidate="candidate",
            opponent="opponent",
            first_deal=self.first_deal,
            first_fresh_deal=self.first_deal + MAX_SIDE_DECKS,
            decks_per_block=min(self.decks_per_block, DECKS_PER_BLOCK),
        )
        config = _test_config(args)
        with console.progress("decks", max_decks) as progress:

            def note_look(outcome: SideOutcome) -> None:
                progress.advance(0, outcome.note())
                if outcome.decision == "better":  # now there are games on fresh decks instead of what is left
                    progress.expect(FRESH_DECKS)

            runner = SideRunner(
                load=players.__getitem__,
                kept=self.kept,
                progress=lambda games: progress.advance(games / GAMES_PER_DECK),
                note_kept=lambda games: progress.skip(games / GAMES_PER_DECK),
            )
            report = play_sequential_side_match(
                setup,
                config,
                max_decks=max_decks,
                fresh_decks=FRESH_DECKS,
                runner=runner,
                tell=note_look,
            )
        console.say(_verdict(report))
        for sentence in report.forfeits.sentences(AGENTS, LOST):
            console.warn(sentence)
        return report.to_json() if console.is_json else _shown(report, self.game)


def _verdict(report: SideSequentialReport) -> str:
    outcome, low, high = report.outcome, report.outcome.interval.low, report.outcome.interval.high
    text = (
        f"{_WORDS[outcome.decision]}, after {outcome.decks:,} decks (always-valid 95 % interval {low:.1%} to "
        f"{high:.1%} of the games won)."
    )
    if report.fresh is None:
        return text
    share = report.fresh.figures["share"]
    bounds = f"95 % interval {share.interval.low:.1%} to {share.interval.high:.1%}"
    bounds += widened_note(share.interval.is_widened, "decks")
    return f"{text} On {report.fresh.deals:,} new decks it wins {share.mean:.1%} of the games ({bounds})."


def _shown(report: SideSequentialReport, game: CandidateGame) -> dict[str, object]:
    """Return what people see."""
    outcome = report.outcome
    rows: dict[str, object] = {
        "verdict": outcome.decision,
        "decks": outcome.decks,
        "log_likelihood_ratio": round(outcome.log_likelihood_ratio, 2),
        "ends_at": [-round(outcome.bound, 2), round(outcome.bound, 2)],
        "expected_decks": math.ceil(outcome.expected_decks),
        "always_valid_interval": [outcome.interval.low, outcome.interval.high],
    }
    if report.fresh is None:
        return rows
    return rows | {"new_decks": report.fresh.deals, "figures": figures_table(report.fresh, game)}
