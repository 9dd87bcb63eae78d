"""``suphx bench``: how fast this machine plays, encodes, infers and learns; ``suphx warmup`` compiles the kernels."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from suphx.games.registry import decision_names
from suphx.models.net_config import Compilation, DeviceName, Normalization, Precision
from suphx.selfplay.config import Nets
from suphx.training.config import RewardName
from suphx.usable_cores import usable_cores
from suphx_cli.arguments import (
    ENCODERS,
    SIZES,
    UsageError,
    check_records,
    examples,
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
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console


Measure = Callable[[Callable[[str], None]], dict[str, object]]
"""Measures, and gets a function that begins a step of the given name."""
_NUM_SLOWEST = 15


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench`` with its sub-commands, and ``warmup``."""
    parser = commands.add_parser(
        "bench",
        help="measure the speed of this machine",
        epilog=examples(
            "suphx bench simulator --threads 4",
            "suphx bench training --size small --batch 256 1024",
            "suphx bench selfplay --ray",
        ),
    )
    subjects = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_simulator(subjects, options)
    _add_hands(subjects, options)
    _add_features(subjects, options)
    _add_nets(subjects, options)
    _add_selfplay(subjects, options)
    warmup = commands.add_parser(
        "warmup",
        parents=[options],
        help="compile the rules engine in advance",
        description="Compile all kernels of the rules engine that are not in the cache, on all cores, and build its "
        "tables.",
    )
    warmup.add_argument("--profile", action="store_true", help=f"list the {_NUM_SLOWEST} kernels that took longest")
    warmup.set_defaults(execute=execute_warmup)


def _measured(console: Console, kernels: tuple[str, ...], measure: Measure) -> dict[str, object]:
    """Compile the groups of ``kernels`` before the clock starts, and measure step by step."""
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, *kernels)
    with steps(console) as begin:
        return measure(begin)


def _add_rounds(parser: argparse.ArgumentParser, seed_of: str) -> None:
    """Add ``--seed`` and ``--seconds`` of what takes turns in rounds."""
    _add_seed(parser, seed_of)
    text = "minimum duration per measured rate in each of 3 rounds (default: 1)"
    parser.add_argument("--seconds", type=seconds, default=1.0, metavar="X", help=text)


def _add_seed(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help=f"seed of {what} (default: 0)")


def _add_threads(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--threads", type=parallel, default=1, metavar="N", help=f"{text} (default: 1)")


def _add_records(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--records", type=Path, metavar="DIR", help="take positions from these games (default: games that ukeire plays)"
    )


def _add_net(parser: argparse.ArgumentParser, size: str) -> None:
    """Add the options of a net: device, size (by default ``size``) and encoder."""
    parser.add_argument(
        "--device",
        choices=get_args(DeviceName),
        default="auto",
        help="device of the nets (default: auto, which is cuda if available)",
    )
    parser.add_argument("--size", choices=SIZES, default=size, help=f"size of the nets (default: {size})")
    parser.add_argument("--encoder", choices=ENCODERS, default="suphx", help="encoder of the planes (default: suphx)")


def _add_simulator(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser(
        "simulator", parents=[options], help="measure random hanchans per second, and the start-up time"
    )
    parser.add_argument(
        "--hanchans", type=positive, default=300, metavar="N", help="games per measured call (default: 300)"
    )
    _add_threads(parser, "threads of the rules engine")
    parser.add_argument(
        "--skip-start", action="store_true", help="do not measure the start-up time, which takes minutes"
    )
    _add_rounds(parser, "the walls")
    parser.set_defaults(execute=execute_simulator)


def execute_simulator(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the rules engine."""
    from suphx_platform.bench.rules import bench_simulator

    def measure(begin: Callable[[str], None]) -> dict[str, object]:
        return bench_simulator(
            num_hanchans=args.hanchans,
            seed=args.seed,
            num_threads=args.threads,
            seconds=args.seconds,
            skips_start=args.skip_start,
            say=begin,
        )

    return _measured(console, ("engine", "random games"), measure)


def _add_hands(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser("hands", parents=[options], help="measure scored wins and computed shanten per second")
    parser.add_argument(
        "--hands", type=positive, default=5000, metavar="N", help="number of different hands (default: 5000)"
    )
    _add_rounds(parser, "the hands")
    parser.set_defaults(execute=execute_hands)


def execute_hands(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure scoring and shanten."""
    from suphx_platform.bench.rules import bench_hands

    def measure(begin: Callable[[str], None]) -> dict[str, object]:
        return bench_hands(num_hands=args.hands, seed=args.seed, seconds=args.seconds, say=begin)

    return _measured(console, ("engine",), measure)


def _add_features(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser("features", parents=[options], help="measure encoded decisions per second")
    _add_records(parser)
    parser.add_argument(
        "--decisions", type=positive, default=20_000, metavar="N", help="number of different decisions (default: 20000)"
    )
    _add_threads(parser, "threads of the encoder")
    _add_rounds(parser, "the walls")
    parser.set_defaults(execute=execute_features)


def execute_features(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the encoder; ValueError for a folder without games."""
    if args.records is not None:
        check_records(args.records)
    from suphx_platform.bench.rules import bench_features

    def measure(begin: Callable[[str], None]) -> dict[str, object]:
        return bench_features(
            records=args.records,
            num_decisions=args.decisions,
            seed=args.seed,
            num_threads=args.threads,
            seconds=args.seconds,
            say=begin,
        )

    return _measured(console, ("engine", "encoder", "scripted games", "replay", "samples"), measure)


def _add_nets(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    for name, text in (
        ("inference", "measure decisions of a net per second"),
        ("training", "measure training samples of a net per second"),
    ):
        parser = subjects.add_parser(name, parents=[options], help=text)
        _add_net_case(parser)
        parser.set_defaults(execute=execute_net, subject=name)


def _add_net_case(parser: argparse.ArgumentParser) -> None:
    """Add the fields of ``NetCase``."""
    _add_net(parser, size="paper")
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
    parser.add_argument("--head", choices=decision_names(), default="discard", help="which net (default: discard)")
    _add_records(parser)
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
        "--compile",
        choices=get_args(Compilation),
        default="auto",
        help="mode of torch.compile (default: auto, which is default on a GPU and none on a CPU)",
    )
    _add_threads(parser, "CPU threads of torch")
    _add_seed(parser, "the positions")


def execute_net(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure inference or training of a net; ValueError for cuda where there is none."""
    if args.records is not None:
        check_records(args.records)
    from suphx_platform.bench.nets import NetCase, bench_inference, bench_training

    case = NetCase(
        device=args.device,
        size=args.size,
        head=args.head,
        encoder=args.encoder,
        normalization=args.normalization,
        precision=args.precision,
        compilation=args.compile,
        threads=args.threads,
        seconds=args.seconds,
        records=args.records,
        seed=args.seed,
    )
    bench = bench_inference if args.subject == "inference" else bench_training
    kernels = ("encoder", "nets", "net games", "samples")
    return _measured(console, kernels, lambda begin: bench(case, args.batch, say=begin))


def _add_selfplay(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser(
        "selfplay", parents=[options], help="measure self-play end to end, and each part alone"
    )
    parser.add_argument(
        "--net",
        choices=get_args(Nets),
        default="policy",
        help="null: run without nets, to measure the platform alone (default: policy)",
    )
    _add_net(parser, size="tiny")
    parser.add_argument(
        "--tables", type=tables, default=512, metavar="N", help="games per simulator, an even number (default: 512)"
    )
    parser.add_argument("--ray", action="store_true", help="run simulators and engines as processes over Ray")
    parser.add_argument(
        "--simulators", type=parallel, metavar="N", help="with --ray: number of simulators (default: --threads)"
    )
    parser.add_argument(
        "--engines",
        type=whole(0, 1024),
        metavar="N",
        help="with --ray: number of inference engines; 0 places one in each simulator (default: 1 on a GPU, else 0)",
    )
    parser.add_argument(
        "--threads",
        type=parallel,
        metavar="N",
        help="CPU cores for the ideal throughput (default: all with --ray, else 2: the simulator's and the engine's)",
    )
    parser.add_argument(
        "--rollout-fragment-length",
        type=positive,
        default=16,
        metavar="N",
        help="decisions per game between two additions to the replay buffer (default: 16)",
    )
    parser.add_argument(
        "--reward", choices=get_args(RewardName), default="round_score", help="the reward (default: round_score)"
    )
    parser.add_argument(
        "--seconds", type=some_seconds, default=10.0, metavar="T", help="duration of each measurement (default: 10)"
    )
    _add_seed(parser, "games and nets")
    parser.set_defaults(execute=execute_selfplay)


def execute_selfplay(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure self-play; ValueError for cuda where there is none, UsageError for options that do not fit."""
    if not args.ray and (args.simulators, args.engines) != (None, None):
        raise UsageError("--simulators and --engines are numbers of Ray's processes: add --ray")
    if args.tables % 2:
        raise UsageError(f"--tables is {args.tables}: use an even number, as two halves of the games take turns")
    from suphx.models.device import find_device
    from suphx_platform.bench.selfplay import SelfplayCase, bench_selfplay, play_here

    is_on_gpu = args.net != "null" and find_device(args.device).type == "cuda"
    cores = args.threads or (usable_cores() if args.ray else min(2, usable_cores()))
    num_engines = args.engines
    if num_engines is None:
        num_engines = 1 if is_on_gpu or not args.ray else 0
    case = SelfplayCase(
        encoder=args.encoder,
        size=args.size,
        nets=args.net,
        num_tables=args.tables,
        num_simulators=(args.simulators or cores) if args.ray else 1,
        num_engines=num_engines,
        num_cores=cores,
        device="cuda" if is_on_gpu else "cpu",
        on_ray=args.ray,
        rollout_fragment_length=args.rollout_fragment_length,
        seconds=args.seconds,
        seed=args.seed,
        reward=args.reward,
    )
    play = play_here
    if args.ray:
        from suphx_platform.bench.selfplay_ray import play_over_ray as play  # imports Ray, which takes seconds
    kernels = ("engine", "encoder", "nets", "self-play")
    return _measured(console, kernels, lambda begin: bench_selfplay(case, play, say=begin))


def execute_warmup(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Compile all that is not in the cache yet; with ``--profile`` return the slowest kernels by their CPU seconds."""
    from suphx.cache_folder import cache_root, remove_unused
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    started, folder = time.perf_counter(), cache_root()
    console.say(f"compiling kernels into {folder}")
    times = compile_kernels(console)
    remove_unused(folder / "kernels")
    values: dict[str, object] = {
        "folder": str(folder),
        "seconds": round(time.perf_counter() - started, 3),
        "compiled": len(times.kernels),
        "cpu_seconds": round(sum(times.kernels.values()), 3),
        "groups": times.groups,
    }
    slowest = dict(sorted(times.kernels.items(), key=lambda item: -item[1])[:_NUM_SLOWEST])
    return values | ({"slowest": slowest} if args.profile else {})
