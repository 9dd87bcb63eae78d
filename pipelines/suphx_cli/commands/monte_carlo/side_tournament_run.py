"""``suphx tournament`` of a recipe for a game of two sides."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suphx_platform.console.console import Console


def run(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the tournament; ValueError for a bad recipe or unknown agents."""
    from suphx_pipelines.recipe.side_tournament_recipe import load_side_tournament_recipe

    recipe = load_side_tournament_recipe(args.recipe, args.overrides)
    with console.activity("importing"):
        from suphx_pipelines.summary.run_summary import command_line
        from suphx_pipelines.tournament.sides.side_tournament import run_side_tournament
        from suphx_platform.console.stop_request import TwoStepStop
    next_step = f"Continue with: {shlex.join(command_line())}"
    try:
        with TwoStepStop(next_step):
            result = run_side_tournament(
                recipe,
                runs=args.runs,
                console=console,
                on_code_change=args.on_code_change,
                max_wait_hours=args.wait_hours,
            )
    except KeyboardInterrupt:
        console.error(f"Finished blocks of decks are saved. {next_step}")
        raise
    return result.to_json()
