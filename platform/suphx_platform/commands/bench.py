"""``suphx bench``: how fast rules and encoder are here; the other subjects have files of their own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.commands import bench_adapt, bench_net, bench_selfplay
from suphx_platform.commands.parsing import positive, seconds

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console

SIMULATOR_SECONDS = 1.0
HANDS_SECONDS = 0.5
_SECONDS_HELP = "an engine's share of each of 3 rounds, at least (default: %(default)s)"


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench`` with its sub-commands."""
    parser = commands.add_parser("bench", help="measure speed on this machine, beside other engines")
    subjects = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    simulator = subjects.add_parser("simulator", parents=[options], help="random hanchans a second; time to begin")
    simulator.add_argument("--peer", choices=("riichienv",), help="another engine to compare with")
    simulator.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of ours (default: 1)")
    simulator.add_argument("--hanchans", type=positive, default=300, metavar="N", help="at a time (default: 300)")
    simulator.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the walls (default: 0)")
    simulator.add_argument("--seconds", type=seconds, default=SIMULATOR_SECONDS, metavar="X", help=_SECONDS_HELP)
    simulator.add_argument("--skip-start", action="store_true", help="do not measure cold and warm start (minutes)")
    simulator.set_defaults(execute=execute_simulator)

    hands = subjects.add_parser("hands", parents=[options], help="wins scored and shanten counted a second")
    hands.add_argument("--peer", type=_names, default=[], metavar="NAME,NAME", help="of mahjong, riichienv")
    hands.add_argument("--hands", type=positive, default=5000, metavar="N", help="different hands (default: 5000)")
    hands.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the hands (default: 0)")
    hands.add_argument("--seconds", type=seconds, default=HANDS_SECONDS, metavar="X", help=_SECONDS_HELP)
    hands.set_defaults(execute=execute_hands)
    bench_net.add_parsers(subjects, options)
    bench_selfplay.add_parser(subjects, options)
    bench_adapt.add_parser(subjects, options)

    features = subjects.add_parser("features", parents=[options], help="decisions encoded a second")
    features.add_argument("--peer", choices=("riichienv",), help="another engine's encoder to compare with")
    features.add_argument("--records", type=Path, metavar="DIR", help="positions of these games, not of ukeire's own")
    features.add_argument("--decisions", type=positive, default=20_000, metavar="N", help="different ones (20000)")
    features.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of ours (default: 1)")
    features.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the walls (default: 0)")
    features.add_argument("--seconds", type=seconds, default=SIMULATOR_SECONDS, metavar="X", help=_SECONDS_HELP)
    features.set_defaults(execute=execute_features)


def execute_features(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the encoder; ValueError for a peer that is not installed and for a folder without games."""
    from suphx_platform.bench.features import bench_features

    return bench_features(
        records=args.records,
        num_decisions=args.decisions,
        seed=args.seed,
        num_threads=args.threads,
        peer=args.peer,
        seconds=args.seconds,
        say=console.say,
    )


def execute_simulator(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the simulator; ValueError for a peer that is not installed."""
    from suphx_platform.bench.simulator import bench_simulator

    return bench_simulator(
        num_hanchans=args.hanchans,
        seed=args.seed,
        num_threads=args.threads,
        peer=args.peer,
        seconds=args.seconds,
        skips_start=args.skip_start,
        say=console.say,
    )


def execute_hands(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure scoring and shanten; ValueError for a peer that is unknown or not installed."""
    from suphx_platform.bench.hands import bench_hands

    return bench_hands(num_hands=args.hands, seed=args.seed, peers=args.peer, seconds=args.seconds, say=console.say)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
