"""``suphx bench sequential``: how many hanchans sequential matches take, and how often they are wrong."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx.evaluation.match_config import check_hanchans
from suphx_cli.arguments.parsing import UsageError, add_workers, checked_options, not_negative, positive
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

_MIN_MATCHES = 2


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the sub-command to those of ``bench``."""
    parser = subjects.add_parser(
        "sequential",
        parents=[options],
        help="simulate how many hanchans suphx evaluate --sequential takes, and how often it is wrong",
        description="Play a match between two agents of similar strength. From the results of its walls, simulate many "
        "matches between agents that are equal, that differ by DIFFERENCE and by twice as much, each until it is "
        f"decided. {AGENT_HELP}",
    )
    parser.add_argument("--candidate", required=True, metavar="AGENT", help="the agent at one seat")
    parser.add_argument("--opponent", required=True, metavar="AGENT", help="the agent at the three other seats")
    parser.add_argument(
        "--difference",
        type=float,
        nargs="+",
        default=[0.1, 0.05, 0.02],
        metavar="DIFFERENCE",
        help="differences to test, in places (default: 0.1 0.05 0.02)",
    )
    parser.add_argument(
        "--error",
        type=float,
        nargs="+",
        default=[0.05, 0.01],
        metavar="P",
        help="shares of wrong decisions of each kind, at most (default: 0.05 0.01)",
    )
    parser.add_argument(
        "--hanchans", type=positive, default=2000, metavar="N", help="games of the real match (default: 2000)"
    )
    parser.add_argument(
        "--matches", type=positive, default=2000, metavar="N", help="simulated matches of each kind (default: 2000)"
    )
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of the walls (default: 0)")
    add_workers(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match and simulate; ValueError for an unknown agent, UsageError for a wrong number."""
    from suphx.evaluation.sequential.sequential_config import SequentialConfig

    with checked_options():
        check_hanchans(args.hanchans)
        for difference in args.difference:
            for error in args.error:
                SequentialConfig(difference=difference, error=error)
    if args.matches < _MIN_MATCHES:
        raise UsageError(f"--matches is {args.matches}: use {_MIN_MATCHES} or more")
    for agent in (args.candidate, args.opponent):
        check_agent(agent)
    from suphx_platform.bench.riichi.matches.sequential import EFFECTS, bench_sequential, measure_walls
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    match = {"candidate": args.candidate, "opponent": args.opponent, "hanchans": args.hanchans, "seed": args.seed}
    with console.progress("hanchans", args.hanchans) as played:
        values = measure_walls(
            args.candidate,
            args.opponent,
            num_hanchans=args.hanchans,
            seed=args.seed,
            workers=args.workers,
            progress=played.advance,
        )
    num_tests = len(args.difference) * len(args.error) * len(EFFECTS)
    with console.progress("simulated matches", num_tests * args.matches) as simulated:
        return match | bench_sequential(
            values,
            differences=args.difference,
            errors=args.error,
            matches=args.matches,
            seed=args.seed,
            progress=simulated.advance,
        )
