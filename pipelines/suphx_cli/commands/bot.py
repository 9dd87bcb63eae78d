"""``suphx bot``: an agent as a zip for arenas that run submitted bots."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx.games.registry import GAMES, game_of_agents
from suphx_cli.arguments import UsageError, add_command, check_source_of_runs, local_agent
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent, is_program

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_PAGE = f"""
bot: write an agent as a zip for an arena that runs submitted bots

Write a zip that an arena runs as a player: for riichi a program that speaks mjai, with bot.py, the code and the nets;
for mcr a player for Botzone's Chinese-Standard-Mahjong, one file of plain Python with its tables and nets. Nets that
have no room in the zip are written beside it. {AGENT_HELP}

--agent AGENT             the agent that plays; not mjai:
OUT                       the zip to write
--game                    the game that it plays (default: that of the nets, or of a scripted agent that one game has,
                          else riichi)
--runs

examples:
  suphx bot --agent runs/RUN/supervised bot.zip
  suphx bot --agent fan_plan bot.zip
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bot``."""
    add_command(commands, options, _PAGE, execute, agent={"required": True}, game={"choices": tuple(GAMES)})


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Write the zip.

    ValueError for an unknown agent and for what no arena takes, UsageError for options that are wrong.
    """
    if args.out.suffix != ".zip":
        raise UsageError(f"OUT is {args.out}: name a file that ends in .zip")
    if is_program(args.agent):
        raise ValueError(f"{args.agent!r} is a program that speaks mjai itself: submit it without suphx")
    game = game_of_agents(args.game, [args.agent])
    check_agent(args.agent, game)
    check_source_of_runs(args.runs)
    with console.activity("importing"):
        from suphx_platform.agents.bot_archive import write_bot

    with local_agent(args.agent, args.runs, game) as address:
        written = write_bot(address, args.out, game)
    data = [str(path) for path in written.data]
    if data:
        console.say(f"{', '.join(data)}: for the arena's storage of data, as the zip has no room for it")
    return {"archive": str(args.out), "files": len(written.names), "bytes": args.out.stat().st_size, "data": data}
