"""``suphx run RECIPE``: one complete run of a recipe, all its stages.

The only place of the platform that knows the pipelines: the command line is where everything is put together.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.commands.parsing import add_recipe, add_runs, run_id

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``run``."""
    parser = commands.add_parser(
        "run",
        parents=[options],
        help="run a recipe from data to report",
        description="Run all stages of a recipe. Finished stages are kept; the same command continues a killed run.",
    )
    add_recipe(parser, "a TOML file of pipelines/recipes, or yours")
    parser.add_argument("--records", type=Path, metavar="DIR", help="game records to learn from (default: made here)")
    add_runs(parser)
    parser.add_argument(
        "--run-id",
        type=run_id,
        metavar="ID",
        help="name of the run (default: made of its settings); one that is there must have the same settings",
    )
    parser.add_argument(
        "--stop-file",
        type=Path,
        metavar="FILE",
        help="while this file is there, save and wait: how suphx stop asks a run on a cluster",
    )
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Run the recipe; ValueError for a bad recipe or missing records."""
    from suphx_pipelines.pipeline import run_recipe
    from suphx_pipelines.recipe import load_recipe
    from suphx_pipelines.recipe_kind import check_kind
    from suphx_platform.stop_file import STORED, StopFile

    check_kind(args.recipe, "run")
    recipe = load_recipe(args.recipe, args.overrides)
    stop = StopFile(args.stop_file)
    while True:
        try:
            with stop:
                result = run_recipe(recipe, records=args.records, runs=args.runs, console=console, run_id=args.run_id)
            return result.to_json()
        except KeyboardInterrupt:
            if not stop.is_there:
                raise
            console.say(f"suphx: {STORED}")
            stop.wait_gone()
