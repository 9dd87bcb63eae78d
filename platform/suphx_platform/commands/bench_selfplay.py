"""``suphx bench selfplay``: how much of the machine self-play makes use of."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from suphx_platform.commands.bench_net import SIZES
from suphx_platform.commands.parsing import not_negative, positive, seconds

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console

NETS = ("policy", "null")
REWARDS = ("round_score", "global_prediction")


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the sub-command to those of ``bench``."""
    parser = subjects.add_parser("selfplay", parents=[options], help="self-play end to end beside its parts alone")
    cores = os.cpu_count() or 1
    parser.add_argument("--net", choices=NETS, default="policy", help="null: none, for what the platform itself costs")
    parser.add_argument("--size", choices=SIZES, default="tiny", help="of the nets (default: tiny)")
    parser.add_argument("--encoder", default="suphx", metavar="NAME", help="whose planes (default: suphx)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: cuda if there is")
    parser.add_argument("--tables", type=positive, default=512, metavar="N", help="of a simulator (default: 512)")
    parser.add_argument("--simulators", type=positive, metavar="N", help="default: as many as --threads")
    parser.add_argument(
        "--engines",
        type=not_negative,
        metavar="N",
        help="0 (over Ray): each simulator has its own; default: 1 on a GPU, 0 over Ray, else as --threads",
    )
    parser.add_argument(
        "--threads", type=positive, default=cores, metavar="N", help="cores that the ideal has (default: all)"
    )
    parser.add_argument(
        "--steps",
        type=positive,
        default=16,
        metavar="N",
        help="decisions of a table between two additions to the buffer",
    )
    parser.add_argument("--ray", action="store_true", help="simulators and engines are processes (default: threads)")
    parser.add_argument("--reward", choices=REWARDS, default="round_score", help="what simulators pay")
    parser.add_argument("--seconds", type=seconds, default=10.0, metavar="T", help="of each measurement (default: 10)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of games and nets (default: 0)")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure self-play; ValueError for cuda where there is none and for an unknown encoder."""
    from suphx.models.device import find_device
    from suphx_platform.bench.selfplay import bench_selfplay
    from suphx_platform.bench.selfplay_alone import SelfplayCase

    if args.engines == 0 and not args.ray:
        raise ValueError("--engines 0 means that simulators over Ray have engines of their own: add --ray, or use 1")
    is_on_gpu = args.net != "null" and find_device(args.device).type == "cuda"
    case = SelfplayCase(
        encoder=args.encoder,
        size=args.size,
        nets=args.net,
        num_tables=args.tables,
        num_simulators=args.simulators or args.threads,
        num_engines=_num_engines(args, is_on_gpu=is_on_gpu),
        num_cores=args.threads,
        device="cuda" if is_on_gpu else "cpu",
        on_ray=args.ray,
        steps=args.steps,
        seconds=args.seconds,
        seed=args.seed,
        reward=args.reward,
    )
    return bench_selfplay(case, say=console.say)


def _num_engines(args: argparse.Namespace, *, is_on_gpu: bool) -> int:
    if args.engines is not None:
        return int(args.engines)
    if is_on_gpu:
        return 1
    return 0 if args.ray else int(args.threads)
