"""``suphx play``: a game against agents, in the browser or in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING

from suphx.games.registry import GAMES, find_side_game
from suphx_cli.arguments.parsing import (
    UsageError,
    add_runs,
    any_port,
    check_output_folder,
    check_port,
    check_source_of_runs,
    examples,
    open_page,
    seed,
)
from suphx_cli.commands.monte_carlo import side_play
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_pipelines.riichi_play.play_page import PlayConfig
    from suphx_pipelines.riichi_play.seated_agents import AgentLoader
    from suphx_platform.console.console import Console

_AGENT = "ukeire"
_RECORDS = Path("games")
_RIICHI_OPTIONS = ("length", "new", "port", "no_browser", "language")


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``play``."""
    parser = commands.add_parser(
        "play",
        parents=[options],
        help="play against agents, in the browser or the terminal",
        description="Play riichi mahjong against three agents. The command starts a server on 127.0.0.1, opens its "
        "page in the browser, and serves it until Ctrl-C. Each browser window has its own table. The records of "
        "finished games are saved, and unfinished games resume at the next start with the same agent, seat "
        f"and length. {AGENT_HELP} A game of two sides, such as doudizhu, is played in the terminal, deal after deal, "
        "against random, rule, a folder of nets such as runs/RUN/learning, or an address s3://… or models:/….",
        epilog=examples(
            "suphx play",
            "suphx play --agent runs/RUN/supervised --length tonpuu",
            "suphx play --seat 3 --seed 7 --no-browser",
            "suphx play --terminal",
            "suphx play --game doudizhu",
            "suphx play --game doudizhu --bidding",
            "suphx play --agent runs/RUN/learning --seat 2",
        ),
    )
    _add_game(parser)
    _add_page(parser)
    add_runs(parser)
    parser.set_defaults(execute=execute, riichi_options={name: parser.get_default(name) for name in _RIICHI_OPTIONS})


def _add_game(parser: argparse.ArgumentParser) -> None:
    """Add who plays what."""
    parser.add_argument(
        "--agent",
        metavar="AGENT",
        help=f"agent at all other seats (default: {_AGENT}; the strongest scripted agent of another game)",
    )
    parser.add_argument(
        "--game",
        choices=GAMES,
        help="the game (default: that of the nets in the agent's folder or of the model with its name, else riichi)",
    )
    parser.add_argument(
        "--length",
        choices=("hanchan", "tonpuu"),
        default="hanchan",
        help="riichi: hanchan, East and South (default), or tonpuu, East only",
    )
    parser.add_argument(
        "--seat",
        type=int,
        choices=(1, 2, 3, 4),
        default=1,
        help="your seat; 1 is the first dealer, or the landlord; with --bidding 1 bids first (default: 1)",
    )
    parser.add_argument(
        "--bidding",
        action="store_true",
        help="doudizhu: bid before each deal; the highest bidder is the landlord, and the bid is the stake",
    )
    parser.add_argument("--name", default="Player", metavar="NAME", help="your name (default: Player)")
    parser.add_argument(
        "--seed",
        type=seed,
        metavar="S",
        help="seed of the walls, to play the same walls again (default: random)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"folder of the game records (default: {_RECORDS}; for doudizhu {_RECORDS}/doudizhu)",
    )
    parser.add_argument(
        "--new", action="store_true", help="riichi: begin a new game even if one of these settings is not finished"
    )


def _add_page(parser: argparse.ArgumentParser) -> None:
    """Add how the game is shown."""
    parser.add_argument("--terminal", action="store_true", help="play one game in the terminal, without a browser")
    parser.add_argument(
        "--port",
        type=any_port,
        default=0,
        metavar="N",
        help="riichi: port on 127.0.0.1; 0 is any free port (default: 0)",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="riichi: print the link of the page and do not open it"
    )
    parser.add_argument(
        "--language",
        choices=("en", "de", "ja"),
        help="riichi: language of tiles, moves and results (default: that of the browser; in the terminal English)",
    )


def execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Play until the game is over (terminal) or until Ctrl-C.

    ValueError for an unknown agent, a port in use, or a folder of records that cannot be written; UsageError for
    options that are wrong or belong to another game.
    """
    if not args.name.isprintable() or not args.name.strip():
        raise UsageError(f"--name is {args.name!r}: use a name without control characters")
    side_game = find_side_game(args.game, [] if args.agent is None else [args.agent])
    if args.out is None:
        args.out = _RECORDS if side_game is None else _RECORDS / side_game
    if side_game is not None:
        return side_play.execute(args, console, side_game)
    if args.bidding:
        raise UsageError("--bidding has no meaning for riichi: leave it out, or use --game doudizhu")
    args.agent = _AGENT if args.agent is None else args.agent
    check_agent(args.agent)
    check_source_of_runs(args.runs)
    check_output_folder(args.out)
    check_port(args.port)
    with console.activity("importing"):
        from suphx_pipelines.riichi_play.play_page import PlayConfig
        from suphx_platform.kernels.kernel_warmup import compile_kernels

    config = PlayConfig(
        agent=args.agent,
        name=args.name,
        seed=args.seed,
        seat=args.seat - 1,
        length=args.length,
        out=args.out,
        continues=not args.new,
    )
    with _agents(args, console) as loader:
        compile_kernels(console, "engine", "replay", "encoder", "scripted games", "net games")
        if args.terminal:
            from suphx_pipelines.riichi_play.terminal_game import play_in_terminal

            return play_in_terminal(config, loader, args.language or "en")
        _serve(args, config, loader, console)
    return None


@contextmanager
def _agents(args: argparse.Namespace, console: Console) -> Iterator[AgentLoader]:
    """Yield what gives each table its agents; nets that are elsewhere are copied here first."""
    from suphx_pipelines.riichi_play.seated_agents import AgentLoader
    from suphx_platform.agents.agent_loading import load_any_agent
    from suphx_platform.agents.agent_source import AgentSource
    from suphx_platform.tracking.mlflow_store import MlflowStore

    with TemporaryDirectory(prefix="suphx-agent-") as space:
        with console.activity("loading the agent"):
            address = AgentSource(MlflowStore(args.runs)).fetch(args.agent, Path(space) / "agent")
            loader = AgentLoader(args.agent, lambda _: load_any_agent(address))
        yield loader


def _serve(args: argparse.Namespace, config: PlayConfig, loader: AgentLoader, console: Console) -> None:
    """Serve the page until Ctrl-C."""
    from suphx_pipelines.riichi_play.play_app import PlayApp
    from suphx_pipelines.riichi_play.play_table import PlayTables
    from suphx_platform.local_web import LocalServer

    app = PlayApp(PlayTables(config, loader), args.language).asgi()
    with LocalServer(app, port=args.port) as server:
        console.result({"url": server.link()})
        console.say("The link contains a secret: do not share it. Press Ctrl-C to stop.")
        if not args.no_browser and not console.is_json and sys.stderr.isatty():
            # in a thread: some browsers run until they are closed, and the page needs the server before
            Thread(target=_open, args=(server.link(), console), daemon=True).start()
        server.serve()


def _open(link: str, console: Console) -> None:
    """Open the page in the browser of whoever has typed the command."""
    if not open_page(link):
        console.say("No browser with windows was found: open the link yourself.")
