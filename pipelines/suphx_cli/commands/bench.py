"""``suphx bench``: how fast this machine plays, encodes, infers and learns; ``suphx warmup`` compiles the kernels."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from suphx.games.registry import DEFAULT_GAME, GAMES, decision_names, find_game
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
    peer_names,
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
    from suphx_platform.bench.nets import NetCase
    from suphx_platform.console.console import Console
    from suphx_platform.kernels.kernel_warmup import CompileTimes


Measure = Callable[[Callable[[str], None]], dict[str, object]]
"""Measures, and gets a function that begins a step of the given name."""
HAND_PEERS = ("mahjong", "riichienv")
_THREADS_HELP = "threads of Suphx's engine (default: 1)"


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench`` with its sub-commands, and ``warmup``."""
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
    _add_simulator(subjects, options)
    _add_hands(subjects, options)
    _add_features(subjects, options)
    _add_nets(subjects, options)
    _add_selfplay(subjects, options)
    _add_warmup(commands, options)


def _measured(console: Console, kernels: tuple[str, ...], measure: Measure) -> dict[str, object]:
    """Compile the groups of ``kernels`` before the clock starts, and measure step by step."""
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, *kernels)
    with steps(console) as begin:
        return measure(begin)


def _add_seconds(parser: argparse.ArgumentParser, what: str, default: float = 1.0) -> None:
    """Add ``--seconds X``; ``what``: each of those that take turns."""
    text = f"minimum duration per {what} in each of 3 rounds (default: {default:g})"
    parser.add_argument("--seconds", type=seconds, default=default, metavar="X", help=text)


def _add_seed(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help=f"seed of {what} (default: 0)")


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
    _add_seed(parser, "the hands")
    _add_seconds(parser, "engine", default=0.5)
    parser.set_defaults(execute=execute_hands)


def execute_hands(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure scoring and shanten; ValueError for a peer that is not installed."""
    from suphx_platform.bench.hands import bench_hands

    def measure(begin: Callable[[str], None]) -> dict[str, object]:
        return bench_hands(num_hands=args.hands, seed=args.seed, peers=args.peer, seconds=args.seconds, say=begin)

    return _measured(console, ("engine",), measure)


def _add_features(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser("features", parents=[options], help="measure encoded decisions per second")
    parser.add_argument("--peer", choices=("riichienv",), help="another engine's encoder to compare with")
    _add_records(parser)
    parser.add_argument(
        "--decisions", type=positive, default=20_000, metavar="N", help="number of different decisions (default: 20000)"
    )
    parser.add_argument("--threads", type=parallel, default=1, metavar="N", help=_THREADS_HELP)
    _add_seed(parser, "the walls")
    _add_seconds(parser, "engine")
    parser.set_defaults(execute=execute_features)


def execute_features(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the encoder; ValueError for a peer that is not installed and for a folder without games."""
    if args.records is not None:
        check_records(args.records)
    from suphx_platform.bench.features import bench_features

    def measure(begin: Callable[[str], None]) -> dict[str, object]:
        return bench_features(
            records=args.records,
            num_decisions=args.decisions,
            seed=args.seed,
            num_threads=args.threads,
            has_peer=args.peer is not None,
            seconds=args.seconds,
            say=begin,
        )

    return _measured(console, ("engine", "encoder", "scripted games", "replay", "samples"), measure)


_HANCHANS = 300
_TABLES = 256
_PEERS = [peer for entry in GAMES.values() for peer in entry.simulator_peers]
_OPTIONS = {"riichi": ("hanchans", "threads", "skip_start"), "doudizhu": ("nets", "tables")}
"""Game -> the options that only its benchmark has; None means that an option was not given."""


def _add_simulator(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench simulator``."""
    parser = subjects.add_parser(
        "simulator",
        parents=[options],
        help="measure random games per second, and the start-up time",
        epilog=examples(
            "suphx bench simulator --peer riichienv",
            "suphx bench simulator --game doudizhu --peer douzero,rlcard --nets",
        ),
    )
    parser.add_argument("--game", choices=GAMES, default=DEFAULT_GAME, help=f"the game (default: {DEFAULT_GAME})")
    by_game = "; ".join(f"{name}: {', '.join(entry.simulator_peers)}" for name, entry in GAMES.items())
    parser.add_argument(
        "--peer",
        type=peer_names(_PEERS),
        default=[],
        metavar="NAME,NAME",
        help=f"other implementations to compare with ({by_game}); riichi: one of them",
    )
    _add_seed(parser, "walls or decks")
    _add_seconds(parser, "implementation")
    riichi = parser.add_argument_group("options of riichi")
    riichi.add_argument("--threads", type=parallel, metavar="N", help=_THREADS_HELP)
    riichi.add_argument(
        "--hanchans", type=positive, metavar="N", help=f"games per measured call (default: {_HANCHANS})"
    )
    riichi.add_argument(
        "--skip-start",
        action="store_true",
        default=None,
        help="do not measure the start-up time, which takes minutes",
    )
    doudizhu = parser.add_argument_group("options of doudizhu")
    doudizhu.add_argument(
        "--nets", action="store_true", default=None, help="also measure games of nets against themselves"
    )
    doudizhu.add_argument(
        "--tables", type=tables, metavar="N", help=f"games of nets at a time, with --nets (default: {_TABLES})"
    )
    parser.set_defaults(execute=execute_simulator)


def execute_simulator(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure; ValueError for a peer that is not installed, UsageError for a peer or an option of another game."""
    _check(args)
    return _bench_riichi(args, console) if args.game == "riichi" else _bench_doudizhu(args, console)


def _check(args: argparse.Namespace) -> None:
    game = find_game(args.game)
    for peer in args.peer:
        if peer not in game.simulator_peers:
            raise UsageError(f"{peer} does not play {game.title}: use --peer {','.join(game.simulator_peers)}")
    foreign = [name for other, names in _OPTIONS.items() if other != args.game for name in names]
    for name in foreign:
        if getattr(args, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} has no meaning for {game.title}: leave it out")
    if args.tables is not None and not args.nets:
        raise UsageError("--tables is the number of games of nets: use it with --nets")
    if args.game == "riichi" and len(args.peer) > 1:
        raise UsageError(f"--peer names {len(args.peer)} engines: name one")


def _bench_riichi(args: argparse.Namespace, console: Console) -> dict[str, object]:
    from suphx_platform.bench.simulator import bench_simulator

    def measure(begin: Callable[[str], None]) -> dict[str, object]:
        return bench_simulator(
            num_hanchans=args.hanchans or _HANCHANS,
            seed=args.seed,
            num_threads=args.threads or 1,
            has_peer=bool(args.peer),
            seconds=args.seconds,
            skips_start=bool(args.skip_start),
            say=begin,
        )

    return _measured(console, ("engine", "random games"), measure)


def _bench_doudizhu(args: argparse.Namespace, console: Console) -> dict[str, object]:
    from suphx_platform.bench.doudizhu import bench_doudizhu

    num_tables = (args.tables or _TABLES) if args.nets else None
    with steps(console) as begin:
        return bench_doudizhu(num_tables=num_tables, seed=args.seed, peers=args.peer, seconds=args.seconds, say=begin)


def _add_nets(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    for name, text, execute in (
        ("inference", "measure decisions of a net per second", execute_inference),
        ("training", "measure training samples of a net per second", execute_training),
    ):
        parser = subjects.add_parser(name, parents=[options], help=text)
        _add_net_case(parser)
        parser.set_defaults(execute=execute)


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
    parser.add_argument("--threads", type=parallel, default=1, metavar="N", help="CPU threads of torch (default: 1)")
    _add_seed(parser, "the positions")


def execute_inference(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure inference; ValueError for cuda where there is none."""
    case = _case(args)
    from suphx_platform.bench.nets import bench_inference

    kernels = ("encoder", "nets", "net games")
    return _measured(console, kernels, lambda begin: bench_inference(case, args.batch, say=begin))


def execute_training(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure training; ValueError for cuda where there is none."""
    case = _case(args)
    from suphx_platform.bench.nets import bench_training

    kernels = ("encoder", "nets", "samples")
    return _measured(console, kernels, lambda begin: bench_training(case, args.batch, say=begin))


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
        compilation=args.compile,
        threads=args.threads,
        seconds=args.seconds,
        records=args.records,
        seed=args.seed,
    )


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
    _add_net(parser, size="tiny")
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
    _add_seed(parser, "games and nets")
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
        rollout_fragment_length=args.rollout_fragment_length,
        seconds=args.seconds,
        seed=args.seed,
        reward=args.reward,
    )
    kernels = ("engine", "encoder", "nets", "self-play")
    return _measured(console, kernels, lambda begin: bench_selfplay(case, say=begin))


def _num_engines(args: argparse.Namespace, *, is_on_gpu: bool) -> int:
    if args.engines is not None:
        return int(args.engines)
    if is_on_gpu:
        return 1
    return 0 if args.ray else int(args.threads)


_NUM_SLOWEST = 15


def _add_warmup(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``warmup``."""
    parser = commands.add_parser(
        "warmup",
        parents=[options],
        help="compile the rules engine in advance",
        description="Compile all kernels of the rules engine that are not in the cache, on all cores, and build its "
        "tables.",
    )
    parser.add_argument("--profile", action="store_true", help=f"list the {_NUM_SLOWEST} kernels that took longest")
    parser.set_defaults(execute=execute_warmup)


def execute_warmup(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Compile all that is not in the cache yet."""
    from suphx.cache_folder import cache_root, remove_unused
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    started = time.perf_counter()
    folder = cache_root()
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
    return values | ({"slowest": _slowest(times)} if args.profile else {})


def _slowest(times: CompileTimes) -> dict[str, float]:
    """Return CPU seconds by kernel, without those of the kernels that it calls, longest first."""
    return dict(sorted(times.kernels.items(), key=lambda item: -item[1])[:_NUM_SLOWEST])
