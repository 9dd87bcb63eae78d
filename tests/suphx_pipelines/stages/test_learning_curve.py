"""The nets of a learning curve, trained on few games of a scripted agent."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from suphx_pipelines.json_file import read_json
from suphx_pipelines.runs.runner import Runner
from suphx_pipelines.stages.riichi_records import records_stage
from suphx_pipelines.stages.supervised import MAX_POINTS, CurveFile, curve_stages, read_curve
from suphx_platform.console.console import Console
from tests.suphx_pipelines.recipe.small_laptop import RECIPE, SMALL
from tests.suphx_pipelines.recipe.small_recipe import load_recipe


def test_points_are_read_as_they_were_added(tmp_path: Path) -> None:
    assert read_curve(tmp_path) == []
    curve = CurveFile(tmp_path)
    curve.add(50, {"train_loss": 2.5, "rate": 1.0})
    curve.add(100, {"train_loss": math.nan, "rate": 2.0})
    assert read_curve(tmp_path) == [{"step": 50, "train_loss": 2.5, "rate": 1.0}, {"step": 100, "rate": 2.0}]


def test_a_resumed_training_replaces_the_points_after_its_step(tmp_path: Path) -> None:
    curve = CurveFile(tmp_path)
    for step in (50, 100, 150):
        curve.add(step, {"train_loss": 1.0})
    CurveFile(tmp_path).add(100, {"train_loss": 0.5})
    assert read_curve(tmp_path) == [{"step": 50, "train_loss": 1.0}, {"step": 100, "train_loss": 0.5}]


def test_a_long_training_keeps_a_bounded_number_of_points_over_its_whole_length(tmp_path: Path) -> None:
    curve = CurveFile(tmp_path)
    for step in range(1, MAX_POINTS + 101):
        curve.add(step, {"train_loss": 1.0})
    steps = [point["step"] for point in read_curve(tmp_path)]
    assert len(steps) == MAX_POINTS // 2 + 100
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (2, MAX_POINTS + 100)


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
