"""``suphx bench inference | training``: the speed of inference and training, and the share of the peak."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from suphx.models.computation import Compilation, Convolution, DeviceName, Precision
from suphx.models.nets.net_config import HEAD_NAMES, Normalization
from suphx_cli.arguments.net_names import ENCODERS, SIZES
from suphx_cli.arguments.parsing import not_negative, positive, seconds
from suphx_cli.arguments.record_path import check_records
from suphx_cli.arguments.steps import steps

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.bench.riichi.net_case import NetCase
    from suphx_platform.console.console import Console


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
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="CPU threads of torch (default: 1)")
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of the positions (default: 0)")
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
