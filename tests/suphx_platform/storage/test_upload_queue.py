from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Iterator
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

NAME = "run-1/reinforcement"


class SlowStorage(Storage):
    """A storage on a disk that writes nothing before its gate is opened."""

    def __init__(self, config: StorageConfig) -> None:
        super().__init__(config)
        self.gate = threading.Event()
        self.has_begun = threading.Event()

    def save(self, name: str, folder: Path, *, number: int, score: float | None = None) -> CheckpointVersion:
        self.has_begun.set()
        assert self.gate.wait(60)
        return super().save(name, folder, number=number, score=score)


class AwayStorage(Storage):
    """A storage on a disk that refuses everything while it is away."""

    def __init__(self, config: StorageConfig) -> None:
        super().__init__(config)
        self.is_away = threading.Event()
        self.is_away.set()
        self.asked = 0

    def save(self, name: str, folder: Path, *, number: int, score: float | None = None) -> CheckpointVersion:
        self.asked += 1
        if self.is_away.is_set():
            raise OSError("503 Slow Down")
        return super().save(name, folder, number=number, score=score)

    def wait_until_asked(self, times: int) -> None:
        """Return when it has been asked ``times`` times; fail after a minute."""
        end = time.monotonic() + 60
        while self.asked < times:
            assert time.monotonic() < end
            time.sleep(0.001)


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AwayStorage:
    """Return a storage that is away, and asked again after milliseconds."""
    monkeypatch.setattr(upload_queue, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(upload_queue, "_LONGEST_PAUSE", 0.004)
    return AwayStorage(StorageConfig(address=str(tmp_path / "storage"), keep_last=10))


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[SlowStorage]:
    storage = SlowStorage(StorageConfig(address=str(tmp_path / "storage"), keep_last=10))
    yield storage
    storage.gate.set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def save(uploads: UploadQueue, folder: Path, number: int, score: float | None = None) -> None:
    write_atomically(folder / "state", [f"state {number}".encode()])
    uploads.save(NAME, folder, number=number, score=score)


def test_work_goes_on_while_what_was_there_is_stored(storage: SlowStorage, folder: Path, tmp_path: Path) -> None:
    (folder / ".uploads" / "17").mkdir(parents=True)  # of a killed process
    with UploadQueue(storage) as uploads:
        save(uploads, folder, 1)
        assert storage.has_begun.wait(60)
        write_atomically(folder / "state", [b"later"])
        assert storage.versions(NAME) == []
        storage.gate.set()
    (version,) = storage.versions(NAME)
    assert list(version.files) == ["state"]
    storage.load(version, tmp_path / "loaded")
    assert (tmp_path / "loaded" / "state").read_text() == "state 1"
    assert list((folder / ".uploads").iterdir()) == []


@pytest.mark.parametrize(
    ("scores", "stored"),
    [((None, None, None, None), [1, 5]), ((0.5, 0.1, 0.9, 0.2), [1, 4]), ((0.5, 0.5, 0.5, 0.5), [1, 5])],
)
def test_of_a_name_the_newest_save_waits_and_of_measured_ones_the_best(
    scores: tuple[float | None, ...],
    stored: list[int],
    storage: SlowStorage,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with UploadQueue(storage) as uploads:
        save(uploads, folder, 1)
        assert storage.has_begun.wait(60)
        for number, score in enumerate(scores, start=2):
            save(uploads, folder, number, score)
            assert len(list((folder / ".uploads").iterdir())) == 2
        storage.gate.set()
    assert [version.number for version in storage.versions(NAME)] == stored
    assert caplog.text.count("a newer or stronger one is waiting") == 3


def test_a_storage_that_is_away_is_asked_again_until_it_is_back(
    away: AwayStorage, folder: Path, caplog: pytest.LogCaptureFixture
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
    assert [version.number for version in away.versions(NAME)] == [1]
    assert caplog.text.count("does not take what the run saves; the run goes on and tries again for 6.0 h") == 1
    assert "takes what is saved again" in caplog.text


def test_a_server_that_holds_a_save_for_ever_is_asked_again(
    storage: SlowStorage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_queue, "_REQUEST_SECONDS", 0.01)
    monkeypatch.setattr(upload_queue, "_FIRST_PAUSE", 0.001)
    with UploadQueue(storage) as uploads:
        save(uploads, folder, 1)
        while not uploads.figures()["storage_outage_seconds"]:
            time.sleep(0.001)
        monkeypatch.setattr(upload_queue, "_REQUEST_SECONDS", 60.0)
        storage.gate.set()
    assert {version.number for version in storage.versions(NAME)} == {1}


def test_during_an_outage_newer_saves_replace_the_one_that_waits(away: AwayStorage, folder: Path) -> None:
    with UploadQueue(away) as uploads:
        for number in range(1, 20):
            save(uploads, folder, number)
            away.wait_until_asked(away.asked + 2)
            assert len(list((folder / ".uploads").iterdir())) == 1
        assert uploads.figures()["uploads_waiting"] == 1, "those that were replaced do not wait"
        away.is_away.clear()
    assert [version.number for version in away.versions(NAME)] == [19]


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
    assert [version.number for version in Storage(config).versions(NAME)] == [3]


def save_and_stop(away: AwayStorage, folder: Path) -> None:
    with UploadQueue(away) as uploads:
        save(uploads, folder, 1)
        away.wait_until_asked(2)
        raise KeyboardInterrupt


def test_a_stopped_run_does_not_wait_for_a_storage_that_is_away(away: AwayStorage, folder: Path) -> None:
    with pytest.raises(OSError, match="503"):
        save_and_stop(away, folder)


def test_a_queue_whose_place_another_writer_has_taken_ends_at_once(folder: Path, tmp_path: Path) -> None:
    """Trying again, as after an outage, would never help."""
    config = StorageConfig(address=str(tmp_path / "storage"), max_outage_hours=0.005)
    with UploadQueue(Storage(config)) as earlier:
        save(earlier, folder, 1)
        earlier.flush()
        with UploadQueue(Storage(config)) as later:
            save(later, folder, 2)
        save(earlier, folder, 3)
        with pytest.raises(FileExistsError, match="has another writer since this one began"):
            earlier.flush()
        assert earlier.figures()["storage_outage_seconds"] == 0
    assert [version.number for version in Storage(config).versions(NAME)] == [1, 2]


def test_a_save_whose_folder_was_removed_is_an_error_at_once(
    away: AwayStorage, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Trying again, as after an outage, would never help."""
    with UploadQueue(away) as uploads:
        save(uploads, folder, 1)
        away.wait_until_asked(1)
        shutil.rmtree(folder)
        away.is_away.clear()
        with pytest.raises(FileNotFoundError, match="is no folder: nothing is stored as run-1/reinforcement"):
            uploads.flush()
    assert away.versions(NAME) == []


class LostError(Exception):
    """Stands for whatever ends the work."""


def save_and_fail(storage: Storage, folder: Path) -> None:
    with UploadQueue(storage) as uploads:
        save(uploads, folder, 1)
        raise LostError


def test_a_failed_block_still_stores_and_keeps_its_own_error(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sound = Storage(StorageConfig(address=str(tmp_path / "sound")))
    with pytest.raises(LostError):
        save_and_fail(sound, folder)
    assert len(sound.versions(NAME)) == 1
    (tmp_path / "file").touch()
    with pytest.raises(LostError):
        save_and_fail(Storage(StorageConfig(address=str(tmp_path / "file"))), folder)
    assert "an upload has failed too" in caplog.text


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
        assert [version.number for version in storage.versions(NAME)] == [0, 4]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "inner").mkdir(parents=True)
    for name in ("state.pt", "inner/net.pt", ".writer"):
        (folder / name).write_text(name)
    return folder


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_copy_has_links_and_not_what_is_left_out(source: Path, tmp_path: Path) -> None:
    copy_linked(source, tmp_path / "copy", ".*")
    assert files(tmp_path / "copy") == {"state.pt": "state.pt", "inner/net.pt": "inner/net.pt"}
    assert (tmp_path / "copy/inner/net.pt").samefile(source / "inner/net.pt")


def test_a_disk_without_links_gets_files_of_its_own(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    copy_linked(source, tmp_path / "copy")
    assert files(tmp_path / "copy") == files(source)
    (tmp_path / "copy/state.pt").write_text("changed")
    assert (source / "state.pt").read_text() == "state.pt"
