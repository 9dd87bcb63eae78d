"""Recipes of runs for riichi, also with settings that make them small."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_kind import load_run_recipe
from tests.repository import RECIPES

SMALL = {
    "net.channels": "4",
    "net.num_blocks": "1",
    "reinforcement.max_minutes": "0",
    "reinforcement.max_updates": "4",
    "reinforcement.evaluate_every": "0",
    "reinforcement.evaluation_hanchans": "8",
    "reinforcement.evaluation_deals": "0",
    "reinforcement.final_hanchans": "0",
    "reinforcement.report_every": "2",
    "reinforcement.simulator.num_tables": "16",
    "reinforcement.buffer.batch_size": "100",
}


def load_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> Recipe:
    recipe = load_run_recipe(path, overrides)
    assert isinstance(recipe, Recipe)
    return recipe


def small_recipe(**changes: str) -> Recipe:
    return load_recipe(RECIPES / "reinforcement.toml", [*SMALL.items(), *changes.items()])
