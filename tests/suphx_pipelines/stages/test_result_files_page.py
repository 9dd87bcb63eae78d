from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suphx_pipelines.pipeline import pipeline_stages
from suphx_pipelines.recipe.recipe import MonteCarloRecipe
from suphx_pipelines.recipe.tournament_recipe import SideTournamentRecipe, TournamentRecipe
from suphx_pipelines.runs.stage import Stage
from suphx_pipelines.tournament.tournament import tournament_stages
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_laptop import RECIPE, SMALL
from tests.suphx_pipelines.recipe.small_recipe import load_recipe
from tests.suphx_pipelines.stages.result_files_page import (
    MONTE_CARLO,
    PAGE,
    RUN,
    SIDE_TOURNAMENT,
    TOURNAMENT,
    Place,
    page,
    place_of,
    undeclared_files,
)

SELF_PLAY = {
    "reinforcement.max_updates": "1",
    "entropy_study.alphas": "[0.1]",
    "oracle.max_updates": "1",
    "oracle_decay.steps": "2",
    "oracle_distillation.max_updates": "1",
    "playouts.num_decisions": "10",
}


def kinds_of_stages() -> list[tuple[Sequence[Stage[Any]], Sequence[Place]]]:
    return [
        (pipeline_stages(load_recipe(RECIPE, [*SMALL.items(), *SELF_PLAY.items()])), RUN),
        (pipeline_stages(load_recipe(RECIPES / "agent_comparison.toml")), RUN),
        (pipeline_stages(load_recipe(RECIPES / "rl_basic.toml", [("initial_agent", '"runs/a/supervised"')])), RUN),
        (tournament_stages(TournamentRecipe(name="any")), TOURNAMENT),
        (pipeline_stages(MonteCarloRecipe(name="any")), MONTE_CARLO),
        (tournament_stages(SideTournamentRecipe(name="any")), SIDE_TOURNAMENT),
    ]


def test_the_page_is_what_the_stages_declare() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make golden"


def test_every_stage_is_on_the_page_with_its_files() -> None:
    seen = set()
    for each, places in kinds_of_stages():
        for stage in each:
            folder, files, _ = place_of(stage.name, places)
            assert stage.files == files, stage.name
            seen.add((id(places), folder))
    assert len(seen) == sum(map(len, (RUN, TOURNAMENT, MONTE_CARLO, SIDE_TOURNAMENT))), "places that no stage has"


@pytest.mark.parametrize(
    ("name", "is_declared"),
    [
        ("match.json", True),
        ("games/walls-1-16.json", True),
        ("started.json", True),
        (".reached.json", True),
        ("match.csv", False),
        ("other/match.json", False),
    ],
)
def test_a_file_that_a_stage_does_not_declare_is_found(tmp_path: Path, name: str, is_declared: bool) -> None:
    stage: Stage[Any] = next(
        each for each in pipeline_stages(load_recipe(RECIPE, [*SMALL.items()])) if each.name == "evaluation"
    )
    path = tmp_path / "evaluation" / name
    path.parent.mkdir(parents=True)
    path.touch()
    assert undeclared_files(tmp_path, [stage]) == ([] if is_declared else [f"evaluation/{name}"])
    assert undeclared_files(tmp_path, [replace(stage, name="records")]) == []
