"""What MLflow shows of a stage."""

from __future__ import annotations

import pytest

from suphx_pipelines.monte_carlo.monte_carlo_pipeline import monte_carlo_stages
from suphx_pipelines.pipeline import pipeline_stages
from suphx_pipelines.recipe.recipe import load_recipe
from suphx_pipelines.summary.stage_note import stage_note
from suphx_pipelines.tournament.sides.side_tournament import side_tournament_stages
from suphx_pipelines.tournament.tournament import tournament_stages
from tests.repository import RECIPES


def stage_names(recipe: str) -> list[str]:
    if recipe == "nightly":
        return [stage.name for stage in tournament_stages()]
    if recipe == "doudizhu_tournament":
        return [stage.name for stage in side_tournament_stages("doudizhu")]
    if recipe.startswith("doudizhu"):
        return [stage.name for stage in monte_carlo_stages("doudizhu")]
    return [stage.name for stage in pipeline_stages(load_recipe(RECIPES / f"{recipe}.toml", []))]


@pytest.mark.parametrize("recipe", sorted(path.stem for path in RECIPES.glob("*.toml")))
def test_every_stage_of_the_shipped_recipes_says_what_it_does(recipe: str) -> None:
    names = stage_names(recipe)
    assert names
    for name in names:
        purpose, place = stage_note(name, "the-run").split("\n\n")
        assert purpose.endswith(".")
        assert place.startswith(f"Stage `{name}` of the run `the-run`")
