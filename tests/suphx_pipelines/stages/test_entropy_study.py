from __future__ import annotations

from pathlib import Path

import pytest

from suphx.training.learner_config import EntropyControl
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import run_recipe
from suphx_pipelines.stages.reinforcement import with_alpha
from suphx_platform.console.console import Console
from tests.suphx_pipelines.recipe.small_recipe import small_recipe

pytestmark = pytest.mark.usefixtures("short_games")


def test_a_fixed_alpha_never_moves() -> None:
    config = with_alpha(small_recipe(), 0.7).reinforcement.learner.entropy
    control = EntropyControl(target=1.0, alpha=config.alpha)
    for entropy in (2.4, 0.0, 1.0):
        control = control.after(entropy, config)
        assert control.alpha == 0.7


def test_self_play_runs_again_from_the_same_weights_with_each_alpha(runs: Path) -> None:
    recipe = small_recipe(**{"entropy_study.alphas": "[0.3]", "entropy_study.max_updates": "2"})
    done = run_recipe(recipe, records=None, runs=runs, console=Console())
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
