"""``suphx bench environments``: the speed of the vector environment."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx.selfplay.agents.choice import SCRIPTED_AGENTS
from suphx_cli.arguments.parsing import not_negative, peer_names, positive, seconds, steps

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

PEERS = ("riichienv", "mahjax")
ENCODERS = ("mini", "suphx", "suphx-plain")
SECONDS = 1.0


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench environments``."""
    parser = subjects.add_parser(
        "environments", parents=[options], help="measure steps per second of the vector environment on one core"
    )
    parser.add_argument(
        "--peer",
        type=peer_names(PEERS),
        default=[],
        metavar="NAMES",
        help="other environments to compare with, separated by commas: riichienv, mahjax",
    )
    parser.add_argument(
        "--mahjax-python",
        metavar="FILE",
        help="the Python of an environment with mahjax, which compiles for minutes first (default: this one)",
    )
    parser.add_argument("--tables", type=positive, default=512, metavar="N", help="tables per call (default: 512)")
    parser.add_argument(
        "--steps", type=positive, default=20, metavar="N", help="steps of all tables per measured call (default: 20)"
    )
    parser.add_argument("--encoder", choices=ENCODERS, default="mini", help="planes (default: mini)")
    parser.add_argument(
        "--opponents", choices=SCRIPTED_AGENTS, default="random", help="agent at the other seats (default: random)"
    )
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of the walls (default: 0)")
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=SECONDS,
        metavar="X",
        help="minimum duration per environment in each of 3 rounds (default: %(default)s)",
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the vector environment; ValueError for a peer that is not installed."""
    from suphx_platform.bench.riichi.environments import bench_environments
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "environments")

    with steps(console) as begin:
        return bench_environments(
            num_tables=args.tables,
            num_steps=args.steps,
            encoder=args.encoder,
            opponents=args.opponents,
            seed=args.seed,
            peers=args.peer,
            mahjax_python=args.mahjax_python,
            seconds=args.seconds,
            say=begin,
        )
