"""``suphx bench``: the speed of hand analysis and encoder on this machine; bench_*.py have the other subjects."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import (
    check_records,
    examples,
    parallel,
    peer_names,
    positive,
    seconds,
    seed,
    steps,
)
from suphx_cli.commands.bench import bench_match, bench_net, bench_simulator, bench_storage

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

FEATURES_SECONDS = 1.0
HANDS_SECONDS = 0.5
HAND_PEERS = ("mahjong", "riichienv")
_SECONDS_HELP = "minimum duration per engine in each of 3 rounds (default: %(default)s)"
_THREADS_HELP = "threads of Suphx's engine (default: 1)"


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench`` with its sub-commands."""
    parser = commands.add_parser(
        "bench",
        help="measure the speed of this machine, and compare with other engines",
        epilog=examples(
            "suphx bench simulator --peer riichienv",
            "suphx bench hands --peer mahjong,riichienv",
            "suphx bench training --size small --batch 256 1024",
            "suphx bench selfplay --ray",
        ),
    )
    subjects = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    bench_simulator.add_parser(subjects, options)
    _add_hands(subjects, options)
    _add_features(subjects, options)
    bench_simulator.add_environments_parser(subjects, options)
    bench_net.add_parsers(subjects, options)
    bench_net.add_selfplay_parser(subjects, options)
    bench_match.add_adapt_parser(subjects, options)
    bench_match.add_evaluation_parser(subjects, options)
    bench_match.add_sequential_parser(subjects, options)
    bench_match.add_parsers(subjects, options)
    bench_storage.add_parser(subjects, options)


def _add_hands(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser("hands", parents=[options], help="measure scored wins and computed shanten per second")
    parser.add_argument(
        "--peer",
        type=peer_names(HAND_PEERS),
        default=[],
        metavar="NAME,NAME",
        help=f"other engines to compare with: {', '.join(HAND_PEERS)}",
    )
    parser.add_argument(
        "--hands", type=positive, default=5000, metavar="N", help="number of different hands (default: 5000)"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the hands (default: 0)")
    parser.add_argument("--seconds", type=seconds, default=HANDS_SECONDS, metavar="X", help=_SECONDS_HELP)
    parser.set_defaults(execute=execute_hands)


def _add_features(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser("features", parents=[options], help="measure encoded decisions per second")
    parser.add_argument("--peer", choices=("riichienv",), help="another engine's encoder to compare with")
    parser.add_argument(
        "--records", type=Path, metavar="DIR", help="take positions from these games (default: games that ukeire plays)"
    )
    parser.add_argument(
        "--decisions", type=positive, default=20_000, metavar="N", help="number of different decisions (default: 20000)"
    )
    parser.add_argument("--threads", type=parallel, default=1, metavar="N", help=_THREADS_HELP)
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the walls (default: 0)")
    parser.add_argument("--seconds", type=seconds, default=FEATURES_SECONDS, metavar="X", help=_SECONDS_HELP)
    parser.set_defaults(execute=execute_features)


def execute_features(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the encoder; ValueError for a peer that is not installed and for a folder without games."""
    if args.records is not None:
        check_records(args.records)
    from suphx_platform.bench.riichi.features import bench_features
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "replay", "samples")

    with steps(console) as begin:
        return bench_features(
            records=args.records,
            num_decisions=args.decisions,
            seed=args.seed,
            num_threads=args.threads,
            peer=args.peer,
            seconds=args.seconds,
            say=begin,
        )


def execute_hands(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure scoring and shanten; ValueError for a peer that is unknown or not installed."""
    from suphx_platform.bench.riichi.hands import bench_hands
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine")

    with steps(console) as begin:
        return bench_hands(num_hands=args.hands, seed=args.seed, peers=args.peer, seconds=args.seconds, say=begin)
