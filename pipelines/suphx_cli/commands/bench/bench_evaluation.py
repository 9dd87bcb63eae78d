"""``suphx bench evaluation``: how many hanchans draw lanes save."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx.evaluation.match_config import check_hanchans
from suphx_cli.arguments.parsing import add_workers, not_negative, positive
from suphx_platform.agents.agent_forms import check_agent

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the sub-command to those of ``bench``."""
    parser = subjects.add_parser(
        "evaluation", parents=[options], help="measure how many hanchans of a match draw lanes save"
    )
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        required=True,
        metavar="AGENT",
        help="candidate and baseline of similar strength; may be repeated",
    )
    parser.add_argument(
        "--hanchans", type=positive, default=1000, metavar="N", help="games of each match (default: 1000)"
    )
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of the walls (default: 0)")
    add_workers(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the matches; ValueError for an unknown agent or a wrong number of games."""
    check_hanchans(args.hanchans)
    pairs = [(candidate, baseline) for candidate, baseline in args.pair]
    for agent in {agent for pair in pairs for agent in pair}:
        check_agent(agent)
    from suphx_platform.bench.matches.draw_lanes import bench_evaluation
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    with console.progress("hanchans", 2 * len(pairs) * args.hanchans) as progress:
        return bench_evaluation(
            pairs,
            num_hanchans=args.hanchans,
            seed=args.seed,
            workers=args.workers,
            progress=lambda hanchans, match: progress.advance(hanchans, match.replace(",", "")),
        )
