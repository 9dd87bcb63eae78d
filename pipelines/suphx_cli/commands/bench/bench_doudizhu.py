"""``suphx bench doudizhu``: the speed of the second game on one core."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import positive, seconds
from suphx_cli.arguments.peers import peer_names
from suphx_cli.arguments.steps import steps

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

PEERS = ("douzero", "rlcard")
SECONDS = 3.0


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench doudizhu``."""
    parser = subjects.add_parser(
        "doudizhu",
        parents=[options],
        help="measure DouDizhu on one core: random games, and decisions of nets",
    )
    parser.add_argument(
        "--peer",
        type=peer_names(PEERS),
        default=[],
        metavar="NAME,NAME",
        help=f"other implementations to compare with: {', '.join(PEERS)}",
    )
    parser.add_argument(
        "--tables",
        type=positive,
        default=256,
        metavar="N",
        help="games of nets at a time (default: 256)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of decks and nets (default: 0)")
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=SECONDS,
        metavar="X",
        help="minimum duration per implementation in each of 3 rounds (default: %(default)s)",
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure; ValueError for a peer that is not installed."""
    from suphx_platform.bench.doudizhu.doudizhu import bench_doudizhu

    with steps(console) as begin:
        return bench_doudizhu(num_tables=args.tables, seed=args.seed, peers=args.peer, seconds=args.seconds, say=begin)
