from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from suphx.games.riichi.names import HEAD_NAMES
from suphx.models.net_config import checkpoint_name
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx_platform.agents.agent_forms import check_nets
from suphx_platform.agents.agent_source import (
    AgentSource,
    FoundCheckpoint,
    checkpoints_of_runs,
    fetch_stored,
    stored_checkpoints,
)
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.storage.s3_server import BUCKET, S3Server


def by_head(folder: Path, seed: int = 1) -> Path:
    """Lay the nets out as the supervised stages do."""
    flat = save_random(folder.with_name("flat"), seed)
    for head in HEAD_NAMES:
        (folder / head).mkdir(parents=True)
        (flat / checkpoint_name(head)).rename(folder / head / checkpoint_name(head))
    return folder


def names(found: Sequence[FoundCheckpoint]) -> list[str]:
    return [each.name for each in found]


def test_what_is_on_this_machine_stays_as_it_is(runs: Path, tmp_path: Path) -> None:
    source = AgentSource(TrackingStore(runs))
    for address in ("ukeire", "runs/a/supervised:weak"):
        assert source.fetch(address, tmp_path / "none", "riichi") == address
    assert not (tmp_path / "none").exists()


def test_a_champion_is_fetched_with_the_words_behind_its_name(runs: Path, tmp_path: Path) -> None:
    store = TrackingStore(runs)
    tracker = store.start("night", key="night")
    ModelRegistry(store, RegistryConfig()).promote(
        save_random(tmp_path / "a"), tracker, Promotion(digest="a", replaces=None, night="1")
    )
    address = AgentSource(store).fetch("models:/suphx@champion:sampled", tmp_path / "champion", "riichi")
    assert address == f"{tmp_path / 'champion'}:sampled"
    assert load_agent(address).name == address
    weak = AgentSource(store).fetch("models:/suphx@champion:weak", tmp_path / "weak", "riichi")
    with pytest.raises(ValueError, match="discard-weak"):  # it has none; they are no nets of another game
        load_agent(weak)


def test_nets_of_another_game_are_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has nets of riichi, and the game is mcr"):
        check_nets(str(save_random(tmp_path / "nets")), "mcr")


def test_the_newest_checkpoints_of_runs_come_first_and_half_learned_ones_not_at_all(runs: Path, tmp_path: Path) -> None:
    old, new = save_random(runs / "old-1" / "reinforcement"), by_head(runs / "new-1" / "supervised")
    save_random(old / "start")
    (by_head(runs / "half-1" / "supervised") / "kong" / "kong.safetensors").unlink()
    save_random(runs / "new-1" / "initial_agent")  # copies of another agent's
    for folder, time in ((old, 1000), (new, 2000)):
        for path in folder.rglob("*.safetensors"):
            os.utime(path, (time, time))
    (runs / "new-1" / "flat").rmdir()
    found = AgentSource(TrackingStore(runs)).newest(str(runs), "riichi")[:5]
    assert names(found) == ["new-1/supervised", "old-1/reinforcement"]
    assert [load_agent(each.address).name for each in found] == [str(new), str(old)]
    assert names(AgentSource(TrackingStore(runs)).newest(str(runs), "riichi")[:1]) == ["new-1/supervised"]
    assert names(list(checkpoints_of_runs(tmp_path / "nowhere", "riichi"))) == []


def test_folders_that_a_stage_has_put_aside_are_no_agents(runs: Path) -> None:
    save_random(runs / "laptop-1" / "reinforcement")
    save_random(runs / "laptop-1" / ".reinforcement.replaced")  # as another machine's state took its place
    save_random(runs / "laptop-1" / "agent_comparison" / ".deep.partial")
    by_head(runs / "laptop-1" / ".supervised.replaced")
    assert names(AgentSource(TrackingStore(runs)).newest(str(runs), "riichi")[:5]) == ["laptop-1/reinforcement"]
    hidden = runs.with_name(".hidden") / "runs"
    save_random(hidden / "laptop-1" / "reinforcement")
    assert names(list(checkpoints_of_runs(hidden, "riichi"))) == ["laptop-1/reinforcement"]  # only what is below counts


def test_nets_of_other_games_that_a_stage_has_put_aside_are_no_agents(runs: Path) -> None:
    for stage in ("learning", ".learning.replaced"):
        folder = runs / "doudizhu-1" / stage
        folder.mkdir(parents=True)
        for name in checkpoint_names(game="doudizhu"):
            (folder / name).touch()
    assert names(list(checkpoints_of_runs(runs, "doudizhu"))) == ["doudizhu-1/learning"]


def stored(storage: Storage, tmp_path: Path) -> None:
    supervised = by_head(tmp_path / "source" / "supervised")
    for head in HEAD_NAMES:
        storage.save(f"a-1/supervised/{head}", supervised / head, number=1)
    storage.save("b-1/supervised/discard", supervised / "discard", number=1)
    self_play = save_random(tmp_path / "source" / "reinforcement", seed=2)
    storage.save("a-1/initial_agent", self_play, number=1)
    storage.save("a-1/reinforcement", self_play, number=100)
    storage.save("a-1/reinforcement", self_play, number=200)
    storage.save("a-1/records", tmp_path / "source" / "reinforcement", number=1)
    (self_play / "kong.safetensors").unlink()
    storage.save("c-1/reinforcement", self_play, number=1)


def test_checkpoints_of_a_storage_are_found_and_fetched(tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage")))
    stored(storage, tmp_path)
    found = {each.name: each.saved for each in stored_checkpoints(storage, "riichi")}
    assert list(found) == ["a-1/records", "a-1/reinforcement", "a-1/supervised"]
    assert 0 < found["a-1/supervised"] < found["a-1/reinforcement"]
    for name in ("a-1/reinforcement", "a-1/supervised"):
        fetch_stored(storage, name, tmp_path / name, "riichi")
        load_agent(str(tmp_path / name))
    with pytest.raises(ValueError, match="c-1 has no checkpoint of the discard net: use what"):
        fetch_stored(storage, "c-1", tmp_path / "c", "riichi")


def test_of_a_training_only_the_nets_are_fetched(tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage")))
    nets = save_random(tmp_path / "source")
    for file in ("state.safetensors", "discard-weak.safetensors"):
        (nets / file).write_bytes(b"large")
    storage.save("a-1/reinforcement", nets, number=100)
    storage.save("a-1/reinforcement/best", nets, number=100, score=0.5)
    for name in ("a-1/reinforcement", "a-1/reinforcement/best"):
        fetch_stored(storage, name, tmp_path / name, "riichi")
        fetched = {path.name for path in (tmp_path / name).iterdir() if path.is_file()}
        assert fetched == {"discard-weak.safetensors", *checkpoint_names(game="riichi")}


def test_a_bucket_is_a_source_like_a_folder(server: S3Server, runs: Path, tmp_path: Path) -> None:
    place = f"s3://{BUCKET}/nightly/runs"
    stored(Storage(StorageConfig(address=place)), tmp_path)
    source = AgentSource(TrackingStore(runs))
    found = source.newest(place, "riichi")[:2]
    assert [each.address for each in found] == [f"{place}/a-1/records", f"{place}/a-1/reinforcement"]
    load_agent(source.fetch(f"{place}/a-1/reinforcement", tmp_path / "reinforcement", "riichi"))
    load_agent(source.fetch(f"{place}/a-1/supervised:matched", tmp_path / "supervised", "riichi"))
