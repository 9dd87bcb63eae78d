"""``suphx evaluate``: one agent against three copies of another, on shared walls."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from suphx.evaluation.match_config import check_hanchans
from suphx_platform.agent_forms import AGENT_FORMS, check_agent
from suphx_platform.command_parser import examples
from suphx_platform.commands.parsing import add_runs, add_workers, not_negative, positive
from suphx_platform.table_text import label, value_text

if TYPE_CHECKING:
    from suphx.evaluation.match import MatchReport
    from suphx_platform.agent_source import AgentSource
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console

_FIGURES = (
    "placements",
    "average_placement",
    "stable_rank",
    "win_rate",
    "deal_in_rate",
    "riichi_rate",
    "call_rate",
    "average_win",
    "average_deal_in",
)


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``evaluate``."""
    parser = commands.add_parser(
        "evaluate",
        parents=[options],
        help="play a match between two agents and report who is stronger",
        description="Play a match of one candidate against three copies of a baseline. Every wall is played four "
        f"times, with the candidate at each seat once, so that the luck of the draw counts less. AGENT: {AGENT_FORMS}.",
        epilog=examples(
            "suphx evaluate --candidate ukeire --baseline tsumogiri --hanchans 200",
            "suphx evaluate --candidate runs/RUN/supervised --baseline ukeire",
            "suphx evaluate --candidate models:/suphx@champion --baseline runs/RUN/supervised:weak",
        ),
    )
    parser.add_argument(
        "--candidate", required=True, metavar="AGENT", help="the agent to measure; it plays at one seat"
    )
    parser.add_argument(
        "--baseline",
        required=True,
        metavar="AGENT",
        help="the agent to compare with; it plays at the three other seats",
    )
    parser.add_argument(
        "--hanchans",
        type=positive,
        default=1000,
        metavar="N",
        help="number of games, a multiple of 4 and at least 8 (default: 1000)",
    )
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of the walls (default: 0)")
    add_workers(parser)
    add_runs(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match; ValueError for an unknown agent."""
    check_hanchans(args.hanchans)
    for agent in (args.candidate, args.baseline):
        check_agent(agent)
    with console.activity("importing"):
        from suphx_platform.agent_source import AgentSource
        from suphx_platform.kernel_warmup import compile_kernels
        from suphx_platform.tracking import TrackingStore

    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    started = time.perf_counter()
    report = _play(args, AgentSource(TrackingStore(args.runs)), console)
    console.say(report.verdict())
    seconds = round(time.perf_counter() - started, 1)
    return {**report.to_json(), "seconds": seconds} if console.is_json else _shown(report, seconds)


def _play(args: argparse.Namespace, source: AgentSource, console: Console) -> MatchReport:
    from suphx.evaluation.match import play_match
    from suphx_platform.agent_loading import load_any_agent

    with TemporaryDirectory(prefix="suphx-agents-") as space, console.progress("hanchans", args.hanchans) as progress:
        report = play_match(
            source.fetch(args.candidate, Path(space) / "candidate"),
            source.fetch(args.baseline, Path(space) / "baseline"),
            num_hanchans=args.hanchans,
            seed=args.seed,
            workers=args.workers,
            progress=progress.advance,
            load=load_any_agent,
        )
    return replace(report, candidate=args.candidate, baseline=args.baseline)


def _shown(report: MatchReport, seconds: float) -> dict[str, object]:
    """Return what people see: the figures of both sides as the columns of one table."""
    candidate, baseline = report.statistics.to_json(), report.baseline_statistics.to_json()
    intervals = candidate["intervals"]
    assert isinstance(intervals, dict)
    difference = report.difference
    return {
        "hanchans": report.hanchans,
        "walls": report.walls,
        "seed": report.seed,
        "average_placement_difference": difference.mean,
        "interval": [difference.interval.low, difference.interval.high],
        "seconds": seconds,
        "figures": [
            {
                "": label(key),
                "candidate": value_text(key, candidate[key]),
                "95 % interval": value_text(f"{key}_interval", intervals.get(key) or candidate.get(f"{key}_interval")),
                "baseline": value_text(key, baseline[key]),
            }
            for key in _FIGURES
        ],
    }
