"""Recipes of ``suphx run`` for any game: the game decides which settings there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe, load_monte_carlo_recipe
from suphx_pipelines.recipe.recipe import Recipe, load_recipe
from suphx_pipelines.recipe.recipe_file import read_table
from suphx_pipelines.recipe.recipe_kind import check_kind, is_of_another_game
from suphx_platform.cluster.runs.run_manifest import RunNeeds

RunRecipe: TypeAlias = Recipe | MonteCarloRecipe

_SELF_PLAY_GROUPS = ("simulator", "inference")
_CHART = "reinforcement."
"""What the chart's settings of the cluster begin with, as in a recipe for riichi."""
_SAME_KEYS = ("cluster.on_ray", "cluster.num_simulators", "cluster.gpus_per_learner")


def load_run_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> RunRecipe:
    """Read a recipe with overrides; ValueError names the file, the key and what is allowed."""
    check_kind(path, "run")
    if is_of_another_game(read_table(path)):
        return load_monte_carlo_recipe(path, overrides)
    return load_recipe(path, overrides)


def needs_of(recipe: RunRecipe) -> RunNeeds:
    """Return what a recipe uses of the cluster that the chart describes."""
    if isinstance(recipe, Recipe):
        return RunNeeds(unused_groups=() if recipe.has_self_play else _SELF_PLAY_GROUPS)
    keys = {f"{_CHART}{key}": key for key in _SAME_KEYS} | {"storage.address": "storage.address"}
    return RunNeeds(unused_groups=("inference",), keys=keys, takes_records=False)
