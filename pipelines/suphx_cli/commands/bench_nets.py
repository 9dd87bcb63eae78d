"""``suphx bench`` for what plays with nets: inference, training, self-play, matches, adaptation."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from suphx.evaluation.match_config import check_hanchans
from suphx.games.registry import decision_names
from suphx.models.net_config import Compilation, Convolution, DeviceName, Normalization, Precision
from suphx.selfplay.config import Nets
from suphx.training.config import RewardName
from suphx.usable_cores import usable_cores
from suphx_cli.arguments import (
    ENCODERS,
    SIZES,
    UsageError,
    add_workers,
    check_records,
    checked_options,
    parallel,
    positive,
    seconds,
    seed,
    some_seconds,
    steps,
    tables,
    whole,
)
from suphx_cli.commands import adapt
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent, check_net_agent

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.bench.nets import NetCase
    from suphx_platform.console.console import Console


def add_parsers(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the sub-commands of this module to those of ``bench``."""
    _add_nets(subjects, options)
    _add_selfplay(subjects, options)
    _add_adapt(subjects, options)
    _add_evaluation(subjects, options)
    _add_sequential(subjects, options)
    _add_matches(subjects, options)


def _add_selfplay(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser(
        "selfplay", parents=[options], help="measure self-play end to end, and each part alone"
    )
    cores = usable_cores()
    parser.add_argument(
        "--net",
        choices=get_args(Nets),
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
    parser.add_argument(
        "--reward", choices=get_args(RewardName), default="round_score", help="the reward (default: round_score)"
    )
    parser.add_argument(
        "--seconds", type=some_seconds, default=10.0, metavar="T", help="duration of each measurement (default: 10)"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of games and nets (default: 0)")
    parser.set_defaults(execute=execute_selfplay)


def execute_selfplay(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure self-play; ValueError for cuda where there is none, UsageError for options that do not fit."""
    if args.engines == 0 and not args.ray:
        raise UsageError("--engines 0 puts an engine into each Ray simulator: add --ray, or use --engines 1")
    if args.tables % 2:
        raise UsageError(f"--tables is {args.tables}: use an even number, as two halves of the games take turns")
    from suphx.models.device import find_device
    from suphx_platform.bench.selfplay import bench_selfplay
    from suphx_platform.bench.selfplay_alone import SelfplayCase
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


def _add_nets(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
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
    parser.add_argument("--head", choices=decision_names(), default="discard", help="which net (default: discard)")
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
    from suphx_platform.bench.nets import bench_inference
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "encoder", "nets", "net games")

    with steps(console) as begin:
        return bench_inference(case, args.batch, say=begin)


def execute_training(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure training; ValueError for cuda where there is none and for an unknown encoder."""
    case = _case(args)
    from suphx_platform.bench.nets import bench_training
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "encoder", "nets", "samples")

    with steps(console) as begin:
        return bench_training(case, args.batch, say=begin)


def _case(args: argparse.Namespace) -> NetCase:
    if args.records is not None:
        check_records(args.records)
    from suphx_platform.bench.nets import NetCase

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


_MIN_MATCHES = 2


def _add_sequential(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser(
        "sequential",
        parents=[options],
        help="simulate how many hanchans suphx evaluate --sequential takes, and how often it is wrong",
        description="Play a match between two agents of similar strength. From the results of its walls, simulate many "
        "matches between agents that are equal, that differ by DIFFERENCE and by twice as much, each until it is "
        f"decided. {AGENT_HELP}",
    )
    parser.add_argument("--candidate", required=True, metavar="AGENT", help="the agent at one seat")
    parser.add_argument("--opponent", required=True, metavar="AGENT", help="the agent at the three other seats")
    parser.add_argument(
        "--difference",
        type=float,
        nargs="+",
        default=[0.1, 0.05, 0.02],
        metavar="DIFFERENCE",
        help="differences to test, in places (default: 0.1 0.05 0.02)",
    )
    parser.add_argument(
        "--error",
        type=float,
        nargs="+",
        default=[0.05, 0.01],
        metavar="P",
        help="shares of wrong decisions of each kind, at most (default: 0.05 0.01)",
    )
    parser.add_argument(
        "--hanchans", type=positive, default=2000, metavar="N", help="games of the real match (default: 2000)"
    )
    parser.add_argument(
        "--matches", type=positive, default=2000, metavar="N", help="simulated matches of each kind (default: 2000)"
    )
    _add_walls(parser)
    parser.set_defaults(execute=execute_sequential)


def execute_sequential(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match and simulate; ValueError for an unknown agent, UsageError for a wrong number."""
    from suphx.evaluation.measures import SequentialConfig

    with checked_options():
        check_hanchans(args.hanchans)
        for difference in args.difference:
            for error in args.error:
                SequentialConfig(difference=difference, error=error)
    if args.matches < _MIN_MATCHES:
        raise UsageError(f"--matches is {args.matches}: use {_MIN_MATCHES} or more")
    for agent in (args.candidate, args.opponent):
        check_agent(agent)
    from suphx_platform.bench.matches import EFFECTS, bench_sequential, measure_walls
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    match = {"candidate": args.candidate, "opponent": args.opponent, "hanchans": args.hanchans, "seed": args.seed}
    with console.progress("hanchans", args.hanchans) as played:
        values = measure_walls(
            args.candidate,
            args.opponent,
            num_hanchans=args.hanchans,
            seed=args.seed,
            workers=args.workers,
            progress=played.advance,
        )
    num_tests = len(args.difference) * len(args.error) * len(EFFECTS)
    with console.progress("simulated matches", num_tests * args.matches) as simulated:
        return match | bench_sequential(
            values,
            differences=args.difference,
            errors=args.error,
            matches=args.matches,
            seed=args.seed,
            progress=simulated.advance,
        )


def _add_evaluation(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser(
        "evaluation",
        parents=[options],
        help="measure how many hanchans of a match shared walls and draw lanes save",
        description="Play each pair of agents three times on the same seeds: with a wall for each number of deals "
        "before it, as matches once had them, with walls by kyoku and honba, and also with draw lanes. The result is "
        "how many times fewer hanchans give the same standard error, with a 95 % interval.",
    )
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        metavar="AGENT",
        help="candidate and opponent of similar strength, such as two folders of checkpoints; may be repeated. Besides "
        "the names of agents: ukeire-no-calls and the other variants of ukeire in docs/evaluation.md (default: each of "
        "these variants against ukeire)",
    )
    parser.add_argument(
        "--hanchans", type=positive, default=1000, metavar="N", help="games of each match (default: 1000)"
    )
    _add_walls(parser)
    parser.set_defaults(execute=execute_evaluation)


def execute_evaluation(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the matches; ValueError for an unknown agent, UsageError for a wrong number of games."""
    with checked_options():
        check_hanchans(args.hanchans)
    with console.activity("importing"):
        from suphx_platform.bench.wall_sharing import CHANGED, NUM_SCHEMES, SCRIPTED_PAIRS, bench_evaluation
        from suphx_platform.kernels.kernel_warmup import compile_kernels

    pairs = [(candidate, opponent) for candidate, opponent in args.pair or SCRIPTED_PAIRS]
    for agent in {agent for pair in pairs for agent in pair} - CHANGED.keys():
        check_agent(agent)
    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    with console.progress("hanchans", NUM_SCHEMES * len(pairs) * args.hanchans) as progress:
        return bench_evaluation(
            pairs,
            num_hanchans=args.hanchans,
            seed=args.seed,
            workers=args.workers,
            progress=lambda hanchans, match: progress.advance(hanchans, match.replace(",", "")),
        )


def _add_adapt(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser("adapt", parents=[options], help="measure run-time adaptation, and each part alone")
    parser.add_argument("--agent", default="", metavar="AGENT", help="folder of checkpoints (default: untrained nets)")
    parser.add_argument("--size", choices=SIZES, default="tiny", help="size of untrained nets (default: tiny)")
    parser.add_argument(
        "--encoder", choices=ENCODERS, default="suphx", help="encoder of untrained nets (default: suphx)"
    )
    parser.add_argument(
        "--hands", type=positive, default=4, metavar="N", help="number of hands that are adapted together (default: 4)"
    )
    parser.add_argument(
        "--seconds", type=seconds, default=3.0, metavar="T", help="duration of self-play per round (default: 3)"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of hands and nets (default: 0)")
    adapt.add_config(parser)
    parser.set_defaults(execute=execute_adapt)


def execute_adapt(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure; ValueError for an agent without nets and for settings that are not valid."""
    config = adapt.config_of(args)
    if args.agent:
        check_net_agent(args.agent)
    from suphx_platform.bench.adapt import AdaptCase, bench_adapt
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console)

    case = AdaptCase(
        agent=args.agent,
        encoder=args.encoder,
        size=args.size,
        num_hands=args.hands,
        seconds=args.seconds,
        seed=args.seed,
        config=config,
    )
    with steps(console) as begin:
        return bench_adapt(case, say=begin)


_MIN_HANCHANS = 40
"""Fewer have no tenth."""


def _add_matches(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    match = subjects.add_parser(
        "match",
        parents=[options],
        help="measure decisions per second of a match of nets, beside self-play of the same nets",
    )
    match.add_argument(
        "--agent",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="folder of checkpoints, such as runs/RUN/supervised; it plays against itself",
    )
    match.add_argument("--hanchans", type=positive, default=4000, metavar="N", help="games (default: 4000)")
    match.add_argument(
        "--seconds", type=some_seconds, default=30.0, metavar="T", help="duration of self-play (default: 30)"
    )
    _add_walls(match)
    match.set_defaults(execute=execute_match)
    memory = subjects.add_parser(
        "match-memory",
        parents=[options],
        help="measure the memory of a long match after each tenth of its games",
        description=f"Play a match and measure the memory of its processes. {AGENT_HELP}",
    )
    for side in ("candidate", "opponent"):
        memory.add_argument(f"--{side}", default="ukeire", metavar="AGENT", help=f"the {side} (default: ukeire)")
    memory.add_argument("--hanchans", type=positive, default=100_000, metavar="N", help="games (default: 100000)")
    _add_walls(memory)
    memory.set_defaults(execute=execute_memory)


def _add_walls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the walls (default: 0)")
    add_workers(parser)


def execute_match(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the speed; ValueError for a folder without nets or a wrong number of games."""
    with checked_options():
        check_hanchans(args.hanchans)
    check_agent(str(args.agent))
    from suphx_platform.bench.matches import bench_match
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "nets", "scripted games", "net games", "self-play")
    with console.progress("hanchans", args.hanchans) as progress:
        return bench_match(
            args.agent,
            num_hanchans=args.hanchans,
            seconds=args.seconds,
            seed=args.seed,
            workers=args.workers,
            progress=progress.advance,
        )


def execute_memory(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the memory; ValueError for an unknown agent, UsageError for a wrong number of games."""
    with checked_options():
        check_hanchans(args.hanchans)
    if args.hanchans < _MIN_HANCHANS:
        raise UsageError(f"--hanchans is {args.hanchans}: use {_MIN_HANCHANS} or more, so that each tenth has games")
    for agent in (args.candidate, args.opponent):
        check_agent(agent)
    from suphx_platform.bench.matches import bench_match_memory
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    with console.progress("hanchans", args.hanchans) as progress:
        return bench_match_memory(
            args.candidate,
            args.opponent,
            num_hanchans=args.hanchans,
            seed=args.seed,
            workers=args.workers,
            progress=progress.advance,
        )
