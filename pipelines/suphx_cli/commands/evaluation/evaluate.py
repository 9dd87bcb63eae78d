"""``suphx evaluate``: a match between two agents, of riichi or of a game of two sides."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from suphx.evaluation.match_config import MeasureName, SeatingChoice
from suphx.games.registry import GAMES, find_side_game
from suphx_cli.arguments import add_runs, add_workers, examples, positive, seed
from suphx_cli.commands.evaluation import riichi_evaluation
from suphx_cli.commands.monte_carlo import side_evaluation
from suphx_cli.commands.monte_carlo.side_evaluation import DECKS
from suphx_cli.commands.monte_carlo.side_sequential import FRESH_DECKS, SEQUENTIAL_DECKS
from suphx_platform.agents.agent_forms import AGENT_HELP

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_RIICHI_OPTIONS = ("hanchans", "deals", "decides", "points", "seating", "no_draw_lanes", "workers", "ray")


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``evaluate``."""
    parser = commands.add_parser(
        "evaluate",
        parents=[options],
        help="play a match between two agents and report who is stronger",
        description="Play a match of one candidate against three copies of another agent, the opponent. Every wall is "
        "played four times, with the candidate at each seat once, so that the luck of the draw counts less. In a game "
        "of two sides, such as doudizhu, every deck is played twice, with the sides swapped. The same command "
        f"continues a match that was stopped. {AGENT_HELP} "
        "For doudizhu: random, rule, a folder of nets such as runs/RUN/learning, an address s3://… or models:/…, or an "
        "external program as program:COMMAND LINE (docs/doudizhu.md).",
        epilog=examples(
            "suphx evaluate --candidate ukeire --opponent tsumogiri --hanchans 200",
            "suphx evaluate --candidate runs/RUN/supervised --opponent ukeire",
            "suphx evaluate --candidate models:/suphx@champion --opponent runs/RUN/supervised:weak",
            "suphx evaluate --candidate runs/RUN/reinforcement --opponent runs/RUN/reinforcement/start --deals 10000",
            "suphx evaluate --candidate runs/NEW/supervised --opponent runs/OLD/supervised --sequential 0.05 "
            "--hanchans 20000",
            "suphx evaluate --candidate ukeire --opponent tsumogiri --hanchans 8 --keep-games games",
            "suphx evaluate --candidate runs/RUN/supervised --opponent ukeire --hanchans 20000 --ray --workers 64",
            "suphx evaluate --game doudizhu --candidate runs/RUN/learning --opponent rule --decks 1000",
            "suphx evaluate --candidate runs/NEW/learning --opponent models:/doudizhu@champion --sequential 0.02",
            "suphx evaluate --game doudizhu --candidate rule --opponent random --decks 10 --keep-games games",
            "suphx evaluate --game doudizhu --candidate 'program:python bot.py' --opponent rule --decks 100",
        ),
    )
    parser.add_argument(
        "--candidate", required=True, metavar="AGENT", help="the agent to measure; it plays at one seat"
    )
    parser.add_argument(
        "--opponent",
        "--baseline",
        required=True,
        metavar="AGENT",
        help="the agent to compare with; it plays at the three other seats (--baseline is another name of this option)",
    )
    parser.add_argument(
        "--game",
        choices=GAMES,
        help="the game (default: that of the nets in a folder or in a model with the name of a game, else riichi)",
    )
    _add_length(parser)
    _add_sequential(parser)
    _add_games(parser)
    add_workers(parser)
    parser.add_argument(
        "--ray",
        action="store_true",
        help="play on a Ray cluster: that of RAY_ADDRESS, otherwise a new one on this machine. Each of the --workers "
        "takes one of its CPUs. Riichi only",
    )
    add_runs(parser)
    defaults = {name: parser.get_default(name) for name in _RIICHI_OPTIONS}
    parser.set_defaults(execute=execute, riichi_options=defaults)


def _add_length(parser: argparse.ArgumentParser) -> None:
    """Add how much is played."""
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--hanchans",
        type=positive,
        default=1000,
        metavar="N",
        help="number of games, a multiple of 4 and at least 8 (default: 1000); with --sequential the most games",
    )
    length.add_argument(
        "--deals",
        type=positive,
        metavar="N",
        help="compare about N single deals (at least 20) instead of whole games: each is played with the candidate and "
        "with the opponent in each seat. The result is in points per kyoku and shows a small difference much earlier. "
        "Not for adapt: and mjai: agents",
    )
    length.add_argument(
        "--decks",
        type=positive,
        metavar="N",
        help=f"number of decks of a game of two sides, at least 2; each is played twice (default: {DECKS}); with "
        f"--sequential the most decks (default: {SEQUENTIAL_DECKS:,})",
    )


def _add_games(parser: argparse.ArgumentParser) -> None:
    """Add how games are dealt, and where they are kept."""
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="S",
        help="seed of the walls or decks (default: 0; doudizhu: at most 65,536)",
    )
    parser.add_argument(
        "--no-draw-lanes",
        action="store_true",
        help="draw tiles in the order of the wall, as in ordinary games. By default each seat draws from its own "
        "positions of the wall, so that fewer games are needed",
    )
    parser.add_argument(
        "--keep-games",
        type=Path,
        metavar="FOLDER",
        help="write records of all games to this folder, which must be new or empty or of the same match before it was "
        "stopped, for suphx view (and, of riichi, suphx records); not with --deals, and in DouDizhu not with "
        "--sequential",
    )


def _add_sequential(parser: argparse.ArgumentParser) -> None:
    """Add what decides when a match ends, and what counts in it."""
    parser.add_argument(
        "--sequential",
        type=float,
        metavar="DIFFERENCE",
        help="stop as soon as it is decided whether the candidate is better by DIFFERENCE (such as 0.05 in average "
        "placement), or after --hanchans games. After a pass, 1,000 games on new walls measure how much better it is. "
        f"In a game of two sides: in the share of games won (such as 0.02), after --decks decks, and {FRESH_DECKS:,} "
        "new decks after a pass",
    )
    parser.add_argument(
        "--error",
        type=float,
        metavar="P",
        help="with --sequential: share of wrong decisions of each kind, at most (default: 0.01)",
    )
    parser.add_argument(
        "--decides",
        choices=get_args(MeasureName),
        help="with --sequential: unit of DIFFERENCE, average placement (the default) or points per hanchan; both are "
        "reported",
    )
    parser.add_argument(
        "--points",
        type=int,
        nargs=4,
        metavar="P",
        help="points for first to fourth place (default: 90 45 0 -135, Tenhou's phoenix room at 7 dan)",
    )
    parser.add_argument(
        "--seating",
        choices=get_args(SeatingChoice),
        default="1v3",
        help="number of candidates and of opponents at a table (default: 1v3). all: a match of --hanchans games in "
        "each of the three; with --sequential 1v3 decides, and after a pass each is played on new walls",
    )


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match; ValueError for an unknown agent."""
    side_game = find_side_game(args.game, (args.candidate, args.opponent))
    if side_game is not None:
        return side_evaluation.execute(args, console, side_game)
    return riichi_evaluation.execute(args, console)
