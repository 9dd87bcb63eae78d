from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx.models.net_config import RewardPredictorConfig
from suphx.models.reward_predictor import RewardHeader, RewardPredictor, load_reward_predictor, save_reward_predictor
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import pipeline_stages, run_recipe
from suphx_pipelines.runs.stage import Interrupted
from suphx_pipelines.stages.training import StageWatch
from suphx_platform.console.console import Console
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe, small_recipe

pytestmark = pytest.mark.usefixtures("short_games")

SMALL = {
    "records.played_games": "60",
    "records.player": "random",
    "reward_predictor.net.gru_units": "8",
    "reward_predictor.net.hidden_units": "8",
    "reward_predictor.learning.max_epochs": "3",
    "reward_predictor.learning.batch_games": "8",
}


def test_the_predictor_is_learned_from_games_also_after_a_stop_and_held_against_naive_ones(
    new_runs: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = load_recipe(RECIPES / "reward_predictor.toml", list(SMALL.items()))
    done = run_recipe(recipe, records=None, runs=new_runs("whole"), console=Console())
    assert list(done.stages) == ["records", "reward_predictor", "report"]
    folder = done.folder / "reward_predictor"
    predictor, header = load_reward_predictor(folder / "reward_predictor.safetensors")
    assert header.points == predictor.points == (75, 30, 0, -150)
    metrics = read_json(folder / "metrics.json")
    assert sum(metrics["games"][name] for name in ("train", "validation", "test")) == 60
    for name in ("mean", "place_now", "place_and_kyoku"):
        figures = metrics["test"][name]
        assert figures["margin"] == pytest.approx(1 - metrics["test"]["net"]["loss"] / figures["loss"])
        low, high = figures["interval"]
        assert low <= figures["difference"] <= high
    assert len(metrics["examples"]) == 3
    page = done.report.read_text(encoding="utf-8")
    assert [f"Game {place}: points predicted before each deal" in page for place in (1, 2, 3, 4)] == [True] * 3 + [
        False
    ]
    step, calls = StageWatch.progress, list[float]()

    def interrupted(self: StageWatch, share_done: float) -> None:
        step(self, share_done)
        calls.append(share_done)
        if len(calls) == 3:  # as with Ctrl-C in the fourth step, within an epoch
            os.kill(os.getpid(), signal.SIGINT)

    stopped = new_runs("stopped")
    with monkeypatch.context() as patch:
        patch.setattr(StageWatch, "progress", interrupted)
        with pytest.raises(Interrupted, match="step 4 of reward_predictor"):
            run_recipe(recipe, records=None, runs=stopped, console=Console())
    resumed = run_recipe(recipe, records=None, runs=stopped, console=Console()).folder / "reward_predictor"
    name = "reward_predictor.safetensors"
    assert (resumed / name).read_bytes() == (folder / name).read_bytes()


def test_self_play_is_paid_by_the_predictor_of_its_own_run(new_runs: Callable[[str], Path]) -> None:
    changes = {"reinforcement.reward": "global_prediction", "reinforcement.max_updates": "2", **SMALL}
    recipe = small_recipe(**changes)
    stages = {stage.name: stage for stage in pipeline_stages(recipe)}
    assert list(stages) == ["records", "reward_predictor", "reinforcement", "sample_game", "report"]
    done = run_recipe(recipe, records=None, runs=new_runs("own"), console=Console())
    metrics = read_json(done.folder / "reinforcement" / "metrics.json")
    assert metrics["updates"] == 2
    path = done.folder / "reward_predictor" / "reward_predictor.safetensors"
    given = small_recipe(**changes, **{"reinforcement.global_reward.predictor": str(path)})
    assert "records" not in {stage.name for stage in pipeline_stages(given)}
    again = run_recipe(given, records=None, runs=new_runs("given"), console=Console())
    points = (read_json(run.folder / "reinforcement" / "metrics.json")["history"][-1] for run in (done, again))
    first, second = ({n: v for n, v in point.items() if n.startswith("discard_")} for point in points)
    assert first == second


def test_a_predictor_that_is_not_there_is_named(runs: Path) -> None:
    recipe = small_recipe(
        **{"reinforcement.reward": "global_prediction", "reinforcement.global_reward.predictor": "none.safetensors"}
    )
    with pytest.raises(FileNotFoundError, match=r"no file none\.safetensors"):
        run_recipe(recipe, records=None, runs=runs, console=Console())


def test_a_predictor_that_has_learned_other_rules_is_refused_before_the_run_begins(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    net = RewardPredictorConfig(gru_units=8, hidden_units=8)
    points = (75.0, 30.0, 0.0, -150.0)
    header = RewardHeader(net=net, points=points, rules_version="other", step=1)
    save_reward_predictor(path, RewardPredictor(net, points).state_dict(), header)
    recipe = small_recipe(
        **{"reinforcement.reward": "global_prediction", "reinforcement.global_reward.predictor": str(path)}
    )
    with pytest.raises(ValueError, match=r"other\.safetensors was trained under rules 'other', this run plays 'ten"):
        run_recipe(recipe, records=None, runs=runs, console=Console())
    assert not list(runs.glob("*/reinforcement/started.json"))
