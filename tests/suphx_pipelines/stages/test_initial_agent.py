"""Runs that begin with the nets of an agent that exists already, in the place of supervised learning."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx.games.riichi.names import HEAD_NAMES
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names, weak_address
from suphx.selfplay.agents.policy_set import load_policy_set, save_policy_set, seeing_hidden
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import run_recipe
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.review import games_of_run
from suphx_pipelines.runs.provenance import digest_file
from suphx_pipelines.runs.runner import RunResult
from suphx_pipelines.stages import initial_agent
from suphx_platform.console.console import Console
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.recipe.small_recipe import LAPTOP, SMALL_LAPTOP, load_recipe
from tests.suphx_pipelines.runs.small_run import context_of

pytestmark = pytest.mark.usefixtures("short_games")

SMALL = {
    **SMALL_LAPTOP,
    "encoder": '"mini"',
    "reinforcement.max_updates": "1",
    "reinforcement.evaluation_hanchans": "8",
    "reinforcement.final_hanchans": "8",
    "reinforcement.final_sampled": "false",
    "reinforcement.simulator.num_tables": "16",
    "reinforcement.buffer.batch_size": "100",
}


def small_recipe(agent: str, **settings: str) -> Recipe:
    overrides = SMALL | {"initial_agent": f'"{agent}"'} | {key.replace("__", "."): v for key, v in settings.items()}
    return load_recipe(LAPTOP, [*overrides.items()])


def run_small(agent: str, runs: Path, **settings: str) -> RunResult:
    return run_recipe(small_recipe(agent, **settings), records=None, runs=runs, console=Console())


def test_self_play_begins_with_the_nets_of_a_folder(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nets = save_random(tmp_path / "nets")
    done = run_small(str(nets), runs, needs_records="true")
    assert list(done.stages) == ["initial_agent", "evaluation", "reinforcement", "sample_game", "report"]
    folder = done.folder
    digests = {name: digest_file(nets / name) for name in checkpoint_names(game="riichi")}
    assert read_json(folder / "initial_agent" / "initial_agent.json") == {
        "agent": str(nets), "nets": digests, "stored": []
    }  # fmt: skip
    assert {name: digest_file(folder / "initial_agent" / name) for name in checkpoint_names(game="riichi")} == digests
    first, start = (
        load_policy_set(place, "mini", game="riichi") for place in (nets, folder / "reinforcement" / "start")
    )
    for one, other in zip(first.nets, start.nets, strict=True):
        assert all((one.state_dict()[name] == tensor).all() for name, tensor in other.state_dict().items())
    page = done.report.read_text(encoding="utf-8")
    assert f"The run began with the nets of {nets}." in page
    assert "games of the last match against initial nets (8 hanchans)" in page
    assert "supervised nets" not in page
    printed = capsys.readouterr().err
    assert "the initial nets against ukeire" in printed
    assert "is meant for game records" not in printed, "it has no stage that reads them"
    with pytest.raises(ValueError, match=r"it began with the nets of .*name the run that trained these"):
        games_of_run(folder)


def test_a_run_that_is_started_again_keeps_its_nets_when_the_alias_has_moved(runs: Path, tmp_path: Path) -> None:
    store = TrackingStore(runs)
    registry = ModelRegistry(store, RegistryConfig())
    tracker = store.start("night", key="night")
    first = registry.promote(save_random(tmp_path / "a"), tracker, Promotion(digest="a", replaces=None, night="1"))
    settings = {"reinforcement__max_updates": "0", "evaluation__hanchans": "8"}
    done = run_small("models:/suphx@champion", runs, **settings)
    assert list(done.stages) == ["initial_agent", "evaluation", "report"]
    nets = done.folder / "initial_agent"
    assert digest_file(nets / "discard.safetensors") == digest_file(tmp_path / "a" / "discard.safetensors")
    second = save_random(tmp_path / "b", 2)
    registry.promote(second, tracker, Promotion(digest="b", replaces=first, night="2"))
    again = run_small("models:/suphx@champion", runs, **settings)
    assert again.folder == done.folder
    assert again.stages["initial_agent"].status == "kept"
    assert digest_file(nets / "discard.safetensors") == digest_file(tmp_path / "a" / "discard.safetensors")


def test_weak_nets_are_copied_where_there_are_some(runs: Path, tmp_path: Path) -> None:
    nets = save_random(tmp_path / "nets")
    assert weak_address(nets, "riichi") == str(nets)
    other = load_policy_set(save_random(tmp_path / "other", 2), "mini", game="riichi")
    save_policy_set(nets, other, "mini", rules="tenhou-1", step=1, extra={"encoder": "mini"}, is_weak=True)
    assert weak_address(nets, "riichi") == f"{nets}:weak"
    tracker, whole, weak = TrackingStore(runs).start("run", key="run"), tmp_path / "whole", tmp_path / "weak"
    for agent, folder in ((str(nets), whole), (f"{nets}:weak", weak)):
        initial_agent.run(context_of(small_recipe(agent), tracker, folder))
    names = (*checkpoint_names(game="riichi"), *checkpoint_names(is_weak=True, game="riichi"))
    assert [digest_file(whole / name) for name in names] == [digest_file(nets / name) for name in names]
    assert {path.name for path in weak.glob("*.safetensors")} == set(checkpoint_names(game="riichi"))
    assert digest_file(weak / "pong.safetensors") == digest_file(nets / "pong-weak.safetensors")


def test_an_agent_without_weak_nets_is_compared_with_itself_and_that_is_said(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared = {"agent_comparison__agents": '["sl_weak", "sl"]', "agent_comparison__hanchans": "8"}
    nets = save_random(tmp_path / "nets")
    done = run_small(str(nets), runs, reinforcement__max_updates="0", **compared)
    assert "the initial agent has no nets of an early step" in capsys.readouterr().err
    weak, strong = read_json(done.folder / "agent_comparison" / "match" / "agent_comparison.json")["agents"]
    assert weak["placements"] == strong["placements"]


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("{0}/none", "initial_agent: .*none has no checkpoint of the discard net"),
        ("ukeire", "initial_agent is 'ukeire', which has no nets: name a folder of checkpoints"),
        ("{0}/nets:sampled", "of the options after the colon, use only weak"),
        ("models:/suphx@champion", "models:/suphx@champion.* is not in the model registry"),
    ],
)
def test_an_agent_without_nets_is_told_before_anything_runs(
    agent: str, message: str, runs: Path, tmp_path: Path
) -> None:
    save_random(tmp_path / "nets")
    with pytest.raises(ValueError, match=message):
        run_small(agent.format(tmp_path), runs)
    assert not list(runs.glob("*/evaluation"))


def test_nets_that_see_other_planes_or_hidden_tiles_are_refused(runs: Path, tmp_path: Path) -> None:
    nets = save_random(tmp_path / "nets")
    with pytest.raises(ValueError, match=r"initial_agent .*nets: .*planes"):
        run_small(str(nets), runs, encoder='"suphx-plain"')
    hidden = seeing_hidden(load_policy_set(nets, "mini", game="riichi"), range(len(HEAD_NAMES)))
    save_policy_set(tmp_path / "oracle", hidden, "mini", rules="tenhou-1", step=1, extra={"encoder": "mini"})
    with pytest.raises(ValueError, match="its nets see hidden tiles, so nobody can play them"):
        run_small(str(tmp_path / "oracle"), runs)
