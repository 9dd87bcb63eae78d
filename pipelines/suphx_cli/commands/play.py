"""``suphx play``: a game against agents, in the browser or in the terminal."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from secrets import randbelow
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING

from suphx.games.registry import GAMES, candidate_game, find_game, game_of_agents, has_candidates, load_game
from suphx_cli.arguments import (
    UsageError,
    add_command,
    any_port,
    check_output_folder,
    check_port,
    check_source_of_runs,
    given_options,
    local_agent,
    show_page,
)
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent

if TYPE_CHECKING:
    from suphx.games.game import Game
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_SCRIPTED = "ukeire"
_NETS = Path(__file__).resolve().parents[3] / "examples/agents/self_play"
"""The strongest agent of the repository, which packages do not have."""
_RECORDS = Path("games")
_TABLE_OPTIONS = ("length", "new", "port", "no_browser", "language")
"""Of games with a table of their own."""
_MAX_SEED = 2**61
"""Deals in the terminal have seeds below 2**62; those after the first one follow it."""


_PAGE = f"""
play: play against agents, in the browser or the terminal

Play riichi mahjong against three agents. The command starts a server on 127.0.0.1, opens its page in the browser, and
serves it until Ctrl-C. Each browser window has its own table. The records of finished games are saved, and unfinished
games resume at the next start with the same agent, seat and length. {AGENT_HELP} Other games, such as doudizhu and
dazhong, are played in the terminal, deal after deal, against a scripted agent of the game, a folder of nets such as
runs/RUN/learning, or an address s3://… or models:/….

--agent AGENT  agent at all other seats (default: the nets in examples/agents/self_play of the repository, {_SCRIPTED}
               without them or without torch; the strongest scripted agent of another game)
--game         the game (default: that of the agent's nets, or of a scripted agent that one game has, else riichi)
--length       riichi: hanchan, East and South (default), or tonpuu, East only
--seat         your seat; 1 is the first dealer, or the landlord; with --bidding 1 bids first (default: 1)
--bidding      doudizhu: bid before each deal; the highest bidder is the landlord, and the bid is the stake
--name NAME    your name (default: Player)
--seed S       seed of the walls, to play the same walls again (default: random)
--out DIR      folder of the game records (default: {_RECORDS}; of another game {_RECORDS}/GAME)
--new          riichi: begin a new game even if one of these settings is not finished
--terminal     play one game in the terminal, without a browser
--port N       riichi: port on 127.0.0.1; 0 is any free port (default: 0)
--no-browser   riichi: print the link of the page and do not open it
--language     riichi: language of tiles, moves and results (default: that of the browser; in the terminal English)
--runs

examples:
  suphx play
  suphx play --agent runs/RUN/supervised --length tonpuu
  suphx play --seat 3 --seed 7 --no-browser
  suphx play --terminal
  suphx play --game doudizhu
  suphx play --game doudizhu --bidding
  suphx play --agent runs/RUN/learning --seat 2
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``play``."""
    add_command(
        commands,
        options,
        _PAGE,
        execute,
        game={"choices": GAMES},
        length={"choices": ("hanchan", "tonpuu"), "default": "hanchan"},
        seat={"type": int, "choices": (1, 2, 3, 4), "default": 1},
        name="Player",
        port={"type": any_port, "default": 0},
        language={"choices": ("en", "de", "ja")},
    )


def execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Play until the person leaves, until the game is over (at a table in the terminal) or until Ctrl-C.

    ValueError for an unknown agent, a port in use, or a folder of records that cannot be written; UsageError for
    options that are wrong or belong to another game.
    """
    if not args.name.isprintable() or not args.name.strip():
        raise UsageError(f"--name is {args.name!r}: use a name without control characters")
    game = game_of_agents(args.game, [] if args.agent is None else [args.agent])
    from suphx_pipelines.viewer.viewer_page import VIEWS

    view = VIEWS.get(game)
    if view is None or not view.has_table:
        return _play_by_text(args, console, game)
    return _play_at_table(args, console, game)


def default_agent() -> str:
    """Return the strongest agent of riichi that is here."""
    return str(_NETS) if _NETS.is_dir() and find_spec("torch") is not None else _SCRIPTED


def _play_at_table(args: argparse.Namespace, console: Console, game: str) -> dict[str, object] | None:
    """Play at the game's own table."""
    if args.bidding:
        raise UsageError(f"--bidding has no meaning for {game}: omit it, or use --game doudizhu")
    args.agent = default_agent() if args.agent is None else args.agent
    args.out = _RECORDS if args.out is None else args.out
    check_agent(args.agent, game)
    check_source_of_runs(args.runs)
    check_output_folder(args.out)
    check_port(args.port)
    with console.activity("importing"):
        from suphx_pipelines.play.seated_game import PlayConfig
        from suphx_pipelines.play.server import play_at_table

    config = PlayConfig(
        agent=args.agent,
        name=args.name,
        seed=args.seed,
        seat=args.seat - 1,
        length=args.length,
        out=args.out,
        continues=not args.new,
    )

    def show(link: str) -> None:
        """Open the page in a thread: some browsers run until they are closed, and the page needs the server before."""
        if not args.no_browser:
            Thread(target=show_page, args=(link, console), daemon=True).start()

    return play_at_table(
        config,
        args.runs,
        console,
        port=args.port,
        language=args.language,
        in_terminal=args.terminal,
        show=show,
    )


def _play_by_text(args: argparse.Namespace, console: Console, game_name: str) -> dict[str, object]:
    """Play deals in the terminal until the person leaves."""
    title = find_game(game_name).title
    if args.bidding and not has_candidates(game_name):
        raise UsageError(f"--bidding has no meaning for {title}: omit it, or use --game doudizhu")
    for option in given_options(args, _TABLE_OPTIONS):
        raise UsageError(f"{option} has no meaning for {title}: omit it")
    if args.seed is not None and args.seed >= _MAX_SEED:
        raise UsageError(f"--seed is {args.seed}: use 0 to {_MAX_SEED - 1}")
    game: Game = load_game(game_name)
    if args.seat > len(game.seat_names):
        raise UsageError(
            f"--seat is {args.seat}: use 1 to {len(game.seat_names)} ({title} has {', '.join(game.seat_names)})"
        )
    folder = _RECORDS / game_name if args.out is None else args.out
    check_output_folder(folder)
    with console.activity("importing"):
        from suphx_pipelines.play.text_play import CandidateTextPlay, TextPlay, TextPlaySetup
        from suphx_platform.agents.agent_loading import common_rules, load_any_agent, load_side_agent
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.console.console import typed_line
        from suphx_platform.kernels.kernel_warmup import compile_kernels
        from suphx_platform.tracking.mlflow_store import MlflowStore
    if game.kernel_groups:
        compile_kernels(console, *game.kernel_groups)
    folder.mkdir(parents=True, exist_ok=True)
    stamp, suffix = datetime.now().strftime("%Y%m%d-%H%M%S"), game.record_suffix.removesuffix(".part")
    files = (folder / f"play-{game_name}-{stamp}-{number}{suffix}" for number in count(1))
    file = next(path for path in files if not path.exists())
    address = game.agents[-1] if args.agent is None else args.agent
    play: type[TextPlay] = TextPlay
    if has_candidates(game_name):
        own, play = candidate_game(game_name), CandidateTextPlay
        with console.activity("loading the agent"), TemporaryDirectory(prefix="suphx-agent-") as space:
            agent = load_side_agent(address, own, Path(space) / "agent", AgentSource(MlflowStore(args.runs)))
        player, rules = agent.player, own.with_auctions(common_rules(own, agent), has_auctions=args.bidding)
    else:
        check_agent(address, game_name)
        with console.activity("loading the agent"), local_agent(address, args.runs, game_name) as place:
            player, rules = load_any_agent(place, game_name), game.new_rules({})
    who = {"seat": args.seat - 1, "name": args.name, "records": file}
    setup = TextPlaySetup(game=game, rules=rules, player=player, agent=address, **who)
    result = play(setup, lambda line: print(line, file=sys.stderr), typed_line).play(
        randbelow(_MAX_SEED) if args.seed is None else args.seed
    )
    records = str(file) if result.deals else None
    if records:
        console.say(f"Records of the deals are in {records}: suphx view {records} shows them.")
    return {"game": game_name, "deals": result.deals, "won": result.won, "records": records}
