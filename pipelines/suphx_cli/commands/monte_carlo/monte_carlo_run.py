"""``suphx run`` of a recipe for another game than riichi, which is learned by Deep Monte-Carlo."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import check_runs, resumable

if TYPE_CHECKING:
    from pathlib import Path

    from suphx_pipelines.monte_carlo.monte_carlo_pipeline import MonteCarloResult
    from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe
    from suphx_platform.console.console import Console


def run(args: argparse.Namespace, console: Console) -> MonteCarloResult:
    """Run the recipe; ValueError for a bad one, and for an argument that it has no use for."""
    from suphx_pipelines.recipe.monte_carlo_recipe import load_monte_carlo_recipe

    recipe = load_monte_carlo_recipe(args.recipe, args.overrides)
    check_records(args.records, recipe)
    check_runs(args.runs)
    with resumable(console, _saved):
        return _run(args, recipe, console)


def check_records(records: Path | None, recipe: MonteCarloRecipe) -> None:
    """Raise ValueError if records are given, which such a recipe has no use for."""
    if records is not None:
        raise ValueError(f"--records has no meaning for {recipe.game}: leave it out")


def _saved(error: KeyboardInterrupt) -> str:
    """Return what is saved of a run that was stopped."""
    from suphx_pipelines.runs.stage import Interrupted

    return f"Saved at {error}." if isinstance(error, Interrupted) else "Finished stages are saved."


def _run(args: argparse.Namespace, recipe: MonteCarloRecipe, console: Console) -> MonteCarloResult:
    with console.activity("importing"):
        from suphx_pipelines.monte_carlo.monte_carlo_pipeline import run_monte_carlo
    return run_monte_carlo(
        recipe,
        runs=args.runs,
        console=console,
        run_id=args.run_id,
        on_code_change=args.on_code_change,
        max_wait_hours=args.wait_hours,
    )
