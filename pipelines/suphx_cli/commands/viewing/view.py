"""``suphx view``: one game record as a page in the browser, with an agent's choices beside those of the players."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx.file_tree import files_below
from suphx.games.registry import candidate_games, game_of_records
from suphx.printable_text import printable
from suphx_cli.arguments.parsing import (
    add_runs,
    check_no_source,
    check_output_file,
    check_output_folder,
    examples,
    open_page,
)
from suphx_cli.commands.viewing.record_agent import add_cost, check_record
from suphx_cli.commands.viewing.riichi_view import riichi_page
from suphx_platform.agents.agent_forms import AGENT_HELP

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console

_PAGES = (".html", ".htm")


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``view``."""
    parser = commands.add_parser(
        "view",
        parents=[options],
        help="show a game record in the browser",
        description="Write one HTML page that shows a game step by step, and open it in the browser. The page needs no "
        f"network. With --agent it also shows what the agent would do at each decision. {AGENT_HELP} "
        "Not adapt: and mjai:, which must follow whole games. Records of doudizhu are recognized by their content; "
        "AGENT is then random, rule, a folder of nets such as runs/RUN/learning, or an address s3://… or models:/….",
        epilog=examples(
            "suphx view game.mjlog",
            "suphx view records/games.tsv.xz --game 12 --agent runs/RUN/supervised",
            "suphx view game.mjai --player Anna --out anna.html --no-browser",
            "suphx view games/games.jsonl --game 3 --agent runs/RUN/learning",
        ),
    )
    parser.add_argument("record", type=Path, metavar="RECORD", help="a record file, an archive or a folder of records")
    parser.add_argument(
        "--game",
        default="",
        metavar="ID",
        help="id of the game in RECORD, or its number from 1 on (default: the first game; of doudizhu, the first 20)",
    )
    parser.add_argument(
        "--agent",
        metavar="AGENT",
        help="agent whose choices are compared with those of the players; not mjai: or adapt:",
    )
    parser.add_argument(
        "--player",
        metavar="NAME",
        help="player at the bottom of the table: a name, or a seat from 1 on (default: the first dealer; of doudizhu, "
        "the landlord)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the page to write (default: the game's id and .html)")
    parser.add_argument("--no-browser", action="store_true", help="write the page and do not open it")
    add_cost(parser)
    add_runs(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Write the page; ValueError for a missing record, an unknown agent or player, or a record against the rules.

    Also for a place where the page cannot be written, before the agent is loaded and asked.
    """
    check_record(args.record)
    if args.out is None:
        check_output_folder(Path())
    else:
        check_output_file(args.out)
        beside = files_below(args.record) if args.record.is_dir() else [args.record]
        check_no_source(args.out, [file for file in beside if file.suffix.lower() not in _PAGES])
    game = game_of_records(args.record)
    if game in candidate_games():
        with console.activity("importing"):
            from suphx_cli.commands.viewing.side_view import side_page
        title, values, seat = side_page(args, console, game)
    else:
        title, values, seat = riichi_page(args, console)
    path = _write(args, console, title, values, seat)
    return {"game": printable(title), "deals": len(values["deals"]), **_agreement(args, values), "page": str(path)}


def _write(args: argparse.Namespace, console: Console, title: str, values: dict[str, Any], seat: int) -> Path:
    """Write the page, open it in the browser and return its file."""
    from suphx.atomic_file import write_atomically
    from suphx_pipelines.viewer.viewer_page import viewer_page

    name = re.sub(r"[^\w.-]+", "-", title).lstrip("-.") or "game"  # neither an option nor hidden
    path: Path = args.out or Path(f"{name}.html")
    with console.activity("writing the page"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, [viewer_page(values, title=title, seat=seat).encode()])
    if not args.no_browser and not console.is_json and sys.stderr.isatty():
        _open(path, console)
    return path


def _agreement(args: argparse.Namespace, values: dict[str, Any]) -> dict[str, object]:
    """Return how often the agent agrees; None for both without an agent."""
    if args.agent is None:
        return {"decisions": None, "agreement": None}
    decisions, differences = values["num_decisions"], values["num_differences"]
    return {"decisions": decisions, "agreement": 1 - differences / decisions if decisions else None}


def _open(path: Path, console: Console) -> None:
    """Open the page in the browser of whoever has typed the command."""
    if not open_page(path.resolve().as_uri()):
        console.say(f"No browser with windows was found: open {path} yourself.")
