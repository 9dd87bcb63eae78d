"""``suphx bench``: rules, hands, features, environments, storage (bench_nets.py has the rest); ``suphx warmup``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.games.registry import DEFAULT_GAME, GAMES, agent_names, find_game
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
    steps,
    tables,
)
from suphx_cli.commands import bench_nets

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console
    from suphx_platform.kernels.kernel_warmup import CompileTimes


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
    _add_environments(subjects, options)
    bench_nets.add_parsers(subjects, options)
    _add_storage(subjects, options)
    _add_warmup(commands, options)


def _add_seconds(parser: argparse.ArgumentParser, what: str, default: float = 1.0) -> None:
    """Add ``--seconds X``; ``what``: each of those that take turns."""
    text = f"minimum duration per {what} in each of 3 rounds (default: {default:g})"
    parser.add_argument("--seconds", type=seconds, default=default, metavar="X", help=text)


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
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the hands (default: 0)")
    _add_seconds(parser, "engine", default=0.5)
    parser.set_defaults(execute=execute_hands)


def _add_features(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    parser = subjects.add_parser("features", parents=[options], help="measure encoded decisions per second")
    parser.add_argument("--peer", choices=("riichienv",), help="another engine's encoder to compare with")
    parser.add_argument(
        "--records", type=Path, metavar="DIR", help="take positions from these games (default: games that ukeire plays)"
    )
    parser.add_argument(
        "--decisions", type=positive, default=20_000, metavar="N", help="number of different decisions (default: 20000)"
    )
    parser.add_argument("--threads", type=parallel, default=1, metavar="N", help=_THREADS_HELP)
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the walls (default: 0)")
    _add_seconds(parser, "engine")
    parser.set_defaults(execute=execute_features)


def execute_features(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the encoder; ValueError for a peer that is not installed and for a folder without games."""
    if args.records is not None:
        check_records(args.records)
    from suphx_platform.bench.features import bench_features
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "replay", "samples")

    with steps(console) as begin:
        return bench_features(
            records=args.records,
            num_decisions=args.decisions,
            seed=args.seed,
            num_threads=args.threads,
            peer=args.peer,
            seconds=args.seconds,
            say=begin,
        )


def execute_hands(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure scoring and shanten; ValueError for a peer that is unknown or not installed."""
    from suphx_platform.bench.hands import bench_hands
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine")

    with steps(console) as begin:
        return bench_hands(num_hands=args.hands, seed=args.seed, peers=args.peer, seconds=args.seconds, say=begin)


ENVIRONMENT_PEERS = ("riichienv", "mahjax")


def _add_environments(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench environments``."""
    parser = subjects.add_parser(
        "environments", parents=[options], help="measure steps per second of the vector environment on one core"
    )
    parser.add_argument(
        "--peer",
        type=peer_names(ENVIRONMENT_PEERS),
        default=[],
        metavar="NAMES",
        help="other environments to compare with, separated by commas: riichienv, mahjax",
    )
    parser.add_argument(
        "--mahjax-python",
        metavar="FILE",
        help="the Python of an environment with mahjax, which compiles for minutes first (default: this one)",
    )
    parser.add_argument("--tables", type=tables, default=512, metavar="N", help="tables per call (default: 512)")
    parser.add_argument(
        "--steps", type=positive, default=20, metavar="N", help="steps of all tables per measured call (default: 20)"
    )
    parser.add_argument("--encoder", choices=ENCODERS, default="mini", help="planes (default: mini)")
    parser.add_argument(
        "--opponents", choices=agent_names(), default="random", help="agent at the other seats (default: random)"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the walls (default: 0)")
    _add_seconds(parser, "environment")
    parser.set_defaults(execute=execute_environments)


def execute_environments(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the vector environment; ValueError for a peer that is not installed."""
    from suphx_platform.bench.environments import bench_environments
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console, "engine", "encoder", "scripted games", "environments")

    with steps(console) as begin:
        return bench_environments(
            num_tables=args.tables,
            num_steps=args.steps,
            encoder=args.encoder,
            opponents=args.opponents,
            seed=args.seed,
            peers=args.peer,
            mahjax_python=args.mahjax_python,
            seconds=args.seconds,
            say=begin,
        )


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
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of walls or decks (default: 0)")
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
    benches: dict[str, Callable[[argparse.Namespace, Console], dict[str, object]]] = {
        "riichi": _bench_riichi,
        "doudizhu": _bench_doudizhu,
    }
    return benches[args.game](args, console)


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


def _bench_riichi(args: argparse.Namespace, console: Console) -> dict[str, object]:
    from suphx_platform.bench.simulator import bench_simulator
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    if len(args.peer) > 1:
        raise UsageError(f"--peer names {len(args.peer)} engines: name one")
    compile_kernels(console, "engine", "random games")
    with steps(console) as begin:
        return bench_simulator(
            num_hanchans=args.hanchans or _HANCHANS,
            seed=args.seed,
            num_threads=args.threads or 1,
            peer=args.peer[0] if args.peer else None,
            seconds=args.seconds,
            skips_start=bool(args.skip_start),
            say=begin,
        )


def _bench_doudizhu(args: argparse.Namespace, console: Console) -> dict[str, object]:
    from suphx_platform.bench.doudizhu import bench_doudizhu

    num_tables = (args.tables or _TABLES) if args.nets else None
    with steps(console) as begin:
        return bench_doudizhu(num_tables=num_tables, seed=args.seed, peers=args.peer, seconds=args.seconds, say=begin)


def _add_storage(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench storage``."""
    parser = subjects.add_parser(
        "storage", parents=[options], help="measure how fast a training state is saved to a storage and loaded"
    )
    parser.add_argument(
        "--address", required=True, metavar="ADDRESS", help="s3://bucket/prefix or a folder; what is saved is removed"
    )
    parser.add_argument(
        "--endpoint-url", default="", metavar="URL", help="S3-compatible server (default: AWS_ENDPOINT_URL_S3)"
    )
    parser.add_argument("--peer", choices=("aws",), help="another program that copies the same files: aws s3 cp")
    parser.add_argument(
        "--size", choices=SIZES, default="paper", help="nets whose training state is saved (default: paper)"
    )
    parser.add_argument("--encoder", choices=ENCODERS, default="suphx", help="planes of the nets (default: suphx)")
    parser.add_argument("--threads", type=parallel, default=8, metavar="N", help="parts at once (default: 8)")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="saves and loads (default: 3)")
    parser.set_defaults(execute=execute_storage)


def execute_storage(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure; ValueError for a wrong address or a peer that is not there."""
    from suphx_platform.bench.storage import bench_storage
    from suphx_platform.storage.storage_config import StorageConfig

    config = StorageConfig(address=args.address, endpoint_url=args.endpoint_url, threads=args.threads)
    with steps(console) as begin:
        return bench_storage(
            config, size=args.size, encoder=args.encoder, rounds=args.rounds, peer=args.peer, say=begin
        )


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
