"""Which old versions of candidates that lost stay in the registry, after real nights."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from suphx_pipelines.engine.json_file import read_json, write_json
from suphx_pipelines.tournament.pool.needed_versions import needed_versions
from suphx_pipelines.tournament.pool.tournament_pool import read_pool
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.lost_versions import LostVersion
from suphx_platform.tracking.model_registry import RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.tournament.small_tournament import SMALL, play
from tests.suphx_platform.parts.small_policy_set import save_random

pytestmark = pytest.mark.usefixtures("short_games")
LOSING = replace(
    SMALL, decision=replace(SMALL.decision, opponent="ukeire"), registry=RegistryConfig(max_lost_versions=1)
)


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
        return needed_versions(named, runs, tonight)(version)

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
