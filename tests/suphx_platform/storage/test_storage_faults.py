"""Killed writers, cut connections, power cuts, full and missing disks, and what shared disks do."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suphx_platform.storage import objects
from suphx_platform.storage.bucket import PART_BYTES
from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.objects import FolderStore
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.disk_faults import Call, files_limited_to, trace_disk
from tests.repository import REPOSITORY
from tests.suphx_platform.storage.faulty_proxy import FaultyProxy, faulty_proxy
from tests.suphx_platform.storage.s3_server import BUCKET, S3Server
from tests.suphx_platform.storage.small_versions import fill, numbers, unowned

NAME = "run-1/reinforcement"
SAVE = """
import sys
from pathlib import Path
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
address, folder, number = sys.argv[1:]
Storage(StorageConfig(address=address, threads=1)).save("run-1/reinforcement", Path(folder), number=int(number))
"""


def folder_of(path: Path, *, num_files: int, num_bytes: int) -> Path:
    path.mkdir()
    for index in range(num_files):
        (path / f"{index:03}").write_bytes(os.urandom(num_bytes))
    return path


def kill_in_the_middle(address: str, folder: Path, number: int, has_begun: Callable[[], bool]) -> None:
    """Let another process save ``folder``, and kill it when it has begun to."""
    writer = subprocess.Popen([sys.executable, "-c", SAVE, address, str(folder), str(number)], cwd=REPOSITORY)
    while not has_begun():
        assert writer.poll() is None, "the writer ended before it was seen to begin"
        time.sleep(0.001)
    writer.send_signal(signal.SIGKILL)
    writer.wait()


# Stops for good at the first file whose name begins with 2, and says so.
STOP = """
import sys
def stop(event, arguments):
    if event == "open" and "/many/2" in str(arguments[0]):
        print("stopped", flush=True)
        sys.stdin.read()
sys.addaudithook(stop)
"""


def test_a_writer_killed_in_the_middle_of_a_copy_leaves_the_versions_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "storage"
    storage = Storage(StorageConfig(address=str(place)))
    small = folder_of(tmp_path / "small", num_files=1, num_bytes=10)
    first = storage.save(NAME, small, number=1)
    many = folder_of(tmp_path / "many", num_files=400, num_bytes=1 << 16)
    command = [sys.executable, "-c", STOP + SAVE, str(place), str(many), "2"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=REPOSITORY, text=True, stdin=pipe, stdout=pipe) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "stopped\n"
        writer.kill()
    assert any(place.glob(f"{NAME}/000000000002.*/*/0*")), "nothing was under way"
    assert not list(place.glob(f"{NAME}/000000000002.*/{MANIFEST}"))
    assert storage.load_newest(NAME, tmp_path / "loaded") == first
    monkeypatch.setattr("suphx_platform.storage.storage._GRACE_SECONDS", 0.0)
    Storage(storage.config).save(NAME, small, number=2)
    assert numbers(storage, NAME) == [1, 2]
    assert unowned(storage, NAME) == set()


@pytest.mark.slow
def test_a_writer_killed_in_the_middle_of_an_upload_leaves_the_versions_before(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = tmp_path.name
    config = StorageConfig(address=f"s3://{BUCKET}/{prefix}")
    storage = Storage(config)
    client = server.client()

    def uploads() -> list[dict[str, str]]:
        found: list[dict[str, str]] = client.list_multipart_uploads(Bucket=BUCKET, Prefix=prefix).get("Uploads", [])
        return found

    small = folder_of(tmp_path / "small", num_files=1, num_bytes=10)
    first = storage.save(NAME, small, number=1)
    large = folder_of(tmp_path / "large", num_files=2, num_bytes=6 * PART_BYTES)
    kill_in_the_middle(config.address, large, 2, lambda: bool(uploads()))
    assert numbers(storage, NAME) == [1], "the writer was faster"
    assert storage.load_newest(NAME, tmp_path / "loaded") == first
    assert uploads(), "nothing was under way"
    monkeypatch.setattr("suphx_platform.storage.storage._GRACE_SECONDS", 0.0)
    second = Storage(config).save(NAME, small, number=2)
    assert [version.path for version in storage.versions(NAME)] == [first.path, second.path]
    assert uploads() == [], "parts of a dead writer are still stored"
    client.create_multipart_upload(Bucket=BUCKET, Key=f"{prefix}/{NAME}/{3:012}.001/{'0' * 32}/state")
    Storage(config).delete(NAME)
    assert uploads() == [], "parts of a dead writer are still stored after the deletion"


@pytest.fixture
def proxy(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    with faulty_proxy(int(server.endpoint_url.rpartition(":")[2])) as running:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{running.port}")
        yield running


@pytest.mark.slow
def test_a_manifest_whose_answer_was_lost_is_still_ours(proxy: FaultyProxy, tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=f"s3://{BUCKET}/{tmp_path.name}"))
    path = f"/{BUCKET}/{tmp_path.name}/{NAME}/{1:012}.001/{MANIFEST}"
    proxy.cut(f"PUT {path}".encode(), 0)
    version = storage.save(NAME, folder_of(tmp_path / "a", num_files=1, num_bytes=10), number=1)
    assert proxy.num_cut == 1
    assert storage.versions(NAME) == [version]


@pytest.mark.slow
def test_connections_cut_in_the_middle_of_answers_cost_nothing_but_time(proxy: FaultyProxy, tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=f"s3://{BUCKET}/{tmp_path.name}"))
    folder = folder_of(tmp_path / "a", num_files=2, num_bytes=2 * PART_BYTES)
    proxy.cut(b"PUT ", 0, times=3)
    version = storage.save(NAME, folder, number=1)
    proxy.cut(f"GET /{BUCKET}/{tmp_path.name}/{version.key('000')}".encode(), 100_000, times=2)
    storage.load(version, tmp_path / "b")
    assert proxy.num_cut == 5
    assert all((tmp_path / "b" / name).read_bytes() == (folder / name).read_bytes() for name in ("000", "001"))


def test_a_full_disk_is_named_and_the_versions_before_stay(tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage")))
    first = storage.save(NAME, folder_of(tmp_path / "a", num_files=1, num_bytes=10), number=1)
    large = folder_of(tmp_path / "b", num_files=1, num_bytes=10_000)
    with files_limited_to(5000), pytest.raises(OSError, match=r"cannot write .*storage.*; free space in"):
        storage.save(NAME, large, number=2)
    assert storage.versions(NAME) == [first]
    second = storage.save(NAME, large, number=2)
    with files_limited_to(5000), pytest.raises(OSError, match=r"cannot write .*loaded.*; free space in"):
        storage.load(second, tmp_path / "loaded")
    assert not (tmp_path / "loaded").exists()
    assert not (tmp_path / ".loaded.partial").exists()


@pytest.mark.parametrize("is_empty_there", [False, True])
def test_a_storage_whose_disk_is_gone_is_an_outage_and_is_not_made_again(is_empty_there: bool, tmp_path: Path) -> None:
    place, away = tmp_path / "storage", tmp_path / "away"
    storage = Storage(StorageConfig(address=str(place)))
    folder = folder_of(tmp_path / "a", num_files=1, num_bytes=10)
    storage.save(NAME, folder, number=1)
    place.rename(away)
    if is_empty_there:  # as where a disk was mounted
        place.mkdir()
    for name in (NAME, "run-1/new"):
        with pytest.raises(OSError, match="storage is no longer the folder that it was: check that its disk") as raised:
            storage.save(name, folder, number=2)
        assert not isinstance(raised.value, FileExistsError), "an upload queue would not try again"
    if is_empty_there:
        place.rmdir()
    assert not place.exists()
    away.rename(place)
    storage.save(NAME, folder, number=2)
    assert numbers(storage, NAME) == [1, 2]


def test_a_storage_that_is_copied_to_another_disk_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "storage"
    storage = Storage(StorageConfig(address=str(place)))
    folder = folder_of(tmp_path / "a", num_files=1, num_bytes=10)
    storage.save(NAME, folder, number=1)
    shutil.copytree(place, tmp_path / "copy")
    place.rename(tmp_path / "away")
    (tmp_path / "copy").rename(place)
    storage.save(NAME, folder, number=2)
    assert numbers(storage, NAME) == [1, 2]


def test_the_disk_has_every_file_of_a_version_before_its_manifest_and_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage")))
    calls = trace_disk(monkeypatch)
    version = storage.save(NAME, fill(tmp_path / "a", "any"), number=1)
    manifest = calls.index(Call("link", tmp_path / "storage" / version.path / MANIFEST))
    assert calls[manifest - 1].name == "fsync", "the manifest's content"
    for name in version.files:
        file = tmp_path / "storage" / version.key(name)
        renamed = calls.index(Call("rename", file))
        synced = [call.path for call in calls[:renamed] if call.name == "fsync" and call.path.parent == file.parent]
        assert any(path.name.startswith(f".{file.name}.") for path in synced), "the content"
        assert ("fsync", file.parent) in calls[renamed:manifest], "the name"
    assert ("fsync", tmp_path / "storage" / version.path) in calls[manifest:]
    calls.clear()
    storage.load(version, tmp_path / "b")
    renamed = calls.index(Call("rename", tmp_path / "b"))
    synced_names = {call.path.name for call in calls[:renamed] if call.name == "fsync"}
    assert synced_names >= {Path(name).name for name in version.files}
    assert ("fsync", tmp_path) in calls[renamed:]


# A folder as a store of objects: what other processes and shared disks do between two of its calls


def test_a_new_object_of_another_writer_stays_also_if_it_vanishes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, link = FolderStore(tmp_path), os.link
    store.put_new("one", b"theirs")
    with pytest.raises(FileExistsError):
        store.put_new("one", b"ours")
    assert store.get("one") == b"theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["one"]

    def link_late(source: Path, target: Path) -> None:
        try:
            link(source, target)
        finally:
            store.delete(["one"])

    monkeypatch.setattr(os, "link", link_late)
    with pytest.raises(FileExistsError):
        store.put_new("one", b"ours")


def test_a_link_that_was_made_although_its_answer_was_lost_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def link_twice(source: Path, target: Path) -> None:
        link(source, target)
        link(source, target)  # as NFS does: FileExistsError

    monkeypatch.setattr(os, "link", link_twice)
    store = FolderStore(tmp_path)
    store.put_new("one", b"ours")
    assert store.get("one") == b"ours"


def test_a_folder_that_another_process_removes_while_it_is_empty_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removals = 2

    def make_folder_late(folder: Path) -> None:
        nonlocal removals
        folder.mkdir(parents=True, exist_ok=True)
        if removals:
            removals -= 1
            folder.rmdir()

    monkeypatch.setattr(objects, "_make_folder", make_folder_late)
    store = FolderStore(tmp_path / "store")
    store.put_new("marks/one", b"ours")
    assert (removals, store.keys("")) == (0, ["marks/one"])


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_disk_without_hard_links_is_named(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OSError, match=rf"{tmp_path}: its disk has no hard links .*: use a folder of"):
        FolderStore(tmp_path).put_new("one", b"ours")
    assert list(tmp_path.iterdir()) == []
