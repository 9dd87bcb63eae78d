"""``suphx agents``: the names of agents, and the nets in the folder of runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx.games.registry import GAMES
from suphx_cli.arguments import add_command
from suphx_platform.agents.agent_forms import agent_rows

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_SHOWN = 10
"""Nets that a person sees; scripts get all."""
_PAGE = """
agents: list the names of agents, and the nets in your runs

List all forms of a name that AGENT can have, the scripted agents of each game, and the nets in the folder of runs,
newest first.

--runs

examples:
  suphx agents
  suphx evaluate --candidate runs/RUN/supervised --opponent ukeire
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``agents``."""
    add_command(commands, options, _PAGE, execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print two lists; scripts get both."""
    from suphx_platform.agents.agent_source import checkpoints_of_runs
    from suphx_platform.console.table_text import wrapped_table

    found = [each for game in GAMES for each in checkpoints_of_runs(args.runs, game)]
    found.sort(key=lambda each: (each.saved, each.name), reverse=True)
    nets = [each.address for each in found]
    if console.is_json:
        return {"agents": [{"name": name, "about": about} for name, about in agent_rows()], "nets": nets}
    for line in wrapped_table(("agent", "what plays"), agent_rows()):
        console.line(line)
    console.line("")
    if not nets:
        console.line(f"no nets in {args.runs} yet: `suphx run laptop` trains some")
        return None
    console.line(f"nets in {args.runs}, newest first:")
    for address in nets[:_SHOWN]:
        console.line(f"  {address}")
    if len(nets) > _SHOWN:
        console.line(f"  and {len(nets) - _SHOWN} more: add --json for all")
    return None
