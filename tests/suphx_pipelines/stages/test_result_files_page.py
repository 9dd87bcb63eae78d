from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suphx_pipelines.pipeline import pipeline_stages
from suphx_pipelines.runs.stage import Stage
from tests.suphx_pipelines.recipe.small_laptop import RECIPE, SMALL
from tests.suphx_pipelines.recipe.small_recipe import load_recipe
from tests.suphx_pipelines.stages.result_files_page import undeclared_files


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
def test_a_file_that_is_not_on_the_page_is_found(tmp_path: Path, name: str, is_declared: bool) -> None:
    stage: Stage[Any] = next(
        each for each in pipeline_stages(load_recipe(RECIPE, [*SMALL.items()])) if each.name == "evaluation"
    )
    path = tmp_path / "evaluation" / name
    path.parent.mkdir(parents=True)
    path.touch()
    assert undeclared_files(tmp_path, [stage]) == ([] if is_declared else [f"evaluation/{name}"])
