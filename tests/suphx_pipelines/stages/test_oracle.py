"""The stages of oracle guiding: everything is seen, then less and less, then nothing hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from suphx.games.riichi.features.oracle import ORACLE
from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES
from suphx.models.tensor_file import read_tensors
from suphx.selfplay.agents.policy_set import load_policy_set
from suphx.training.reinforcement_config import STATE_FILE
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import pipeline_stages, run_recipe
from suphx_pipelines.recipe.recipe import OracleDecayConfig, OracleDistillationConfig, OracleStageConfig
from suphx_pipelines.stages import reinforcement
from suphx_pipelines.stages.oracle import continued, decaying, distilling, guided
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe, small_recipe

pytestmark = pytest.mark.usefixtures("short_games")

SMALL = {
    "oracle.max_updates": "4",
    "oracle_decay.steps": "2",
    "oracle_decay.ratio": "0.7",
    "oracle_decay.updates_per_step": "2",
    "oracle_decay.continued_updates": "2",
    "oracle_distillation.max_updates": "2",
    "reinforcement.report_every": "1",
}


def oracle_planes(folder: Path) -> list[int]:
    policy_set = load_policy_set(folder, "mini")
    return [policy_set.net(number).config.num_oracle_planes for number in range(len(HEAD_NAMES))]


def test_oracle_guiding_runs_from_recipe_to_an_agent_that_plays_fairly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = small_recipe(**SMALL, **{"oracle_decay.reject_ratio": "1.0001"})
    done = run_recipe(recipe, records=None, runs=tmp_path, console=Console())
    guided = ["oracle", "oracle_decay", "oracle_distillation"]
    assert list(done.run.stages) == ["reinforcement", *guided, "sample_game", "report"]
    oracle, last = done.run.folder / "oracle", done.run.folder / "oracle_decay"
    decay = last / "decay"
    seeing = [ORACLE.num_planes if head == DISCARD_HEAD else 0 for head in range(len(HEAD_NAMES))]
    assert oracle_planes(oracle) == oracle_planes(decay / "keep-1-0.700") == oracle_planes(decay) == seeing
    assert not any(oracle_planes(last))
    assert [point["keep_probability"] for point in read_json(decay / "metrics.json")["history"]] == [0.7, 0.7]
    plain = load_policy_set(done.run.folder / "reinforcement" / "start", "mini").nets[DISCARD_HEAD].state_dict()
    begun = load_policy_set(oracle / "start", "mini").nets[DISCARD_HEAD].state_dict()
    for name, weight in plain.items():
        assert torch.equal(begun[name][:, : weight.shape[1]] if weight.ndim == 3 else begun[name], weight)
    metrics = read_json(last / "metrics.json")
    assert metrics["updates"] == 2 + 2, "the step at 0 too"
    for part in (decay, last):
        opponents = {match["opponent"] for match in read_json(part / "metrics.json")["matches"]}
        assert opponents == {"start"}, "random nets have no weak ones"
    # Adam has made as many steps as all parts together had updates: it is carried over.
    state, _ = read_tensors(last / STATE_FILE)
    steps = {int(tensor) for name, tensor in state.items() if name.startswith("learner/opt") and name.endswith("/step")}
    assert steps == {4 + 2 * 2 + 2}
    assert metrics["rejected"] > 0
    distilled = done.run.folder / "oracle_distillation"
    assert not any(oracle_planes(distilled))
    assert read_json(distilled / "metrics.json")["history"][-1]["discard_teacher_distance"] > 0
    assert "The hidden tiles are masked more and more often" in done.report.read_text(encoding="utf-8")
    again: Any = run_recipe(recipe, records=None, runs=tmp_path, console=Console())
    assert {stage.status for stage in again.run.stages.values()} == {"kept"}
    weights = (last / "discard.safetensors").read_bytes()
    for name in ("done.json", "metrics.json", "discard.safetensors", STATE_FILE):
        (last / name).unlink()  # as if it had been killed when the keep probability had come to 0
    played: list[str] = []
    play_and_learn = reinforcement.play_and_learn

    def watched(context: Any, *arguments: Any, **others: Any) -> dict[str, float]:
        played.append(context.folder.name)
        return play_and_learn(context, *arguments, **others)

    monkeypatch.setattr(reinforcement, "play_and_learn", watched)
    resumed: Any = run_recipe(recipe, records=None, runs=tmp_path, console=Console())
    assert played == ["oracle_decay"], "the part that is finished is not run again"
    figures = [
        {name: value for name, value in each.run.stages["oracle_decay"].metrics.items() if name.startswith("decay_")}
        for each in (done, resumed)
    ]
    assert figures[0] == figures[1] != {}
    assert (last / "discard.safetensors").read_bytes() == weights


def test_nets_that_see_hidden_tiles_are_not_stored_among_the_best(tmp_path: Path) -> None:
    address = str(tmp_path / "storage")
    recipe = small_recipe(**SMALL | {"oracle_distillation.max_updates": "0", "storage.address": address})
    done = run_recipe(recipe, records=None, runs=tmp_path / "runs", console=Console())
    storage, name = Storage(StorageConfig(address=address)), done.run.folder.name
    best = {
        stage: [version.number for version in storage.versions(f"{name}/{stage}/best")]
        for stage in ("reinforcement", "oracle", "oracle_decay")
    }
    assert best == {"reinforcement": [4], "oracle": [], "oracle_decay": [2 + 4]}


def test_in_one_step_nets_without_hidden_tiles_follow_the_oracle_at_once(tmp_path: Path) -> None:
    recipe = small_recipe(**SMALL | {"oracle_decay.steps": "1", "oracle_distillation.max_updates": "0"})
    done = run_recipe(recipe, records=None, runs=tmp_path, console=Console())
    folder = done.run.folder / "oracle_decay"
    assert not (folder / "decay").exists()
    assert not any(oracle_planes(folder))
    assert read_json(folder / "metrics.json")["updates"] == 2 + 2


def test_the_parts_differ_from_plain_self_play_in_what_the_paper_says() -> None:
    recipe = load_recipe(RECIPES / "oracle.toml")
    plain, decay = recipe.reinforcement, recipe.oracle_decay
    assert guided(plain, 7).oracle.keep_probability_after(1_000) == 1.0
    assert guided(plain, 7).max_updates == 7
    falling = decaying(plain, decay)
    assert falling.oracle.keep_probability_after(falling.max_updates - 1) == pytest.approx(0.1)
    assert falling.oracle.keep_probability_after(falling.max_updates) == 0.0
    last = continued(plain, decay, falling.max_updates)
    assert (falling.max_updates, last.max_updates) == (180, 120), "10 steps of 20, and 100"
    assert continued(plain, decay, 200).max_updates == 100, "a part of an earlier version ended after the step at 0"
    assert not last.oracle.policy
    assert guided(plain, 7).learner.oracle_critic
    assert falling.learner.oracle_critic
    assert last.learner.oracle_critic
    assert last.learner.learning_rate == pytest.approx(plain.learner.learning_rate / 10)
    assert last.learner.gradient.reject_ratio == decay.reject_ratio
    near = distilling(plain, OracleDistillationConfig(max_updates=9, weight=2.0, bound=0.1))
    assert near.sees_hidden
    assert not near.oracle.policy
    assert (near.learner.distillation.weight, near.learner.distillation.bound) == (2.0, 0.1)


def test_from_supervised_nets_the_stages_come_after_them_and_are_absent_unless_wanted() -> None:
    wanted = [(name, value) for name, value in SMALL.items() if name.startswith("oracle")]
    wanted.append(("reinforcement.weight_sync_interval", "1"))
    stages = {stage.name: stage for stage in pipeline_stages(load_recipe(RECIPES / "laptop.toml", wanted))}
    heads = {f"supervised/{head}" for head in HEAD_NAMES}
    assert set(stages["oracle"].needs) == heads
    assert set(stages["oracle_decay"].needs) == set(stages["oracle_distillation"].needs) == heads | {"oracle"}
    assert "reinforcement" not in stages
    without_decay = pipeline_stages(load_recipe(RECIPES / "laptop.toml", wanted[:1]))
    assert [stage.name for stage in without_decay if "oracle" in stage.name] == ["oracle"]
    assert not [stage.name for stage in pipeline_stages(load_recipe(RECIPES / "laptop.toml")) if "oracle" in stage.name]


def test_nets_of_values_do_not_stay_near_a_teacher() -> None:
    values = {"reinforcement.learner.algorithm": "monte_carlo", "reinforcement.engine.epsilon": "0.1"}
    with pytest.raises(ValueError, match=r"set oracle_distillation\.max_updates to 0"):
        pipeline_stages(small_recipe(**SMALL, **values))
    assert pipeline_stages(small_recipe(**SMALL | values | {"oracle_distillation.max_updates": "0"}))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"learning_rate_share": 0.0}, "learning_rate_share is 0.0: use more than 0, at most 1"),
        ({"reject_ratio": 1.0}, "reject_ratio is 1.0: use more than 1, at most 1,000,000"),
        ({"continued_updates": 0}, "continued_updates is 0: use 1 to 1,000,000,000"),
        ({"updates_per_step": 0}, "updates_per_step is 0: use 1 to 1,000,000,000"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OracleDecayConfig(**wrong)
    with pytest.raises(ValueError, match=r"max_updates is -1: use 0 to 1,000,000,000"):
        OracleStageConfig(max_updates=-1)
    with pytest.raises(ValueError, match=r"max_updates is -1: use 0 to 1,000,000,000"):
        OracleDistillationConfig(max_updates=-1)
