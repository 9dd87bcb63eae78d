from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suphx.features.head import HEAD_NAMES
from suphx.selfplay.agent import load_agent
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import pipeline_stages, run_recipe
from suphx_pipelines.recipe import Recipe, load_recipe
from suphx_platform.console import Console

RECIPES = Path(__file__).resolve().parents[2] / "pipelines" / "recipes"
SMALL = {
    "net.channels": "4",
    "net.num_blocks": "1",
    "reinforcement.max_minutes": "0",
    "reinforcement.max_updates": "4",
    "reinforcement.evaluate_every": "0",
    "reinforcement.evaluation_hanchans": "8",
    "reinforcement.report_every": "2",
    "reinforcement.simulator.num_tables": "16",
    "reinforcement.buffer.batch_rows": "100",
}


def small_recipe(**changes: str) -> Recipe:
    return load_recipe(RECIPES / "reinforcement.toml", [*SMALL.items(), *changes.items()])


def test_self_play_from_random_weights_runs_from_recipe_to_report(tmp_path: Path) -> None:
    recipe = small_recipe()
    done = run_recipe(recipe, records=None, runs=tmp_path, console=Console())
    assert list(done.run.stages) == ["reinforcement", "report"]
    metrics = done.run.stages["reinforcement"].metrics
    assert metrics["updates"] == 4
    assert "difference_to_start" in metrics
    folder = done.run.folder / "reinforcement"
    load_agent(str(folder))
    assert [point["updates"] for point in read_json(folder / "metrics.json")["history"]] == [2, 4]
    assert "Self-play" in done.report.read_text(encoding="utf-8")
    again: Any = run_recipe(recipe, records=None, runs=tmp_path, console=Console())
    assert {stage.status for stage in again.run.stages.values()} == {"kept"}


def test_from_supervised_nets_it_comes_after_them() -> None:
    laptop = load_recipe(RECIPES / "laptop.toml", [("reinforcement.max_updates", "10")])
    stages = {stage.name: stage for stage in pipeline_stages(laptop)}
    assert set(stages["reinforcement"].needs) == {f"supervised/{head}" for head in HEAD_NAMES}
    assert "reinforcement" in stages["report"].needs
    plain = [stage.name for stage in pipeline_stages(load_recipe(RECIPES / "laptop.toml"))]
    assert "reinforcement" not in plain


def test_a_wrong_key_or_value_says_where_it_stands() -> None:
    with pytest.raises(ValueError, match=r"reinforcement\.simulator: num_tables is 3: use an even number"):
        small_recipe(**{"reinforcement.simulator.num_tables": "3"})
    with pytest.raises(ValueError, match=r"reinforcement\.learner\.entropy\.taget: .*there is no such key: use target"):
        small_recipe(**{"reinforcement.learner.entropy.taget": "1.0"})
