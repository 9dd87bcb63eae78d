"""Several writers of one name, and of one object, in a folder and in a bucket: one wins, the others get an error."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.objects import ObjectStore
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.small_versions import NAME, fill, numbers, text_of, unowned

REPLACED = r"has another writer since this one began: let only one of them work on run-1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path / "a", "any")


@pytest.fixture
def earlier(config: StorageConfig, folder: Path) -> Storage:
    """A writer that has stored version 1."""
    storage = Storage(config)
    storage.save(NAME, folder, number=1)
    return storage


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


def marks(storage: Storage) -> list[str]:
    return storage._store.keys(f"{NAME}/.writers/")


def test_a_writer_that_was_replaced_sends_nothing(earlier: Storage, storage: Storage, folder: Path) -> None:
    storage.save(NAME, folder, number=2)
    sent: list[str] = []
    before(earlier._store, "upload", lambda: sent.append("a file"))
    with pytest.raises(FileExistsError, match=REPLACED):
        earlier.save(NAME, folder, number=3)
    assert sent == []


def test_of_two_processes_the_later_one_goes_on(earlier: Storage, storage: Storage, folder: Path) -> None:
    storage.save(NAME, folder, number=2)
    with pytest.raises(FileExistsError, match=REPLACED):
        earlier.save(NAME, folder, number=3)
    storage.save(NAME, folder, number=4)
    earlier.save("run-2/other", folder, number=1)
    assert numbers(storage) == [2, 4]
    assert unowned(storage) == set()
    assert marks(storage) == [f"{NAME}/.writers/000002"], "one mark, of the last writer"
    storage.delete(NAME)
    assert storage._store.keys(f"{NAME}/") == []


def test_a_writer_that_is_replaced_while_it_sends_leaves_nothing(
    earlier: Storage, storage: Storage, folder: Path
) -> None:
    before(earlier._store, "upload", lambda: storage.save(NAME, folder, number=2))
    with pytest.raises(FileExistsError, match=REPLACED):
        earlier.save(NAME, folder, number=3)
    assert numbers(storage) == [1, 2]
    assert unowned(storage) == set()
    assert marks(storage) == [f"{NAME}/.writers/000002"]


@pytest.mark.parametrize("is_saved_again", [True, False])
def test_a_replaced_writer_stays_replaced_when_all_versions_are_deleted(
    is_saved_again: bool, earlier: Storage, storage: Storage, folder: Path
) -> None:
    """``is_saved_again``: the other writer has the epoch of this one then."""
    if not is_saved_again:
        storage.save(NAME, folder, number=2)
    storage.delete(NAME)
    if is_saved_again:
        storage.save(NAME, folder, number=2)
    with pytest.raises(FileExistsError, match=REPLACED):
        earlier.save(NAME, folder, number=3)
    assert numbers(storage) == [2] * is_saved_again


@pytest.mark.parametrize(("call", "is_gone"), [("upload", False), ("put_new", False), ("upload", True)])
def test_of_two_who_write_one_version_one_wins(
    call: str, is_gone: bool, config: StorageConfig, storage: Storage, tmp_path: Path
) -> None:
    """``is_gone``: the loser finds that what it has sent is no longer there."""
    loser, folder = Storage(config), fill(tmp_path / "a", "the winner's")

    def finish() -> None:
        storage.save(NAME, folder, number=1)
        if is_gone:
            raise FileNotFoundError("no such upload")

    before(loser._store, call, finish)
    with pytest.raises(FileExistsError, match=REPLACED):
        loser.save(NAME, fill(tmp_path / "b", "the loser's"), number=1)
    (version,) = storage.versions(NAME)
    storage.load(version, tmp_path / "c")
    assert text_of(tmp_path / "c") == "the winner's"
    assert unowned(storage) == set(), "the loser's files are still there"


def test_a_manifest_of_our_own_that_arrives_late_is_not_another_writers(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network loses a manifest, and delivers it just before the next one."""
    put_new, lost, num_manifests = storage._store.put_new, list[tuple[str, bytes]](), 0

    def put_late(key: str, data: bytes) -> None:
        nonlocal num_manifests
        num_manifests += key.endswith(f"/{MANIFEST}")
        if num_manifests == 1 and not lost:
            lost.append((key, data))
            raise OSError("no answer")
        if num_manifests == 2 and lost:
            put_new(*lost.pop())
        put_new(key, data)

    monkeypatch.setattr(storage._store, "put_new", put_late)
    with pytest.raises(OSError, match="no answer"):
        storage.save(NAME, fill(tmp_path / "a", "first"), number=1)
    storage.save(NAME, fill(tmp_path / "b", "second"), number=1)
    versions = storage.versions(NAME)
    assert [version.path.rpartition("/")[2] for version in versions] == [f"{1:012}.001", f"{1:012}.002"]
    storage.load(versions[-1], tmp_path / "c")
    assert text_of(tmp_path / "c") == "second"


@pytest.mark.parametrize("error", [OSError("no answer"), KeyboardInterrupt("Ctrl-C")], ids=["lost", "stopped"])
def test_a_version_whose_manifest_arrived_although_the_save_failed_is_whole(
    error: BaseException, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_new = storage._store.put_new

    def put_without_answer(key: str, data: bytes) -> None:
        put_new(key, data)
        if key.endswith(f"/{MANIFEST}"):
            raise error

    monkeypatch.setattr(storage._store, "put_new", put_without_answer)
    with pytest.raises(type(error), match=str(error)):
        storage.save(NAME, fill(tmp_path / "a", "first"), number=1)
    (version,) = storage.versions(NAME)
    storage.load(version, tmp_path / "c")
    assert text_of(tmp_path / "c") == "first"


def test_versions_of_many_writers_at_once_are_all_whole(config: StorageConfig, tmp_path: Path) -> None:
    def save(writer: int) -> str:
        try:
            storage = Storage(replace(config, keep_last=100))
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
