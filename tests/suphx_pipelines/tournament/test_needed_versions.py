"""Which old versions of candidates that lost stay in the registry, after real nights."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.tournament_recipe import PoolConfig
from suphx_pipelines.tournament.entrants import read_pool
from suphx_pipelines.tournament.history import games_json
from suphx_pipelines.tournament.versions import NightVersions, mark_named, named_versions
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.model_registry import LostVersion, ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.tournament.small_tournament import SMALL, code, play

pytestmark = pytest.mark.usefixtures("short_games")
LOSING = replace(
    SMALL, decision=replace(SMALL.decision, opponent="ukeire"), registry=RegistryConfig(max_lost_versions=1)
)


def owner_of(*arguments: Any) -> NightVersions:
    return NightVersions(*arguments, code=code(), net_files=checkpoint_names())


def test_a_night_deletes_an_older_candidate_whose_games_can_still_be_played_again(runs: Path) -> None:
    for number, name in enumerate("ab", 1):
        save_random(runs / f"{name}-1" / "reinforcement", seed=number)
        play(runs, replace(LOSING, night=str(number)))
    found = TrackingStore(runs).client.search_model_versions("name = 'suphx'")
    assert [(str(each.version), each.tags["outcome"]) for each in found] == [("2", "not promoted")]


def test_nets_and_games_may_be_in_the_storage(runs: Path, tmp_path: Path) -> None:
    save_random(runs / "a-1" / "reinforcement")
    recipe = replace(LOSING, storage=StorageConfig(address=str(tmp_path / "storage")))
    run_id = str(play(runs, recipe)["run_id"])
    folder, storage = runs / run_id, Storage(recipe.storage)
    games = read_json(folder / "leaderboard" / "games.json")
    tonight = shutil.copytree(folder / "pool", tmp_path / "pool")
    digest = next(each.digest for each in read_pool(tonight).entrants if each.is_candidate)
    lost = LostVersion(address="models:/suphx/1", digest=digest, tournament=run_id)

    def is_needed(version: LostVersion = lost, *agents: str) -> bool:
        named = replace(recipe, pool=replace(recipe.pool, agents=("ukeire", *agents)))
        return owner_of(named, runs, tonight).needs(version)

    assert not is_needed()
    assert is_needed(lost, "adapt-16:models:/suphx/1:weak"), "the recipe names it"
    assert not is_needed(lost, "models:/suphx/12")
    assert is_needed(replace(lost, digest="other nets"))
    (folder / "pool" / "pool.json").write_text("[" * 100_000)
    assert not is_needed(), "the storage has them"
    storage.delete(f"{run_id}/pool")
    assert is_needed()
    shutil.rmtree(folder)
    assert is_needed(), "the storage has the games"
    storage.delete(f"{run_id}/leaderboard")
    assert not is_needed(), "no game is left"
    write_json(tonight / "history.json", {**games, "nights": []})
    assert is_needed(), "they are among the games of earlier nights that count tonight"
    assert not is_needed(replace(lost, digest="", tournament=""))


def test_only_candidates_of_nights_of_the_same_name_are_its_own(runs: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "history.json", {**games_json([], {}, code()), "nights": []})
    owner = owner_of(SMALL, runs, tmp_path)
    lost = LostVersion(address="models:/suphx/1", digest="nets", tournament="")
    names = ("nightly-0123456789", "nightly-small-0123456789", "weekly-0123456789", "nightly-1", "")
    assert [owner.owns(replace(lost, tournament=name)) for name in names] == [True, False, False, False, False]


def test_agents_name_versions_in_several_forms() -> None:
    agents = ("models:/a/12", "models:/a/1:weak,sampled", "adapt-16+0.5s:models:/b/3", "models:/a@champion", "ukeire")
    assert named_versions((*agents, "mjai:bot models:/c/4")) == {"models:/a/12", "models:/a/1", "models:/b/3"}


def test_a_night_marks_the_versions_that_its_recipe_names(runs: Path, tmp_path: Path) -> None:
    store, nets = TrackingStore(runs), save_random(tmp_path / "nets")
    with store.start("before", key="before") as tracker:
        lost = Promotion(digest="a", replaces=None, night="1", tags={"tournament": "nightly-0123456789"})
        assert ModelRegistry(store, LOSING.registry).nominate(nets, tracker, lost) == "1"
    agents = ("ukeire", "tsumogiri", "random", "models:/suphx/1:sampled")
    weekly = replace(SMALL, name="weekly", pool=PoolConfig(newest=0, agents=agents))
    play(runs, weekly)
    assert store.client.get_model_version("suphx", "1").tags["suphx.needed_by.weekly"] == "1"
    mark_named(store, replace(weekly, pool=PoolConfig()), pytest.fail)
    assert "suphx.needed_by.weekly" not in store.client.get_model_version("suphx", "1").tags
