"""``suphx tournament RECIPE``: newest checkpoints, champion and baselines play; a clear winner becomes the champion.

Like ``suphx run`` it starts a pipeline: the command line is where everything is put together.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_platform.commands.parsing import add_recipe, add_runs

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``tournament``."""
    parser = commands.add_parser(
        "tournament",
        parents=[options],
        help="rate many agents and promote a clear winner to champion",
        description="Play the tournament of a recipe, once a night: the same command gives or goes on with the same.",
    )
    add_recipe(parser, "pipelines/recipes/nightly.toml, or yours")
    add_runs(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the tournament; ValueError for a bad recipe or unknown agents."""
    from suphx_pipelines.recipe_kind import check_kind
    from suphx_pipelines.tournament import run_tournament
    from suphx_pipelines.tournament_recipe import load_tournament_recipe

    check_kind(args.recipe, "tournament")
    recipe = load_tournament_recipe(args.recipe, args.overrides)
    return run_tournament(recipe, runs=args.runs, console=console).to_json()
