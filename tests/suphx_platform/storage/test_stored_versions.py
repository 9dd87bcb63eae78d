"""The last checkpoint of a run, and whether a storage can be used: in a folder and in a real bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx_platform.storage.objects.object_store import ObjectStore
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.stored_versions import FINISHED


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "state").write_text("one")
    return tmp_path / "a"


def test_the_newest_path_is_of_work_under_way_if_there_is_any(storage: Storage, folder: Path) -> None:
    assert storage.newest_path("run-1") is None
    finished = storage.save("run-1/supervised", folder, number=FINISHED)
    assert storage.newest_path("run-1") == finished.path
    storage.save("run-1/reinforcement", folder, number=20)
    newest = storage.save("run-1/oracle", folder, number=100)
    storage.save("run-12/oracle", folder, number=200)
    assert storage.newest_path("run-1") == newest.path


def test_the_newest_path_of_several_names_is_the_one_that_was_saved_last(storage: Storage, folder: Path) -> None:
    storage.save("run-1/supervised", folder, number=90_000)
    later = storage.save("run-1/reinforcement", folder, number=20)
    assert storage.newest_path("run-1") == later.path, "steps of two stages cannot be compared"


def test_of_a_finished_stage_older_versions_are_no_work_under_way(storage: Storage, folder: Path) -> None:
    under_way = storage.save("run-1/oracle", folder, number=20)
    storage.save("run-1/reinforcement", folder, number=90_000)
    finished = storage.save("run-1/reinforcement", folder, number=FINISHED)
    assert storage.newest_path("run-1") == under_way.path
    storage.delete("run-1/oracle")
    assert storage.newest_path("run-1") == finished.path


def test_the_recipe_and_measured_nets_are_no_checkpoint_of_a_run(storage: Storage, folder: Path) -> None:
    storage.save("run-1/origin", folder, number=FINISHED)
    storage.save("run-1/reinforcement/best", folder, number=30)
    assert storage.newest_path("run-1") is None


class Refusing:
    """A store that may be read only."""

    def __init__(self, store: ObjectStore, call: str) -> None:
        self._store, self._call = store, call

    def __getattr__(self, name: str) -> object:
        return self._refuse if name == self._call else getattr(self._store, name)

    def _refuse(self, *_: object) -> None:
        raise PermissionError("the server says AccessDenied")


@pytest.mark.parametrize("call", ["put_new", "delete"])
def test_a_storage_that_refuses_to_write_or_to_remove_is_told_at_once(call: str, storage: Storage) -> None:
    storage.reach_to_write()
    assert storage._store.keys("") == []
    storage._store = Refusing(storage._store, call)  # type: ignore[assignment]
    storage.reach()
    with pytest.raises(PermissionError, match="AccessDenied"):
        storage.reach_to_write()
