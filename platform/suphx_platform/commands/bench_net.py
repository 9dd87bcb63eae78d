"""``suphx bench inference | training``: how fast nets answer and learn on this machine, beside its peak."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.commands.parsing import positive, seconds

if TYPE_CHECKING:
    from suphx_platform.bench.net_case import NetCase
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console

# As the packages define them, which are not imported for --help; tests/suphx_platform/test_bench_net.py compares.
SIZES = ("tiny", "small", "medium", "paper")
HEADS = ("discard", "riichi", "chow", "pong", "kong")
FORMULATIONS = ("conv1d", "channels_last", "matmul")
COMPILATIONS = ("auto", "none", "default", "max-autotune")


def add_parsers(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the two sub-commands to those of ``bench``."""
    net = _net_options()
    inference = subjects.add_parser("inference", parents=[options, net], help="positions that a net answers a second")
    inference.set_defaults(execute=execute_inference)
    training = subjects.add_parser("training", parents=[options, net], help="samples that a net learns from a second")
    training.set_defaults(execute=execute_training)


def _net_options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: cuda if there is")
    parser.add_argument("--size", choices=SIZES, default="paper", help="of the net (default: paper)")
    parser.add_argument(
        "--batch", type=positive, nargs="+", default=[], metavar="N", help="rows of a batch, several to compare"
    )
    parser.add_argument(
        "--seconds", type=seconds, default=5.0, metavar="T", help="for each batch size, after warming up (default: 5)"
    )
    parser.add_argument("--head", choices=HEADS, default="discard", help="which net (default: discard)")
    parser.add_argument("--encoder", default="suphx", metavar="NAME", help="whose planes (default: suphx)")
    parser.add_argument("--records", type=Path, metavar="DIR", help="games to take positions of (default: plays some)")
    parser.add_argument("--normalization", choices=("batch", "none"), default="batch", help="default: batch")
    parser.add_argument("--precision", choices=("auto", "bf16", "fp32"), default="auto", help="default: auto")
    parser.add_argument("--formulation", choices=FORMULATIONS, default="channels_last", help="of the convolutions")
    parser.add_argument("--compile", choices=COMPILATIONS, default="auto", help="default: auto (on a GPU only)")
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="of a CPU (default: 1)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the positions (default: 0)")
    return parser


def execute_inference(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure inference; ValueError for cuda where there is none and for an unknown encoder."""
    from suphx_platform.bench.inference import bench_inference

    return bench_inference(_case(args), args.batch, say=console.say)


def execute_training(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure training; ValueError for cuda where there is none and for an unknown encoder."""
    from suphx_platform.bench.training import bench_training

    return bench_training(_case(args), args.batch, say=console.say)


def _case(args: argparse.Namespace) -> NetCase:
    from suphx_platform.bench.net_case import NetCase

    return NetCase(
        device=args.device,
        size=args.size,
        head=args.head,
        encoder=args.encoder,
        normalization=args.normalization,
        precision=args.precision,
        formulation=args.formulation,
        compilation=args.compile,
        threads=args.threads,
        seconds=args.seconds,
        records=args.records,
        seed=args.seed,
    )
