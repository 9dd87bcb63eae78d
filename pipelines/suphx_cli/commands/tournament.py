"""``suphx tournament RECIPE``: checkpoints, champion and scripted agents play; a clear winner becomes the champion.

Like ``suphx run`` it starts a pipeline: the command line is where everything is put together.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx_cli.arguments import LEARNING, add_command, check_output_folder, resumable
from suphx_platform.agents.agent_forms import check_agent
from suphx_platform.storage.storage_config import STORAGE_SCHEMES

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_PAGE = """
tournament: rate many agents and promote a clear winner to champion

Play the tournament of a recipe: the newest checkpoints, the champion and the recipe's agents. One tournament is played
per night: repeating the command resumes it, or prints its result if it has finished. Games of two sides, such as
doudizhu, have tournaments of the same kind.

RECIPE
--set
--runs
--wait-hours
--dry-run

examples:
  suphx tournament nightly
  suphx tournament nightly --set night=second --set pool.newest=5
  suphx tournament doudizhu_tournament
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``tournament``."""
    add_command(commands, options, _PAGE, execute, needs=LEARNING)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the tournament; ValueError for a bad recipe or unknown agents."""
    from suphx.games.registry import agent_names
    from suphx_pipelines.recipe.recipe_kind import load_tournament_recipe

    recipe: Any = load_tournament_recipe(args.recipe, args.overrides)
    scripted = agent_names(recipe.game_name)
    for key, agents in (("pool.agents", recipe.pool.agents), ("decision.opponent", [recipe.decision.opponent])):
        for agent in agents:
            try:
                if agent and agent not in scripted:
                    check_agent(agent, recipe.game_name)
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from error
    place = recipe.pool.newest_from if recipe.pool.newest else ""
    if place and not place.startswith(STORAGE_SCHEMES) and not Path(place).is_dir():
        raise ValueError(
            f"pool.newest_from is {place}, which is not a folder: name a folder of runs, or s3://bucket/prefix"
        )
    if args.dry_run:
        return {"dry_run": "valid", "recipe": recipe.name}
    check_output_folder(args.runs, "--runs")
    with console.activity("importing"):
        from suphx_pipelines.tournament.tournament import run_tournament
    with resumable(console, lambda error: "Finished stages and finished parts of a match are saved."):
        result = run_tournament(recipe, runs=args.runs, console=console, max_wait_hours=args.wait_hours)
    from suphx_pipelines.runs.run_commands import with_places

    values, run = result.to_json(), result.run
    return values if console.is_json else with_places(values, run.run_id, storage=run.storage, page=run.page)
