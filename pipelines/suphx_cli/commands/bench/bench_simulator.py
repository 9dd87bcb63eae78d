"""``suphx bench simulator``: random games per second of the rules of a game, beside other implementations."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from suphx.games.registry import DEFAULT_GAME, GAMES, find_game
from suphx.selfplay.agents.choice import SCRIPTED_AGENTS
from suphx_cli.arguments.parsing import (
    UsageError,
    examples,
    parallel,
    peer_names,
    positive,
    seconds,
    seed,
    steps,
    tables,
)

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

PEERS = ("riichienv", "mahjax")
ENCODERS = ("mini", "suphx", "suphx-plain")
SECONDS = 1.0


def add_environments_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench environments``."""
    parser = subjects.add_parser(
        "environments", parents=[options], help="measure steps per second of the vector environment on one core"
    )
    parser.add_argument(
        "--peer",
        type=peer_names(PEERS),
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
        "--opponents", choices=SCRIPTED_AGENTS, default="random", help="agent at the other seats (default: random)"
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="seed of the walls (default: 0)")
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=SECONDS,
        metavar="X",
        help="minimum duration per environment in each of 3 rounds (default: %(default)s)",
    )
    parser.set_defaults(execute=execute_environments)


def execute_environments(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure the vector environment; ValueError for a peer that is not installed."""
    from suphx_platform.bench.riichi.environments import bench_environments
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


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
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
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=SECONDS,
        metavar="X",
        help="minimum duration per implementation in each of 3 rounds (default: %(default)s)",
    )
    riichi = parser.add_argument_group("options of riichi")
    riichi.add_argument("--threads", type=parallel, metavar="N", help="threads of Suphx's engine (default: 1)")
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
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
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
    from suphx_platform.bench.riichi.simulator import bench_simulator
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
