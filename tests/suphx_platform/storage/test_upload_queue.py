from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx.atomic_file import write_atomically
from suphx_platform.storage import upload_queue
from suphx_platform.storage.bucket import PART_BYTES
from suphx_platform.storage.manifest import CheckpointVersion
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import UploadQueue, copy_linked
from tests.suphx_platform.storage.faulty_proxy import faulty_proxy
from tests.suphx_platform.storage.s3_server import BUCKET, S3Server
from tests.suphx_platform.storage.small_versions import numbers

NAME = "run-1/reinforcement"


class GatedStorage(Storage):
    """A storage on a disk that takes a save only when its gate is open, and refuses all while it is unavailable."""

    def __init__(self, config: StorageConfig) -> None:
        super().__init__(config)
        self.gate, self.is_away = threading.Event(), threading.Event()
        self.num_asked = 0

    def save(self, name: str, folder: Path, *, number: int, score: float | None = None) -> CheckpointVersion:
        self.num_asked += 1
        assert self.gate.wait(60)
        if self.is_away.is_set():
            raise OSError("503 Slow Down")
        return super().save(name, folder, number=number, score=score)

    def wait_until_asked(self, times: int) -> None:
        wait_until(lambda: self.num_asked >= times)


def wait_until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GatedStorage:
    """Return a storage whose gate is closed, and which is asked again after milliseconds."""
    monkeypatch.setattr(upload_queue, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(upload_queue, "_LONGEST_PAUSE", 0.004)
    return GatedStorage(StorageConfig(address=str(tmp_path / "storage"), keep_last=10))


@pytest.fixture
def away(storage: GatedStorage) -> GatedStorage:
    storage.gate.set()
    storage.is_away.set()
    return storage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def save(uploads: UploadQueue, folder: Path, number: int) -> None:
    write_atomically(folder / "state", [f"state {number}".encode()])
    uploads.save(NAME, folder, number=number)


def num_snapshots(folder: Path) -> int:
    return len(list((folder / ".uploads").iterdir()))


def test_work_goes_on_while_a_save_is_stored_and_only_the_newest_waits(
    storage: GatedStorage, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / ".uploads" / "17").mkdir(parents=True)  # of a killed process
    with UploadQueue(storage) as uploads:
        save(uploads, folder, 1)
        storage.wait_until_asked(1)
        for number in range(2, 6):
            save(uploads, folder, number)
            assert num_snapshots(folder) == 2
        write_atomically(folder / "state", [b"later"])
        assert storage.versions(NAME) == []
        storage.gate.set()
    versions = storage.versions(NAME)
    assert [(version.number, list(version.files)) for version in versions] == [(1, ["state"]), (5, ["state"])]
    storage.load(versions[0], tmp_path / "loaded")
    assert (tmp_path / "loaded" / "state").read_text() == "state 1"
    assert num_snapshots(folder) == 0
    assert caplog.text.count("uploads are slow, and a newer one is waiting") == 3


def test_a_storage_that_is_away_is_asked_again_until_it_is_back(
    away: GatedStorage, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with UploadQueue(away) as uploads:
        save(uploads, folder, 1)
        away.wait_until_asked(4)
        figures = uploads.figures()
        assert figures["uploads_waiting"] == 1
        assert figures["storage_outage_seconds"] > 0
        away.is_away.clear()
        uploads.flush()
        assert uploads.figures() == {"uploads_waiting": 0, "storage_outage_seconds": 0}
    assert numbers(away, NAME) == [1]
    told = "does not take what the run saves; the run continues, and saves are retried for 6.0 h"
    assert caplog.text.count(told) == 1
    assert "takes what is saved again" in caplog.text


def test_during_an_outage_newer_saves_replace_the_one_that_waits(away: GatedStorage, folder: Path) -> None:
    with UploadQueue(away) as uploads:
        for number in range(1, 20):
            save(uploads, folder, number)
            away.wait_until_asked(away.num_asked + 2)
            assert num_snapshots(folder) == 1
        assert uploads.figures()["uploads_waiting"] == 1, "those that were replaced do not wait"
        away.is_away.clear()
    assert numbers(away, NAME) == [19]


def test_an_outage_that_is_too_long_is_raised_by_the_next_save_and_then_forgotten(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    config = StorageConfig(address=str(tmp_path / "file"), max_outage_hours=0)
    uploads = UploadQueue(Storage(config))
    save(uploads, folder, 1)
    uploads._wait()
    with pytest.raises(OSError, match=r"file.*nothing could be stored for 0 min \(storage.max_outage_hours\).*repeat"):
        save(uploads, folder, 2)
    (tmp_path / "file").unlink()
    with uploads:
        save(uploads, folder, 3)
    assert numbers(Storage(config), NAME) == [3]


class LostError(Exception):
    """Stands for whatever ends the work."""


def save_and_end(storage: GatedStorage, folder: Path, error: type[BaseException]) -> None:
    with UploadQueue(storage) as uploads:
        save(uploads, folder, 1)
        storage.wait_until_asked(2 if storage.is_away.is_set() else 1)
        raise error


@pytest.mark.parametrize(("ended_by", "raised"), [(KeyboardInterrupt, OSError), (LostError, LostError)])
def test_a_run_that_ends_early_does_not_wait_for_a_storage_that_is_away(
    ended_by: type[BaseException],
    raised: type[BaseException],
    away: GatedStorage,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(raised):
        save_and_end(away, folder, ended_by)
    assert ("an upload has failed too" in caplog.text) == (raised is LostError), "its own error goes first"


def test_a_failed_run_stores_what_waits(storage: GatedStorage, folder: Path) -> None:
    storage.gate.set()
    with pytest.raises(LostError):
        save_and_end(storage, folder, LostError)
    assert numbers(storage, NAME) == [1]


def test_a_queue_whose_place_another_writer_has_taken_ends_at_once(folder: Path, tmp_path: Path) -> None:
    """Trying again, as after an outage, would never help."""
    config = StorageConfig(address=str(tmp_path / "storage"))
    with UploadQueue(Storage(config)) as earlier:
        save(earlier, folder, 1)
        earlier.flush()
        with UploadQueue(Storage(config)) as later:
            save(later, folder, 2)
        save(earlier, folder, 3)
        with pytest.raises(FileExistsError, match="has another writer since this one began"):
            earlier.flush()
        assert earlier.figures()["storage_outage_seconds"] == 0
    assert numbers(Storage(config), NAME) == [1, 2]


def test_a_save_whose_folder_was_removed_is_an_error_at_once(away: GatedStorage, folder: Path) -> None:
    """Trying again, as after an outage, would never help."""
    with UploadQueue(away) as uploads:
        save(uploads, folder, 1)
        away.wait_until_asked(1)
        shutil.rmtree(folder)
        away.is_away.clear()
        with pytest.raises(FileNotFoundError, match=r"there is no folder .*: nothing is stored as run-1/reinforcement"):
            uploads.flush()
    assert away.versions(NAME) == []


@pytest.mark.slow
def test_a_bucket_that_does_not_answer_for_a_while_holds_nobody_up(
    server: S3Server, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "large").write_bytes(os.urandom(3 * PART_BYTES))
    with faulty_proxy(int(server.endpoint_url.rpartition(":")[2])) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{proxy.port}")
        storage = Storage(StorageConfig(address=f"s3://{BUCKET}/{tmp_path.name}"))
        with UploadQueue(storage) as uploads:
            proxy.is_open.clear()
            for number in range(5):
                save(uploads, folder, number)
            assert uploads.figures()["uploads_waiting"] == 2
            proxy.is_open.set()
        assert numbers(storage, NAME) == [0, 4]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_copy_has_links_where_the_disk_allows_and_not_what_is_left_out(
    has_links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "inner").mkdir(parents=True)
    for name in ("state.pt", "inner/net.pt", ".writer"):
        (source / name).write_text(name)
    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    copy_linked(source, copy, ".*")
    found = {str(path.relative_to(copy)): path.read_text() for path in copy.rglob("*") if path.is_file()}
    assert found == {"state.pt": "state.pt", "inner/net.pt": "inner/net.pt"}
    assert (copy / "inner/net.pt").samefile(source / "inner/net.pt") == has_links
