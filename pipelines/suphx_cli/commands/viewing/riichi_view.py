"""``suphx view`` for riichi: one game of a record on the page."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from suphx.printable_text import printable
from suphx_cli.commands.viewing.record_agent import check_cost, check_record_agent, cost_judge, loaded_agent

if TYPE_CHECKING:
    from suphx.games.riichi import GameLog
    from suphx.selfplay.agents.agent import Agent
    from suphx_platform.console.console import Console


def riichi_page(args: argparse.Namespace, console: Console) -> tuple[str, dict[str, Any], int]:
    """Return the title of the page, its game and the seat at the bottom; ValueError for what cannot be shown."""
    check_record_agent(args.record, args.agent, args.runs)
    check_cost(args)
    with console.activity("importing"):
        from suphx.games.riichi import find_record, viewer_game
        from suphx_platform.kernels.kernel_warmup import compile_kernels

    with console.activity("finding the game"):
        game = find_record(args.record, args.game)
    seat = _seat(game, args.player)
    agent = None if args.agent is None else loaded_agent(args.agent, args.runs, console)
    compile_kernels(console, "engine", "replay", *(("encoder", "scripted games", "net games") if args.agent else ()))
    return game.id, viewer_game(game) if agent is None else _compared(args, game, agent, console), seat


def _seat(game: GameLog, player: str | None) -> int:
    """Return the seat of a player; ValueError for an unknown one."""
    if player is None:
        return 0
    if player in game.names:
        return game.names.index(player)
    if player in ("1", "2", "3", "4"):
        return int(player) - 1
    raise ValueError(
        f"--player is {player!r}: use one of {', '.join(map(printable, game.names))}, or a seat from 1 to 4"
    )


def _compared(args: argparse.Namespace, game: GameLog, agent: Agent, console: Console) -> dict[str, Any]:
    """Return the game for the page, with what the agent would do at each decision."""
    from suphx.evaluation.review import review_game

    judge = cost_judge(args, agent)
    name = "asking the agent" if judge is None else "estimating what differences cost"
    with console.parts(name) as progress:
        reviewed = review_game(game, agent, judge=judge, progress=progress)
    return reviewed.values | {"agent": args.agent}
