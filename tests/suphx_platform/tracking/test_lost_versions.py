"""Old versions of candidates that lost, with a real store of MLflow."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx_platform.tracking.lost_versions import LostVersion, delete_lost_versions
from suphx_platform.tracking.model_registry import MODEL_TAG, ModelRegistry, RegistryConfig
from suphx_platform.tracking.promotion import Promotion
from suphx_platform.tracking.tracking import Tracker, TrackingStore

TWO = RegistryConfig(max_lost_versions=2)


@pytest.fixture
def store(runs: Path) -> TrackingStore:
    return TrackingStore(runs)


@pytest.fixture
def night(store: TrackingStore) -> Tracker:
    return store.start("night", key="night")


def nets(folder: Path, text: str) -> Path:
    (folder / text).mkdir(exist_ok=True)
    (folder / text / "discard.safetensors").write_text(text)
    return folder / text


def promotion(text: str, number: int, replaces: str | None = "1") -> Promotion:
    return Promotion(digest=text, replaces=replaces, night=str(number), tags={"tournament": f"nightly-{number}"})


def lose(tracker: Tracker, folder: Path, text: str, number: int) -> str:
    registry = ModelRegistry(tracker.store, TWO)
    return registry.nominate(nets(folder, text), tracker, promotion(text, number))


def versions(store: TrackingStore) -> set[int]:
    return {int(version.version) for version in store.client.search_model_versions("name = 'suphx'")}


def nobody(version: LostVersion) -> bool:
    return False


def test_only_old_losers_that_nothing_refers_to_are_deleted_with_their_models(
    store: TrackingStore, night: Tracker, tmp_path: Path
) -> None:
    registry = ModelRegistry(store, TWO)
    assert registry.promote(nets(tmp_path, "a"), night, promotion("a", 1, None)) == "1"
    for number, text in enumerate("bcdef", 2):
        lose(night, tmp_path, text, number)
    assert registry.promote(nets(tmp_path, "g"), night, promotion("g", 7)) == "7", "version 1 was a champion"
    source = store.client.get_model_version("suphx", "2").source
    assert source is not None
    store.client.create_model_version("suphx", source)  # 8, by hand
    store.client.set_registered_model_alias("suphx", "favourite", "3")
    asked = []

    def is_needed(version: LostVersion) -> bool:
        asked.append((version.address, version.digest, version.tournament))
        return version.digest == "d"

    model = store.client.get_model_version("suphx", "2").tags[MODEL_TAG]
    result = delete_lost_versions(store, TWO, is_needed)
    assert (result.deleted, result.left_models) == (["models:/suphx/2"], [])
    assert versions(store) == {1, 3, 4, 5, 6, 7, 8}, "3 has an alias, 4 is needed, 5 and 6 are the newest"
    assert asked[0] == ("models:/suphx/4", "d", "nightly-4")
    left = {each.model_id for each in store.client.search_logged_models([store.experiment_id()])}
    assert model not in left
    assert len(left) == 6
    assert delete_lost_versions(store, TWO, is_needed).deleted == []
    store.client.delete_registered_model_alias("suphx", "favourite")
    assert delete_lost_versions(store, TWO, nobody).deleted == ["models:/suphx/4", "models:/suphx/3"]
    assert registry.champion() == "7"


def test_a_model_of_two_versions_goes_with_the_second_one(store: TrackingStore, night: Tracker, tmp_path: Path) -> None:
    for number, text in enumerate(("same", "same", "x", "y"), 1):
        lose(night, tmp_path, text, number)
    first, second = (store.client.get_model_version("suphx", version).tags[MODEL_TAG] for version in ("1", "2"))
    assert first == second
    one_more = RegistryConfig(max_lost_versions=3)
    assert delete_lost_versions(store, one_more, nobody).deleted == ["models:/suphx/1"]
    assert len(store.client.search_logged_models([store.experiment_id()])) == 3
    assert delete_lost_versions(store, TWO, nobody).deleted == ["models:/suphx/2"]
    assert len(store.client.search_logged_models([store.experiment_id()])) == 2


def test_a_kill_between_model_and_version_is_mended_by_the_next_call(
    store: TrackingStore, night: Tracker, tmp_path: Path
) -> None:
    for number, text in enumerate("abc", 1):
        lose(night, tmp_path, text, number)
    store.client.delete_logged_model(store.client.get_model_version("suphx", "1").tags[MODEL_TAG])
    assert delete_lost_versions(store, TWO, nobody).deleted == ["models:/suphx/1"]


def test_without_a_limit_all_stay(store: TrackingStore, night: Tracker, tmp_path: Path) -> None:
    for number, text in enumerate("abc", 1):
        lose(night, tmp_path, text, number)
    assert delete_lost_versions(store, RegistryConfig(max_lost_versions=0), nobody).deleted == []
    assert versions(store) == {1, 2, 3}


def test_a_registry_without_versions_is_left_alone(store: TrackingStore) -> None:
    assert delete_lost_versions(store, TWO, nobody).deleted == []
