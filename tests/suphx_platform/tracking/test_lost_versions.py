"""Old versions of candidates that lost, with a real store of MLflow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from suphx_platform.tracking.model_registry import (
    MODEL_TAG,
    LostVersion,
    ModelRegistry,
    Promotion,
    RegistryConfig,
    delete_lost_versions,
    fetch_model,
    mark_needed,
)
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


def promotion(text: str, number: int, replaces: str | None = "1", tournament: str = "nightly") -> Promotion:
    tags = {"tournament": f"{tournament}-{number}", "stored": f"s3://b/a {text}/1 s3://b/c/2"}
    return Promotion(digest=text, replaces=replaces, night=str(number), tags=tags)


def lose(
    tracker: Tracker, folder: Path, text: str, number: int, config: RegistryConfig = TWO, tournament: str = "nightly"
) -> str:
    registry = ModelRegistry(tracker.store, config)
    return registry.nominate(nets(folder, text), tracker, promotion(text, number, tournament=tournament))


def fetched(store: TrackingStore, address: str, folder: Path) -> Path:
    fetch_model(store, address, folder / "fetched")
    return folder / "fetched"


def versions(store: TrackingStore) -> set[int]:
    return {int(version.version) for version in store.client.search_model_versions("name = 'suphx'")}


def nobody(version: LostVersion) -> bool:
    return False


@dataclass
class Owner:
    """A tournament."""

    is_needed: Callable[[LostVersion], bool] = nobody
    name: str = "nightly"
    error: str = ""
    released: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def owns(self, version: LostVersion) -> bool:
        return version.tournament.rpartition("-")[0] == self.name

    def needs(self, version: LostVersion) -> bool:
        return self.is_needed(version)

    def release(self, version: LostVersion) -> None:
        if self.error:
            raise OSError(self.error)
        self.released.append((version.address, version.stored))


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
    owner = Owner(is_needed)
    result = delete_lost_versions(store, TWO, owner)
    assert owner.released == [("models:/suphx/2", ("s3://b/a b/1", "s3://b/c/2"))]
    assert (result.deleted, result.left_models) == (["models:/suphx/2"], [])
    assert versions(store) == {1, 3, 4, 5, 6, 7, 8}, "3 has an alias, 4 is needed, 5 and 6 are the newest"
    assert asked[0] == ("models:/suphx/4", "d", "nightly-4")
    left = {each.model_id for each in store.client.search_logged_models([store.experiment_id()])}
    assert model not in left
    assert len(left) == 6
    assert delete_lost_versions(store, TWO, Owner(is_needed)).deleted == []
    store.client.delete_registered_model_alias("suphx", "favourite")
    assert delete_lost_versions(store, TWO, Owner()).deleted == ["models:/suphx/4", "models:/suphx/3"]
    assert registry.champion() == "7"


def test_a_model_of_two_versions_goes_with_the_second_one(store: TrackingStore, night: Tracker, tmp_path: Path) -> None:
    for number, text in enumerate(("same", "same", "x", "y"), 1):
        lose(night, tmp_path, text, number)
    first, second = (store.client.get_model_version("suphx", version).tags[MODEL_TAG] for version in ("1", "2"))
    assert first == second
    one_more = RegistryConfig(max_lost_versions=3)
    assert delete_lost_versions(store, one_more, Owner()).deleted == ["models:/suphx/1"]
    assert len(store.client.search_logged_models([store.experiment_id()])) == 3
    assert delete_lost_versions(store, TWO, Owner()).deleted == ["models:/suphx/2"]
    assert len(store.client.search_logged_models([store.experiment_id()])) == 2


def test_a_kill_between_model_and_version_is_mended_by_the_next_call(
    store: TrackingStore, night: Tracker, tmp_path: Path
) -> None:
    for number, text in enumerate("abc", 1):
        lose(night, tmp_path, text, number)
    store.client.delete_logged_model(store.client.get_model_version("suphx", "1").tags[MODEL_TAG])
    assert delete_lost_versions(store, TWO, Owner()).deleted == ["models:/suphx/1"]


def test_without_a_limit_all_stay(store: TrackingStore, night: Tracker, tmp_path: Path) -> None:
    for number, text in enumerate("abc", 1):
        lose(night, tmp_path, text, number)
    assert delete_lost_versions(store, RegistryConfig(max_lost_versions=0), Owner()).deleted == []
    assert versions(store) == {1, 2, 3}


def test_a_registry_without_versions_is_left_alone(store: TrackingStore) -> None:
    assert delete_lost_versions(store, TWO, Owner()).deleted == []


def test_a_version_stays_if_what_it_kept_cannot_be_freed_now(
    store: TrackingStore, night: Tracker, tmp_path: Path
) -> None:
    for number, text in enumerate("abc", 1):
        lose(night, tmp_path, text, number)
    with pytest.raises(OSError, match="no answer"):
        delete_lost_versions(store, TWO, Owner(error="no answer"))
    assert versions(store) == {1, 2, 3}
    assert delete_lost_versions(store, TWO, Owner()).deleted == ["models:/suphx/1"]


def test_a_tournament_deletes_and_counts_only_its_own_versions(
    store: TrackingStore, night: Tracker, tmp_path: Path
) -> None:
    for number, text in enumerate("abcd", 1):
        lose(night, tmp_path, text, number)
    for number, text in enumerate("efgh", 5):
        lose(night, tmp_path, text, number, tournament="weekly")
    assert delete_lost_versions(store, TWO, Owner()).deleted == ["models:/suphx/2", "models:/suphx/1"]
    assert delete_lost_versions(store, TWO, Owner(name="weekly")).deleted == ["models:/suphx/6", "models:/suphx/5"]
    assert versions(store) == {3, 4, 7, 8}


def test_a_version_in_the_recipe_of_another_tournament_stays_as_long_as_it_is_there(
    store: TrackingStore, night: Tracker, tmp_path: Path
) -> None:
    other = RegistryConfig(model="other", max_lost_versions=1)
    for number, text in enumerate("abcde", 1):
        lose(night, tmp_path, text, number)
        lose(night, tmp_path, text, number, other)
    mark_needed(store, "weekly", "1", {"models:/suphx/1", "models:/suphx/99", "models:/no-such/1", "models:/other/2"})
    mark_needed(store, "nightly", "1", {"models:/suphx/2"})
    assert delete_lost_versions(store, TWO, Owner()).deleted == ["models:/suphx/3", "models:/suphx/2"]
    assert delete_lost_versions(store, other, Owner()).deleted == [f"models:/other/{number}" for number in (4, 3, 1)]
    mark_needed(store, "weekly", "2", set())
    assert delete_lost_versions(store, TWO, Owner()).deleted == ["models:/suphx/1"]
    assert delete_lost_versions(store, other, Owner()).deleted == ["models:/other/2"]


def test_the_nets_of_a_version_of_another_registered_model_stay(
    store: TrackingStore, night: Tracker, tmp_path: Path
) -> None:
    other = replace(TWO, model="other")
    for number, text in enumerate("abc", 1):
        lose(night, tmp_path, text, number)
    lose(night, tmp_path, "a", 1, other)
    model = store.client.get_model_version("other", "1").tags[MODEL_TAG]
    assert store.client.get_model_version("suphx", "1").tags[MODEL_TAG] == model
    assert delete_lost_versions(store, TWO, Owner()).deleted == ["models:/suphx/1"]
    assert store.client.get_logged_model(model).status == "READY"
    assert (fetched(store, "models:/other/1", tmp_path) / "discard.safetensors").read_text() == "a"
