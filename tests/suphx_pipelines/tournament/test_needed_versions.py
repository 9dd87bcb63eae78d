"""Which old versions of candidates that lost stay in the registry, after real nights."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from suphx_pipelines.tournament.pool.needed_versions import needed_versions
from suphx_pipelines.tournament.pool.tournament_pool import read_pool
from suphx_platform.storage.storage import Storage, StorageConfig
from suphx_platform.tracking.lost_versions import LostVersion
from suphx_platform.tracking.model_registry import RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.tournament.small_tournament import SMALL, play
from tests.suphx_platform.parts.small_policy_set import save_random

pytestmark = pytest.mark.usefixtures("short_games")
LOSING = replace(
    SMALL, decision=replace(SMALL.decision, baseline="ukeire"), registry=RegistryConfig(max_lost_versions=1)
)


def versions(runs: Path) -> list[str]:
    found = TrackingStore(runs).client.search_model_versions("name = 'suphx'")
    return sorted(str(version.version) for version in found)


def test_a_version_goes_only_when_its_games_can_still_be_played_again(runs: Path, tmp_path: Path) -> None:
    nights = []
    for number in range(1, 4):
        save_random(runs / f"{'abc'[number - 1]}-1" / "reinforcement", seed=number)
        if number == 3:
            shutil.rmtree(runs / str(nights[1]) / "pool" / "agents")
        nights.append(play(runs, replace(LOSING, night=str(number)))["run_id"])
    assert versions(runs) == ["2", "3"], "1 is deleted, and only the registry has the nets of 2's games"
    shutil.rmtree(runs / str(nights[1]))
    (runs / str(nights[2]) / "promotion" / "done.json").unlink()
    play(runs, replace(LOSING, night="3"))
    assert versions(runs) == ["2", "3"], "the history of the night has the games"


def test_nets_and_games_may_be_in_the_storage(runs: Path, tmp_path: Path) -> None:
    save_random(runs / "a-1" / "reinforcement")
    recipe = replace(LOSING, storage=StorageConfig(address=str(tmp_path / "storage")))
    run_id = str(play(runs, recipe)["run_id"])
    folder, storage = runs / run_id, Storage(recipe.storage)
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
    assert not is_needed(replace(lost, digest="", tournament=""))
