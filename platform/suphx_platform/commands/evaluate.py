"""``suphx evaluate``: one agent against three copies of another, on shared walls."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from suphx_platform.agent_forms import AGENT_FORMS
from suphx_platform.commands.parsing import add_runs, add_workers, positive

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``evaluate``."""
    parser = commands.add_parser("evaluate", parents=[options], help="play a match and say who is stronger")
    parser.add_argument("--candidate", required=True, metavar="AGENT", help=AGENT_FORMS)
    parser.add_argument("--baseline", required=True, metavar="AGENT", help=AGENT_FORMS)
    parser.add_argument("--hanchans", type=positive, default=1000, metavar="N", help="games to play (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the walls (default: 0)")
    add_workers(parser)
    add_runs(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match; ValueError for an unknown agent."""
    from suphx.evaluation.match import play_match
    from suphx_platform.agent_loading import load_any_agent
    from suphx_platform.agent_source import AgentSource
    from suphx_platform.tracking import TrackingStore

    started = time.perf_counter()
    source = AgentSource(TrackingStore(args.runs))
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
    report = replace(report, candidate=args.candidate, baseline=args.baseline)
    console.say(report.verdict())
    return {**report.to_json(), "seconds": round(time.perf_counter() - started, 1)}
