"""``suphx bench inference | training``: the speed of inference and training, and the share of the peak."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from suphx.models.computation import Compilation, Convolution, DeviceName, Precision
from suphx.models.nets.net_config import HEAD_NAMES, Normalization
from suphx.selfplay.config import Nets
from suphx.training.config import RewardName
from suphx.usable_cores import usable_cores
from suphx_cli.arguments.parsing import (
    ENCODERS,
    SIZES,
    UsageError,
    check_records,
    parallel,
    positive,
    seconds,
    seed,
    some_seconds,
    steps,
    tables,
    whole,
)

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.bench.riichi.net_case import NetCase
    from suphx_platform.console.console import Console

NETS = get_args(Nets)
REWARDS = get_args(RewardName)


def add_selfplay_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
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
        "--tables", type=tables, default=512, metavar="N", help="games per simulator, an even number (default: 512)"
    )
    parser.add_argument("--simulators", type=parallel, metavar="N", help="number of simulators (default: --threads)")
    parser.add_argument(
        "--engines",
        type=whole(0, 1024),
        metavar="N",
        help="number of inference engines; with --ray, 0 places one in each simulator "
        "(default: 1 on a GPU, 0 with --ray, otherwise --threads)",
    )
    parser.add_argument(
        "--threads", type=parallel, default=cores, metavar="N", help="CPU cores for the ideal throughput (default: all)"
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
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of games and nets (default: 0)")
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


def add_parsers(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the two sub-commands to those of ``bench``."""
    net = _net_options()
    inference = subjects.add_parser("inference", parents=[options, net], help="measure decisions of a net per second")
    inference.set_defaults(execute=execute_inference)
    training = subjects.add_parser(
        "training", parents=[options, net], help="measure training samples of a net per second"
    )
    training.set_defaults(execute=execute_training)


def _net_options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--device",
        choices=get_args(DeviceName),
        default="auto",
        help="device of the net (default: auto, which is cuda if available)",
    )
    parser.add_argument("--size", choices=SIZES, default="paper", help="size of the net (default: paper)")
    parser.add_argument(
        "--batch",
        type=positive,
        nargs="+",
        default=[],
        metavar="N",
        help="batch sizes to compare (default: depends on the device)",
    )
    parser.add_argument(
        "--seconds", type=seconds, default=5.0, metavar="T", help="time per batch size, after a warm-up (default: 5)"
    )
    parser.add_argument("--head", choices=HEAD_NAMES, default="discard", help="which net (default: discard)")
    parser.add_argument("--encoder", choices=ENCODERS, default="suphx", help="encoder of the planes (default: suphx)")
    parser.add_argument(
        "--records", type=Path, metavar="DIR", help="take positions from these games (default: games that ukeire plays)"
    )
    parser.add_argument(
        "--normalization",
        choices=get_args(Normalization),
        default="batch",
        help="normalization of the net (default: batch)",
    )
    parser.add_argument(
        "--precision",
        choices=get_args(Precision),
        default="auto",
        help="number format (default: auto, which is bf16 if the hardware supports it)",
    )
    parser.add_argument(
        "--convolution",
        choices=get_args(Convolution),
        default="channels_last",
        help="how convolutions are computed (default: channels_last)",
    )
    parser.add_argument(
        "--compile",
        choices=get_args(Compilation),
        default="auto",
        help="mode of torch.compile (default: auto, which is default on a GPU and none on a CPU)",
    )
    parser.add_argument("--threads", type=parallel, default=1, metavar="N", help="CPU threads of torch (default: 1)")
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the positions (default: 0)")
    return parser


def execute_inference(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure inference; ValueError for cuda where there is none and for an unknown encoder."""
    case = _case(args)
    from suphx_platform.bench.riichi.inference import bench_inference
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "encoder", "nets", "net games")

    with steps(console) as begin:
        return bench_inference(case, args.batch, say=begin)


def execute_training(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure training; ValueError for cuda where there is none and for an unknown encoder."""
    case = _case(args)
    from suphx_platform.bench.riichi.training import bench_training
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "encoder", "nets", "samples")

    with steps(console) as begin:
        return bench_training(case, args.batch, say=begin)


def _case(args: argparse.Namespace) -> NetCase:
    if args.records is not None:
        check_records(args.records)
    from suphx_platform.bench.riichi.net_case import NetCase

    return NetCase(
        device=args.device,
        size=args.size,
        head=args.head,
        encoder=args.encoder,
        normalization=args.normalization,
        precision=args.precision,
        convolution=args.convolution,
        compilation=args.compile,
        threads=args.threads,
        seconds=args.seconds,
        records=args.records,
        seed=args.seed,
    )
