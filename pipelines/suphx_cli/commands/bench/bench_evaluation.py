"""``suphx bench evaluation``: how many hanchans shared walls and draw lanes save."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx.evaluation.match_config import check_hanchans
from suphx_cli.arguments.parsing import add_workers, checked_options, not_negative, positive
from suphx_platform.agents.agent_forms import check_agent

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the sub-command to those of ``bench``."""
    parser = subjects.add_parser(
        "evaluation",
        parents=[options],
        help="measure how many hanchans of a match shared walls and draw lanes save",
        description="Play each pair of agents three times on the same seeds: with a wall for each number of deals "
        "before it, as matches once had them, with walls by kyoku and honba, and also with draw lanes. The result is "
        "how many times fewer hanchans give the same standard error, with a 95 % interval.",
    )
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        metavar="AGENT",
        help="candidate and opponent of similar strength, such as two folders of checkpoints; may be repeated. Besides "
        "the names of agents: ukeire-no-calls and the other variants of ukeire in docs/evaluation.md (default: each of "
        "these variants against ukeire)",
    )
    parser.add_argument(
        "--hanchans", type=positive, default=1000, metavar="N", help="games of each match (default: 1000)"
    )
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of the walls (default: 0)")
    add_workers(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the matches; ValueError for an unknown agent, UsageError for a wrong number of games."""
    with checked_options():
        check_hanchans(args.hanchans)
    with console.activity("importing"):
        from suphx_platform.bench.riichi.matches.wall_sharing import (
            CHANGED,
            NUM_SCHEMES,
            SCRIPTED_PAIRS,
            bench_evaluation,
        )
        from suphx_platform.kernels.kernel_warmup import compile_kernels

    pairs = [(candidate, opponent) for candidate, opponent in args.pair or SCRIPTED_PAIRS]
    for agent in {agent for pair in pairs for agent in pair} - CHANGED.keys():
        check_agent(agent)
    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    with console.progress("hanchans", NUM_SCHEMES * len(pairs) * args.hanchans) as progress:
        return bench_evaluation(
            pairs,
            num_hanchans=args.hanchans,
            seed=args.seed,
            workers=args.workers,
            progress=lambda hanchans, match: progress.advance(hanchans, match.replace(",", "")),
        )
