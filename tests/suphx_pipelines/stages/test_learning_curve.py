"""The nets of a learning curve, trained on few games of a scripted agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx_pipelines.engine.json_file import read_json
from suphx_pipelines.recipe.recipe import load_recipe
from suphx_pipelines.runs.runner import Runner
from suphx_pipelines.stages.learning_curve import curve_stages
from suphx_pipelines.stages.riichi_records import records_stage
from suphx_platform.console.console import Console
from tests.suphx_pipelines.recipe.small_laptop import RECIPE, SMALL


@pytest.mark.slow
def test_with_a_limit_of_all_nets_a_net_of_the_curve_has_the_share_of_its_final_net(runs: Path) -> None:
    own = {
        "supervised.total_minutes": "0.5",
        "supervised.max_steps": "0",
        "supervised.patience": "0",
        "learning_curve.heads": '["pong"]',
    }
    recipe = load_recipe(RECIPE, list((SMALL | own).items()))
    stages = [records_stage(), *curve_stages(recipe)]
    result = Runner(recipe, stages, runs=runs, records=None, console=Console()).run()
    (stage,) = curve_stages(recipe)
    last = read_json(result.folder / stage.name / "metrics.json")["history"][-1]
    assert last["seconds"] >= 30 * 0.15  # pong learns for 1.5 of 10 parts
