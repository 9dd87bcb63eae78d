from __future__ import annotations

from pathlib import Path

import pytest

from suphx.games.riichi.names import HEAD_NAMES
from suphx.training.learner_config import EntropyConfig, EntropyControl
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import pipeline_stages, run_recipe
from suphx_pipelines.stages.reinforcement import fixed_alpha
from suphx_platform.console.console import Console
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe, small_recipe

pytestmark = pytest.mark.usefixtures("short_games")


def test_a_fixed_alpha_never_moves() -> None:
    config = fixed_alpha(EntropyConfig(), 0.7)
    control = EntropyControl(target=1.0, alpha=config.alpha)
    for entropy in (2.4, 0.0, 1.0):
        control = control.after(entropy, config)
        assert control.alpha == 0.7


def test_self_play_runs_again_from_the_same_weights_with_each_alpha(tmp_path: Path) -> None:
    recipe = small_recipe(**{"entropy_study.alphas": "[0.3]", "entropy_study.max_updates": "2"})
    done = run_recipe(recipe, records=None, runs=tmp_path, console=Console())
    assert list(done.run.stages) == ["reinforcement", "entropy_study/0.3", "sample_game", "report"]
    folders = [done.run.folder / name for name in ("reinforcement", "entropy_study/0.3")]
    start, same = ((folder / "start" / "discard.safetensors").read_bytes() for folder in folders)
    assert start == same
    controlled, fixed = (read_json(folder / "metrics.json")["history"] for folder in folders)
    assert {point["discard_alpha"] for point in fixed} == {0.3}
    assert controlled[0]["decisions"] == fixed[0]["decisions"]
    assert controlled[-1]["discard_alpha"] != 0.3
    assert (controlled[-1]["updates"], fixed[-1]["updates"]) == (4, 2)
    assert "What the entropy term does" in done.report.read_text(encoding="utf-8")


def test_from_supervised_nets_it_needs_them_and_without_self_play_there_is_none() -> None:
    alphas = ("entropy_study.alphas", "[0.0, 0.5]")
    wanted = load_recipe(RECIPES / "laptop.toml", [("reinforcement.max_updates", "10"), alphas])
    stages = {stage.name: stage for stage in pipeline_stages(wanted)}
    assert set(stages["entropy_study/0.5"].needs) == {f"supervised/{head}" for head in HEAD_NAMES}
    none = pipeline_stages(load_recipe(RECIPES / "laptop.toml", [alphas]))
    assert not [stage.name for stage in none if stage.name.startswith("entropy_study")]


def test_nets_of_values_have_no_entropy_to_study() -> None:
    values = {"reinforcement.learner.algorithm": "monte_carlo", "reinforcement.engine.epsilon": "0.1"}
    with pytest.raises(ValueError, match=r"entropy_study\.alphas .* remove one of the two"):
        pipeline_stages(small_recipe(**values, **{"entropy_study.alphas": "[0.3]"}))
