"""``suphx bench``: how fast the rules are on this machine, beside other engines when asked; nets: bench_net.py."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_platform.commands import bench_net
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
