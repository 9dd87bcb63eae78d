"""Which versions a storage has: the last one of a run, those that something refers to, and what frees them.

In a folder and in a real bucket.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from suphx_platform.storage.storage import FINISHED, Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.store_faults import refuse

NAME = "run-1/reinforcement"


@pytest.fixture
def usual(config: StorageConfig) -> Storage:
    return Storage(config)


@pytest.fixture
def storage(config: StorageConfig) -> Storage:
    return Storage(replace(config, keep_last=1, keep_best=0))


def save(storage: Storage, tmp_path: Path, *numbers: int) -> list[str]:
    """Save versions, and return their paths."""
    folder = tmp_path / "nets"
    folder.mkdir(exist_ok=True)
    (folder / "net").write_text("a net")
    return [storage.save(NAME, folder, number=number).path for number in numbers]


def numbers(storage: Storage) -> list[int]:
    return [version.number for version in storage.versions(NAME)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "state").write_text("one")
    return tmp_path / "a"


def test_the_newest_path_is_of_work_under_way_if_there_is_any(usual: Storage, folder: Path) -> None:
    assert usual.newest_path("run-1") is None
    finished = usual.save("run-1/supervised", folder, number=FINISHED)
    assert usual.newest_path("run-1") == finished.path
    usual.save("run-1/reinforcement", folder, number=20)
    newest = usual.save("run-1/oracle", folder, number=100)
    usual.save("run-12/oracle", folder, number=200)
    assert usual.newest_path("run-1") == newest.path


def test_the_newest_path_of_several_names_is_the_one_that_was_saved_last(usual: Storage, folder: Path) -> None:
    usual.save("run-1/supervised", folder, number=90_000)
    later = usual.save("run-1/reinforcement", folder, number=20)
    assert usual.newest_path("run-1") == later.path, "steps of two stages cannot be compared"


def test_of_a_finished_stage_older_versions_are_no_work_under_way(usual: Storage, folder: Path) -> None:
    under_way = usual.save("run-1/oracle", folder, number=20)
    usual.save("run-1/reinforcement", folder, number=90_000)
    finished = usual.save("run-1/reinforcement", folder, number=FINISHED)
    assert usual.newest_path("run-1") == under_way.path
    usual.delete("run-1/oracle")
    assert usual.newest_path("run-1") == finished.path


def test_the_recipe_and_measured_nets_are_no_checkpoint_of_a_run(usual: Storage, folder: Path) -> None:
    usual.save("run-1/origin", folder, number=FINISHED)
    usual.save("run-1/reinforcement/best", folder, number=30)
    assert usual.newest_path("run-1") is None


def test_a_storage_that_refuses_to_write_is_told_at_once(usual: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    usual.reach_to_write()
    assert usual._store.keys("") == []
    monkeypatch.setattr(usual._store, "put_new", refuse)
    usual.reach()
    with pytest.raises(PermissionError, match="AccessDenied"):
        usual.reach_to_write()


def test_that_old_versions_stay_is_told_once(
    usual: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usual._store, "delete", refuse)
    save(usual, tmp_path, *range(1, 8))
    assert numbers(usual) == list(range(1, 8))
    assert caplog.text.count("but old versions are not removed: the server says AccessDenied") == 1


def test_a_storage_that_refuses_to_remove_is_a_warning(
    usual: Storage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usual._store, "delete", refuse)
    usual.reach_to_write()
    usual.reach_to_write()
    assert "refuses to remove objects, so it keeps every version: the server says AccessDenied" in caplog.text
    assert len(usual._store.keys("")) == 1


def test_notes_stand_beside_versions_and_are_none(storage: Storage, tmp_path: Path) -> None:
    storage.put_note("run-1/attempts/2.json", b"{}")
    (saved,) = save(storage, tmp_path, 7)
    assert storage.notes("run-1/attempts/") == {"run-1/attempts/2.json": b"{}"}
    assert storage.notes("run-2/attempts/") == {}
    assert (storage.names(), storage.newest_path("run-1")) == ([NAME], saved)
    with pytest.raises(FileExistsError):
        storage.put_note("run-1/attempts/2.json", b"another")
    storage.delete(NAME)
    assert list(storage.notes("run-1/attempts/")) == ["run-1/attempts/2.json"]
