"""Plays the match of riichi that the options of ``suphx evaluate`` name, and returns what people see of it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from suphx.evaluation.deal_match import DealReport, hanchans_of, play_deal_match
from suphx.evaluation.match import MatchReport, SeatingsReport, play_seatings
from suphx.evaluation.match_config import chosen_seatings
from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.sequential.match_watch import SequentialOutcome
from suphx.evaluation.sequential.sequential_match import SequentialReport, play_sequential_match
from suphx.evaluation.statistics import Interval
from suphx.evaluation.workers.game_runner import GameRunner
from suphx_cli.commands.evaluation.riichi_options import points_of_places, sequential_config
from suphx_platform.console.progress import Progress
from suphx_platform.console.table_text import label, value_text

_FRESH_HANCHANS = 1000
"""Of the match on new walls after a pass."""
_FIGURES = (
    "placements",
    "average_placement",
    "win_rate",
    "deal_in_rate",
    "riichi_rate",
    "call_rate",
    "average_win",
    "average_deal_in",
)

Report: TypeAlias = SeatingsReport | SequentialReport | DealReport


def num_games(args: argparse.Namespace) -> int:
    """Return how many hanchans are played, or at most."""
    if args.deals is not None:
        return hanchans_of(args.deals)
    return int(args.hanchans) * (1 if args.sequential is not None else len(chosen_seatings(args.seating)))


def _note_look(args: argparse.Namespace, bar: Progress, outcome: SequentialOutcome) -> None:
    """Show a look at a sequential match; after a pass there are games on new walls instead of what is left."""
    bar.advance(0, outcome.note())
    if outcome.decision == "better":
        bar.expect(_FRESH_HANCHANS * len(chosen_seatings(args.seating)))


def play(args: argparse.Namespace, setup: MatchSetup, runner: GameRunner, bar: Progress) -> Report:
    """Play hanchans, deals, or hanchans until they decide; ``bar`` shows what is known so far."""
    if args.deals is not None:
        return play_deal_match(setup, args.deals, runner=runner)
    if args.sequential is None:
        points = points_of_places(args)
        return play_seatings(
            setup, args.hanchans, args.seating, points=points, runner=runner, tell=partial(bar.advance, 0)
        )
    return play_sequential_match(
        setup,
        sequential_config(args),
        max_hanchans=args.hanchans,
        fresh_hanchans=_FRESH_HANCHANS,
        runner=runner,
        tell=partial(_note_look, args, bar),
    )


def shown(report: Report, seconds: float) -> dict[str, object]:
    """Return what people see of a match that took ``seconds``."""
    if isinstance(report, DealReport):
        return _shown_deals(report, seconds)
    if isinstance(report, SequentialReport):
        return _shown_sequential(report, seconds)
    first, *others = report.matches
    return _shown_match(first, seconds) | _other_seatings(others)


def _shown_sequential(report: SequentialReport, seconds: float) -> dict[str, object]:
    outcome = report.outcome
    rows: dict[str, object] = {
        "verdict": outcome.decision,
        "hanchans": outcome.hanchans,
        "log_likelihood_ratio": round(outcome.log_likelihood_ratio, 2),
        "ends_at": [-round(outcome.bound, 2), round(outcome.bound, 2)],
        "expected_hanchans": math.ceil(outcome.expected_hanchans),
        "always_valid_placement_interval": _ends(outcome.intervals["placement"]),
        "always_valid_points_interval": _ends(outcome.intervals["points"]),
    }
    if report.fresh is None:
        return rows | {"seconds": seconds}
    rows["fresh_match"] = "the figures below are those of new walls"
    return rows | _shown_match(report.fresh, seconds) | _other_seatings(report.other_seatings)


def _shown_deals(report: DealReport, seconds: float) -> dict[str, object]:
    return {
        "deals": report.deals,
        "hanchans": report.hanchans,
        "seed": report.seed,
        "changed_share": report.changed_share,
        "points_per_kyoku_difference": report.difference.mean,
        "interval": _ends(report.difference.interval),
        **_widened(interval=report.difference.interval),
        "seconds": seconds,
    }


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def _widened(**intervals: Interval) -> dict[str, object]:
    """Return the line that says which intervals were extended to "no difference", if there are any."""
    names = [name for name, interval in intervals.items() if interval.is_widened]
    return {"widened_to_include_0": names} if names else {}


def _other_seatings(matches: Sequence[MatchReport]) -> dict[str, object]:
    """Return what people see of the matches in the other seatings, if there are any."""
    rows = [
        {
            "seating": match.seating,
            "average_placement_difference": match.difference.mean,
            "interval": _ends(match.difference.interval),
            "points_difference": match.points_difference.mean,
            "points_interval": _ends(match.points_difference.interval),
            **_widened(interval=match.difference.interval, points_interval=match.points_difference.interval),
        }
        for match in matches
    ]
    return {"other_seatings": rows} if rows else {}


def _shown_match(report: MatchReport, seconds: float) -> dict[str, object]:
    """Return what people see of a match: the figures of both sides as the columns of one table."""
    candidate, opponent = report.statistics.to_json(), report.opponent_statistics.to_json()
    intervals = candidate["intervals"]
    assert isinstance(intervals, dict)
    difference = report.difference
    return {
        "hanchans": report.hanchans,
        "walls": report.walls,
        "seed": report.seed,
        "average_placement_difference": difference.mean,
        "interval": _ends(difference.interval),
        "points_difference": report.points_difference.mean,
        "points_interval": _ends(report.points_difference.interval),
        **_widened(interval=difference.interval, points_interval=report.points_difference.interval),
        "seconds": seconds,
        "figures": [
            {
                "": label(key),
                "candidate": value_text(key, candidate[key]),
                "95 % interval": value_text(f"{key}_interval", intervals.get(key) or candidate.get(f"{key}_interval")),
                "opponent": value_text(key, opponent[key]),
            }
            for key in _FIGURES
        ],
    }
