"""``suphx bench match`` and ``suphx bench match-memory``: the speed and the memory of matches."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.evaluation.match_config import check_hanchans
from suphx_cli.arguments.parsing import UsageError, add_workers, checked_options, not_negative, positive, some_seconds
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

_MIN_HANCHANS = 40
"""Fewer have no tenth."""


def add_parsers(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the sub-commands to those of ``bench``."""
    match = subjects.add_parser(
        "match",
        parents=[options],
        help="measure decisions per second of a match of nets, beside self-play of the same nets",
    )
    match.add_argument(
        "--agent",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="folder of checkpoints, such as runs/RUN/supervised; it plays against itself",
    )
    match.add_argument("--hanchans", type=positive, default=4000, metavar="N", help="games (default: 4000)")
    match.add_argument(
        "--seconds", type=some_seconds, default=30.0, metavar="T", help="duration of self-play (default: 30)"
    )
    _add_walls(match)
    match.set_defaults(execute=execute_match)
    memory = subjects.add_parser(
        "match-memory",
        parents=[options],
        help="measure the memory of a long match after each tenth of its games",
        description=f"Play a match and measure the memory of its processes. {AGENT_HELP}",
    )
    for side in ("candidate", "opponent"):
        memory.add_argument(f"--{side}", default="ukeire", metavar="AGENT", help=f"the {side} (default: ukeire)")
    memory.add_argument("--hanchans", type=positive, default=100_000, metavar="N", help="games (default: 100000)")
    _add_walls(memory)
    memory.set_defaults(execute=execute_memory)


def _add_walls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of the walls (default: 0)")
    add_workers(parser)


def execute_match(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the speed; ValueError for a folder without nets or a wrong number of games."""
    with checked_options():
        check_hanchans(args.hanchans)
    check_agent(str(args.agent))
    from suphx_platform.bench.riichi.matches.match import bench_match
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "nets", "scripted games", "net games", "self-play")
    with console.progress("hanchans", args.hanchans) as progress:
        return bench_match(
            args.agent,
            num_hanchans=args.hanchans,
            seconds=args.seconds,
            seed=args.seed,
            workers=args.workers,
            progress=progress.advance,
        )


def execute_memory(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the memory; ValueError for an unknown agent, UsageError for a wrong number of games."""
    with checked_options():
        check_hanchans(args.hanchans)
    if args.hanchans < _MIN_HANCHANS:
        raise UsageError(f"--hanchans is {args.hanchans}: use {_MIN_HANCHANS} or more, so that each tenth has games")
    for agent in (args.candidate, args.opponent):
        check_agent(agent)
    from suphx_platform.bench.riichi.matches.match_memory import bench_match_memory
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    with console.progress("hanchans", args.hanchans) as progress:
        return bench_match_memory(
            args.candidate,
            args.opponent,
            num_hanchans=args.hanchans,
            seed=args.seed,
            workers=args.workers,
            progress=progress.advance,
        )
