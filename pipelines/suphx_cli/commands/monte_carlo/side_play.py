"""``suphx play`` for a game of two sides: deals in the terminal, until the person leaves."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from itertools import count
from pathlib import Path
from secrets import randbelow
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from suphx.games.candidate_game import candidate_game
from suphx.games.registry import find_game
from suphx_cli.arguments.parsing import UsageError, check_output_folder

if TYPE_CHECKING:
    from suphx_platform.console.console import Console

_MAX_SEED = 2**61
"""Deals have seeds below 2**62; those after the first one follow it."""


def execute(args: argparse.Namespace, console: Console, game_name: str) -> dict[str, object]:
    """Play until the person leaves; ValueError for an unknown agent, UsageError for a wrong seat or option."""
    _check_options(args, game_name)
    check_output_folder(args.out)
    with console.activity("importing"):
        from suphx_pipelines.monte_carlo.terminal_deals import TerminalDeals, TerminalSetup
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.agents.side_agent import common_rules, load_side_agent
        from suphx_platform.console.console import typed_line
        from suphx_platform.tracking.mlflow_store import MlflowStore
    game = candidate_game(game_name)
    with console.activity("loading the agent"), TemporaryDirectory(prefix="suphx-agent-") as space:
        address = game.agents[-1] if args.agent is None else args.agent
        agent = load_side_agent(address, game, Path(space) / "agent", AgentSource(MlflowStore(args.runs)))
    args.out.mkdir(parents=True, exist_ok=True)
    setup = TerminalSetup(
        game=game,
        rules=game.with_auctions(common_rules(game, agent), has_auctions=args.bidding),
        player=agent.player,
        agent=agent.address,
        seat=args.seat - 1,
        name=args.name,
        records=_new_file(args.out, game_name),
    )
    seed = randbelow(_MAX_SEED) if args.seed is None else args.seed
    result = TerminalDeals(setup, lambda line: print(line, file=sys.stderr), typed_line).play(seed)
    records = str(setup.records) if result.deals else None
    if records:
        console.say(f"Records of the deals are in {records}: suphx view {records} shows them.")
    return {"game": game_name, "deals": result.deals, "won": result.won, "records": records}


def _check_options(args: argparse.Namespace, game_name: str) -> None:
    """Raise UsageError for a wrong seed or seat, and for options of other games."""
    title = find_game(game_name).title
    for name, default in args.riichi_options.items():
        if getattr(args, name) != default:
            raise UsageError(f"--{name.replace('_', '-')} has no meaning for {title}: leave it out")
    if args.seed is not None and args.seed >= _MAX_SEED:
        raise UsageError(f"--seed is {args.seed}: use 0 to {_MAX_SEED - 1}")
    seats = candidate_game(game_name).seat_names
    if args.seat > len(seats):
        raise UsageError(f"--seat is {args.seat}: use 1 to {len(seats)} ({title} has {', '.join(seats)})")


def _new_file(folder: Path, game_name: str) -> Path:
    """Return a file that does not exist yet."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    names = (folder / f"play-{game_name}-{stamp}-{number}.jsonl" for number in count(1))
    return next(path for path in names if not path.exists())
