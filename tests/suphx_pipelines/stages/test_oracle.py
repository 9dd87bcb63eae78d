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
from suphx_pipelines.pipeline import run_recipe
from suphx_pipelines.recipe.recipe import OracleDistillationConfig
from suphx_pipelines.stages import reinforcement
from suphx_pipelines.stages.oracle import continued, decaying, distilling, seeing_everything
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
    policy_set = load_policy_set(folder, "mini", game="riichi")
    return [policy_set.net(number).config.num_oracle_planes for number in range(len(HEAD_NAMES))]


def test_oracle_guiding_runs_from_recipe_to_an_agent_that_plays_fairly(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(tmp_path / "storage")
    recipe = small_recipe(**SMALL, **{"oracle_decay.reject_ratio": "1.0001", "storage.address": address})
    done = run_recipe(recipe, records=None, runs=runs, console=Console())
    guided = ["oracle", "oracle_decay", "oracle_distillation"]
    assert list(done.stages) == ["reinforcement", *guided, "sample_game", "report"]
    oracle, last = done.folder / "oracle", done.folder / "oracle_decay"
    decay = last / "decay"
    seeing = [ORACLE.num_planes if head == DISCARD_HEAD else 0 for head in range(len(HEAD_NAMES))]
    assert oracle_planes(oracle) == oracle_planes(decay / "keep-1-0.700") == oracle_planes(decay) == seeing
    assert not any(oracle_planes(last))
    assert [point["keep_probability"] for point in read_json(decay / "metrics.json")["history"]] == [0.7, 0.7]
    plain = (
        load_policy_set(done.folder / "reinforcement" / "start", "mini", game="riichi").nets[DISCARD_HEAD].state_dict()
    )
    begun = load_policy_set(oracle / "start", "mini", game="riichi").nets[DISCARD_HEAD].state_dict()
    for name, weight in plain.items():
        assert torch.equal(begun[name][:, : weight.shape[1]] if weight.ndim == 3 else begun[name], weight)
    metrics = read_json(last / "metrics.json")
    assert metrics["updates"] == 2 + 2, "the step at 0 too"
    for part in (decay, last):
        opponents = {match["opponent"] for match in read_json(part / "metrics.json")["matches"]}
        assert opponents == {"start"}, "random nets have no weak ones"
    # Adam has made as many steps as all parts together had updates: it is carried over.
    state, _ = read_tensors(last / STATE_FILE)
    steps = {int(tensor) for name, tensor in state.items() if name.startswith("learner/opt") and name.endswith(".step")}
    assert steps == {4 + 2 * 2 + 2}
    assert metrics["rejected"] > 0
    distilled = done.folder / "oracle_distillation"
    assert not any(oracle_planes(distilled))
    assert read_json(distilled / "metrics.json")["history"][-1]["discard_teacher_distance"] > 0
    assert "The hidden tiles are masked more and more often" in done.report.read_text(encoding="utf-8")
    storage, name = Storage(StorageConfig(address=address)), done.folder.name
    best = {stage: storage.versions(f"{name}/{stage}/best") for stage in ("reinforcement", *guided[:2])}
    assert {stage: [version.number for version in versions] for stage, versions in best.items()} == {
        "reinforcement": [4], "oracle": [], "oracle_decay": [2 + 4],
    }, "nets that see hidden tiles are not stored among the best"  # fmt: skip
    again: Any = run_recipe(recipe, records=None, runs=runs, console=Console())
    assert {stage.status for stage in again.stages.values()} == {"kept"}
    weights = (last / "discard.safetensors").read_bytes()
    for name in ("done.json", "metrics.json", "discard.safetensors", STATE_FILE):
        (last / name).unlink()  # as if it had been killed when the keep probability had come to 0
    played: list[str] = []
    play_and_learn = reinforcement.play_and_learn

    def watched(context: Any, *arguments: Any, **others: Any) -> dict[str, float]:
        played.append(context.folder.name)
        return play_and_learn(context, *arguments, **others)

    monkeypatch.setattr(reinforcement, "play_and_learn", watched)
    resumed: Any = run_recipe(recipe, records=None, runs=runs, console=Console())
    assert played == ["oracle_decay"], "the part that is finished is not run again"
    figures = [
        {name: value for name, value in each.stages["oracle_decay"].metrics.items() if name.startswith("decay_")}
        for each in (done, resumed)
    ]
    assert figures[0] == figures[1] != {}
    assert (last / "discard.safetensors").read_bytes() == weights


def test_in_one_step_nets_without_hidden_tiles_follow_the_oracle_at_once(runs: Path) -> None:
    recipe = small_recipe(**SMALL | {"oracle_decay.steps": "1", "oracle_distillation.max_updates": "0"})
    done = run_recipe(recipe, records=None, runs=runs, console=Console())
    folder = done.folder / "oracle_decay"
    assert not (folder / "decay").exists()
    assert not any(oracle_planes(folder))
    assert read_json(folder / "metrics.json")["updates"] == 2 + 2


def test_the_parts_differ_from_plain_self_play_in_what_the_paper_says() -> None:
    recipe = load_recipe(RECIPES / "oracle.toml")
    plain, decay = recipe.reinforcement, recipe.oracle_decay
    seeing = seeing_everything(recipe).reinforcement
    assert seeing.oracle.keep_probability_after(1_000) == 1.0
    assert seeing.max_updates == recipe.oracle.max_updates
    falling = decaying(plain, decay)
    assert falling.oracle.keep_probability_after(falling.max_updates - 1) == pytest.approx(0.1)
    assert falling.oracle.keep_probability_after(falling.max_updates) == 0.0
    last = continued(plain, decay, falling.max_updates)
    assert (falling.max_updates, last.max_updates) == (180, 120), "10 steps of 20, and 100"
    assert continued(plain, decay, 200).max_updates == 100, "a part of an earlier version ended after the step at 0"
    assert not last.oracle.policy
    assert seeing.learner.oracle_critic
    assert falling.learner.oracle_critic
    assert last.learner.oracle_critic
    assert last.learner.learning_rate == pytest.approx(plain.learner.learning_rate / 10)
    assert last.learner.gradient.reject_ratio == decay.reject_ratio
    near = distilling(plain, OracleDistillationConfig(max_updates=9, weight=2.0, bound=0.1))
    assert near.sees_hidden
    assert not near.oracle.policy
    assert (near.learner.distillation.weight, near.learner.distillation.bound) == (2.0, 0.1)
