"""Several writers of one name, and of one object, in a folder and in a real bucket: one wins, the others are told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suphx_platform.storage.bucket import ObjectStore
from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.store_faults import refuse

NAME = "run-1/supervised/discard"


def fill(folder: Path, text: str) -> Path:
    (folder / "deep").mkdir(parents=True, exist_ok=True)
    (folder / "state").write_text(text)
    (folder / "deep" / "empty").touch()
    return folder


def text_of(folder: Path) -> str:
    return (folder / "state").read_text()


def before(store: ObjectStore, call: str, overtake: Callable[[], object]) -> None:
    """Have another writer overtake this one just before its store makes its first call of a kind for a version."""
    made, is_due, lock = getattr(store, call), [True], threading.Lock()

    def make(key: str, *arguments: object) -> object:
        with lock:
            if is_due and "/.writers/" not in key:
                is_due.clear()
                overtake()
        return made(key, *arguments)

    setattr(store, call, make)


def test_keys_that_may_not_delete_are_enough_to_save_after_a_restart(
    config: StorageConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(tmp_path / "a", "any")
    Storage(config).save(NAME, folder, number=1)
    again = Storage(config)

    monkeypatch.setattr(again._store, "delete", refuse)
    again.save(NAME, folder, number=2)
    assert [version.number for version in again.versions(NAME)][-1] == 2


def test_keys_that_may_not_list_uploads_cause_no_warning_at_every_save(
    config: StorageConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    storage, folder = Storage(config), fill(tmp_path / "a", "any")

    monkeypatch.setattr(storage._store, "delete_unfinished", refuse)
    for number in range(1, 6):
        storage.save(NAME, folder, number=number)
    assert [version.number for version in storage.versions(NAME)] == [4, 5], "old versions are removed all the same"
    assert caplog.messages == []


def test_a_writer_that_was_replaced_sends_nothing(config: StorageConfig, tmp_path: Path) -> None:
    earlier, folder = Storage(config), fill(tmp_path / "a", "any")
    earlier.save(NAME, folder, number=1)
    Storage(config).save(NAME, folder, number=2)
    sent: list[str] = []
    before(earlier._store, "upload", lambda: sent.append("a file"))
    with pytest.raises(FileExistsError, match="has another writer since this one began"):
        earlier.save(NAME, folder, number=3)
    assert sent == []


def test_of_two_processes_the_later_one_goes_on_and_the_earlier_one_is_told(
    config: StorageConfig, tmp_path: Path
) -> None:
    earlier, later = Storage(config), Storage(config)
    folder = fill(tmp_path / "a", "any")
    earlier.save(NAME, folder, number=1)
    later.save(NAME, folder, number=2)
    with pytest.raises(FileExistsError, match="has another writer since this one began: let only one of them work on"):
        earlier.save(NAME, folder, number=3)
    later.save(NAME, folder, number=4)
    earlier.save("run-2/other", folder, number=1)
    versions = later.versions(NAME)
    assert [version.number for version in versions] == [2, 4]
    owned = {key for v in versions for key in (f"{v.path}/{MANIFEST}", *map(v.key, v.files))}
    assert set(later._store.keys(f"{NAME}/")) == {*owned, f"{NAME}/.writers/000002"}, "one mark, of the last writer"
    later.delete(NAME)
    assert later._store.keys(f"{NAME}/") == []


def test_a_writer_that_is_replaced_while_it_sends_is_told_and_leaves_nothing(
    config: StorageConfig, storage: Storage, tmp_path: Path
) -> None:
    earlier, folder = Storage(config), fill(tmp_path / "a", "any")
    earlier.save(NAME, folder, number=1)
    before(earlier._store, "upload", lambda: storage.save(NAME, folder, number=2))
    with pytest.raises(FileExistsError, match="has another writer since this one began"):
        earlier.save(NAME, folder, number=3)
    versions = storage.versions(NAME)
    assert [version.number for version in versions] == [1, 2]
    owned = {key for v in versions for key in (f"{v.path}/{MANIFEST}", *map(v.key, v.files))}
    assert set(storage._store.keys(f"{NAME}/")) == {*owned, f"{NAME}/.writers/000002"}


def test_a_writer_that_was_replaced_is_told_although_the_other_has_its_epoch(storage: Storage, tmp_path: Path) -> None:
    other = Storage(storage.config)
    storage.save(NAME, fill(tmp_path / "a", "first"), number=1)
    other.delete(NAME)
    other.save(NAME, fill(tmp_path / "a", "other"), number=2)
    with pytest.raises(FileExistsError, match="has another writer"):
        storage.save(NAME, fill(tmp_path / "a", "first"), number=3)
    assert [version.number for version in other.versions(NAME)] == [2]


def test_a_replaced_writer_stays_replaced_when_all_versions_are_deleted(storage: Storage, tmp_path: Path) -> None:
    earlier, folder = Storage(storage.config), fill(tmp_path / "a", "any")
    earlier.save(NAME, folder, number=1)
    storage.save(NAME, folder, number=2)
    storage.delete(NAME)
    with pytest.raises(FileExistsError, match="has another writer"):
        earlier.save(NAME, folder, number=3)
    assert storage.versions(NAME) == []


@pytest.mark.parametrize(("call", "is_gone"), [("upload", False), ("put_new", False), ("upload", True)])
def test_of_two_who_write_one_version_one_wins_and_the_other_is_told(
    call: str, is_gone: bool, config: StorageConfig, storage: Storage, tmp_path: Path
) -> None:
    """``is_gone``: the loser finds that what it has sent is no longer there."""
    loser, folder = Storage(config), fill(tmp_path / "a", "the winner's")

    def finish() -> None:
        storage.save(NAME, folder, number=1)
        if is_gone:
            raise FileNotFoundError("no such upload")

    before(loser._store, call, finish)
    with pytest.raises(
        FileExistsError, match=r"has another writer since this one began: let only one of them work on run-1"
    ):
        loser.save(NAME, fill(tmp_path / "b", "the loser's"), number=1)
    (version,) = storage.versions(NAME)
    storage.load(version, tmp_path / "c")
    assert text_of(tmp_path / "c") == "the winner's"
    owned = {f"{version.path}/{MANIFEST}", *map(version.key, version.files)}
    left = {key for key in storage._store.keys(f"{NAME}/") if "/.writers/" not in key}
    assert left == owned, "the loser's files are still there"


def test_a_manifest_of_our_own_that_arrives_late_is_no_other_writers(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network loses a manifest, and delivers it just before the next one."""
    put_new, lost = storage._store.put_new, list[tuple[str, bytes]]()

    def put_late(key: str, data: bytes) -> None:
        if key.endswith(f"/{MANIFEST}") and not lost:
            lost.append((key, data))
            raise OSError("no answer")
        if key.endswith(f"/{MANIFEST}") and lost[-1]:
            put_new(*lost[-1])
            lost.append(())  # type: ignore[arg-type]
        put_new(key, data)

    monkeypatch.setattr(storage._store, "put_new", put_late)
    with pytest.raises(OSError, match="no answer"):
        storage.save(NAME, fill(tmp_path / "a", "first"), number=1)
    storage.save(NAME, fill(tmp_path / "b", "second"), number=1)
    versions = storage.versions(NAME)
    assert [version.path.rpartition("/")[2] for version in versions] == [f"{1:012}.001", f"{1:012}.002"]
    for version, text in zip(versions, ("first", "second"), strict=True):
        storage.load(version, tmp_path / "c")
        assert text_of(tmp_path / "c") == text


def test_versions_of_many_writers_at_once_are_all_whole(config: StorageConfig, tmp_path: Path) -> None:
    def save(writer: int) -> str:
        try:
            storage = Storage(StorageConfig(address=config.address, keep_last=100))
            return storage.save(NAME, fill(tmp_path / str(writer), f"of {writer}"), number=1).path
        except FileExistsError:
            return ""

    with ThreadPoolExecutor(6) as pool:
        won = [path for path in pool.map(save, range(6)) if path]
    storage = Storage(config)
    versions = storage.versions(NAME)
    assert [version.path for version in versions] == sorted(won)
    assert won
    for version in versions:
        storage.load(version, tmp_path / "loaded")


def test_of_many_writers_of_one_new_object_one_wins(storage: Storage) -> None:
    def put(number: int) -> bool:
        try:
            storage._store.put_new("lock", str(number).encode())
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(put, range(8)))
    assert sum(won) == 1
    assert storage._store.get("lock").decode() == str(won.index(True))
