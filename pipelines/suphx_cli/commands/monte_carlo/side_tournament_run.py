"""``suphx tournament`` of a recipe for a game of two sides."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import check_newest_from, check_runs, resumable

if TYPE_CHECKING:
    from suphx_platform.console.console import Console


def run(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the tournament; ValueError for a bad recipe or unknown agents."""
    from suphx_pipelines.recipe.side_tournament_recipe import load_side_tournament_recipe

    recipe = load_side_tournament_recipe(args.recipe, args.overrides)
    if args.dry_run:
        return {"dry_run": "valid", "recipe": recipe.name}
    check_runs(args.runs)
    check_newest_from(recipe.pool.newest_from if recipe.pool.newest else "")
    with console.activity("importing"):
        from suphx_pipelines.tournament.sides.side_tournament import run_side_tournament
    with resumable(console, lambda error: "Finished blocks of decks are saved."):
        result = run_side_tournament(
            recipe,
            runs=args.runs,
            console=console,
            on_code_change=args.on_code_change,
            max_wait_hours=args.wait_hours,
        )
    from suphx_pipelines.runs.run_summary import with_places

    values, run = result.to_json(), result.run
    return values if console.is_json else with_places(values, run.run_id, storage=run.storage, page=run.page)
