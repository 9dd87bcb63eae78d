"""``suphx bench selfplay``: how much of the machine self-play uses."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, get_args

from suphx.models.computation import DeviceName
from suphx.training.reward.reward_config import RewardName
from suphx.usable_cores import usable_cores
from suphx_cli.arguments.net_names import ENCODERS, SIZES
from suphx_cli.arguments.parsing import not_negative, positive, some_seconds
from suphx_cli.arguments.steps import steps
from suphx_cli.arguments.usage_error import UsageError
from suphx_platform.parts.reinforcement_config import Nets

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

NETS = get_args(Nets)
REWARDS = get_args(RewardName)


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the sub-command to those of ``bench``."""
    parser = subjects.add_parser(
        "selfplay", parents=[options], help="measure self-play end to end, and each part alone"
    )
    cores = usable_cores()
    parser.add_argument(
        "--net",
        choices=NETS,
        default="policy",
        help="null: run without nets, to measure the platform alone (default: policy)",
    )
    parser.add_argument("--size", choices=SIZES, default="tiny", help="size of the nets (default: tiny)")
    parser.add_argument("--encoder", choices=ENCODERS, default="suphx", help="encoder of the planes (default: suphx)")
    parser.add_argument(
        "--device",
        choices=get_args(DeviceName),
        default="auto",
        help="device of the nets (default: auto, which is cuda if available)",
    )
    parser.add_argument(
        "--tables", type=positive, default=512, metavar="N", help="games per simulator, an even number (default: 512)"
    )
    parser.add_argument("--simulators", type=positive, metavar="N", help="number of simulators (default: --threads)")
    parser.add_argument(
        "--engines",
        type=not_negative,
        metavar="N",
        help="number of inference engines; with --ray, 0 places one in each simulator "
        "(default: 1 on a GPU, 0 with --ray, otherwise --threads)",
    )
    parser.add_argument(
        "--threads", type=positive, default=cores, metavar="N", help="CPU cores for the ideal throughput (default: all)"
    )
    parser.add_argument(
        "--rollout-fragment-length",
        type=positive,
        default=16,
        metavar="N",
        help="decisions per game between two additions to the replay buffer (default: 16)",
    )
    parser.add_argument("--ray", action="store_true", help="run simulators and engines as processes (default: threads)")
    parser.add_argument("--reward", choices=REWARDS, default="round_score", help="the reward (default: round_score)")
    parser.add_argument(
        "--seconds", type=some_seconds, default=10.0, metavar="T", help="duration of each measurement (default: 10)"
    )
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of games and nets (default: 0)")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure self-play; ValueError for cuda where there is none, UsageError for options that do not fit."""
    if args.engines == 0 and not args.ray:
        raise UsageError("--engines 0 puts an engine into each Ray simulator: add --ray, or use --engines 1")
    if args.tables % 2:
        raise UsageError(f"--tables is {args.tables}: use an even number, as two halves of the games take turns")
    from suphx.models.device import find_device
    from suphx_platform.bench.riichi.selfplay.selfplay import bench_selfplay
    from suphx_platform.bench.riichi.selfplay.selfplay_alone import SelfplayCase
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    is_on_gpu = args.net != "null" and find_device(args.device).type == "cuda"
    compile_kernels(console, "engine", "encoder", "nets", "self-play")
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
        rollout_fragment_length=args.rollout_fragment_length,
        seconds=args.seconds,
        seed=args.seed,
        reward=args.reward,
    )
    with steps(console) as begin:
        return bench_selfplay(case, say=begin)


def _num_engines(args: argparse.Namespace, *, is_on_gpu: bool) -> int:
    if args.engines is not None:
        return int(args.engines)
    if is_on_gpu:
        return 1
    return 0 if args.ray else int(args.threads)
