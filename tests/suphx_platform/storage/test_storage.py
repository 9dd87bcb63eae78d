from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.storage.bucket import PART_BYTES
from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.objects import SMALL_BYTES, Digest
from suphx_platform.storage.storage import FINISHED, DamagedVersionError, Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.store_faults import cut_off, refuse

NAME = "run-1/supervised/discard"


def fill(folder: Path, text: str, large: bool = False) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "state").write_text(text)
    (folder / "deep" / "er" / "empty").touch()
    (folder / ".mark").write_text("not kept")
    if large:
        (folder / "large").write_bytes(os.urandom(1 << 16) * (2 * PART_BYTES // (1 << 16)) + b"rest")
    return folder


def write(storage: Storage, key: str, data: bytes, tmp_path: Path) -> None:
    """Put an object where no caller of the storage could."""
    file = tmp_path / "object"
    file.write_bytes(data)
    storage._store.upload(key, file)


def text_of(folder: Path) -> str:
    return (folder / "state").read_text()


def test_a_folder_comes_back_as_it_was_kept(storage: Storage, tmp_path: Path) -> None:
    folder = fill(tmp_path / "a", "one", large=True)
    version = storage.save(NAME, folder, number=7, score=0.5)
    assert version.files["large"][0] == 2 * PART_BYTES + 4
    target = tmp_path / "b"
    fill(target, "what was there before")
    assert storage.load_newest(NAME, target) == version
    assert {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()} == {
        "state", "large", "deep/er/empty",
    }  # fmt: skip
    assert (target / "large").read_bytes() == (folder / "large").read_bytes()


def test_some_files_of_a_version_are_loaded_without_the_others(storage: Storage, tmp_path: Path) -> None:
    version = storage.save(NAME, fill(tmp_path / "a", "one", large=True), number=7)
    write(storage, version.key("large"), b"damaged", tmp_path)
    assert storage.load_newest(NAME, tmp_path / "b", files=("state", "absent")) == version
    assert [path.name for path in (tmp_path / "b").rglob("*")] == ["state"]
    assert text_of(tmp_path / "b") == "one"


def test_the_newest_version_is_loaded_and_an_equal_number_is_newer(storage: Storage, tmp_path: Path) -> None:
    for number, text in ((5, "old"), (20, "twenty"), (20, "twenty again"), (9, "nine")):
        storage.save(NAME, fill(tmp_path / "a", text), number=number)
    newest = storage.load_newest(NAME, tmp_path / "b")
    assert newest is not None
    assert newest.number == 20
    assert text_of(tmp_path / "b") == "twenty again"


@pytest.mark.parametrize("content", [None, b"", b"state", b"STATE 2", b"state 2 and more"])
def test_a_damaged_version_is_passed_over_with_a_warning(
    content: bytes | None, storage: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = (storage.save(NAME, fill(tmp_path / "a", f"state {number}"), number=number) for number in (1, 2))
    if content is None:
        storage._store.delete([second.key("state")])
    else:
        write(storage, second.key("state"), content, tmp_path)
    assert storage.load_newest(NAME, tmp_path / "b") == first
    assert text_of(tmp_path / "b") == "state 1"
    assert f"{second.path} is skipped" in caplog.text
    with pytest.raises(DamagedVersionError):
        storage.load(second, tmp_path / "b")
    assert text_of(tmp_path / "b") == "state 1", "what was there stays"


def test_versions_without_a_readable_manifest_do_not_exist(
    storage: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = storage.save(NAME, fill(tmp_path / "a", "one"), number=1)
    manifest = json.loads(storage._store.get(f"{good.path}/{MANIFEST}"))
    outside = manifest | {"files": {"../outside": []}}
    elsewhere = manifest | {"writer": "../../../secret"}
    for number, content in enumerate(
        (
            *(b"torn", b"[]", b"{}", b"[" * 200_000),
            *(json.dumps(m).encode() for m in (outside, elsewhere, manifest | {"format": 1})),
        )
    ):
        write(storage, f"{NAME}/{number + 2:012}.001/{MANIFEST}", content, tmp_path)
    write(storage, f"{NAME}/000000000009.001/{'0' * 32}/state", b"its writer was killed", tmp_path)
    assert storage.versions(NAME) == [good]
    assert caplog.text.count("no readable manifest") == 7
    better = storage.save(NAME, fill(tmp_path / "a", "two"), number=20)
    assert storage.load_newest(NAME, tmp_path / "b") == better


def test_a_manifest_that_is_too_large_is_not_read(
    storage: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = storage.save(NAME, fill(tmp_path / "a", "one"), number=1)
    write(storage, f"{NAME}/000000000002.001/{MANIFEST}", b" " * (SMALL_BYTES + 1), tmp_path)
    assert storage.versions(NAME) == [good]
    assert f"has {SMALL_BYTES + 1:,} bytes: more than" in caplog.text


def test_versions_that_cannot_be_read_are_not_removed(config: StorageConfig, tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=config.address, keep_last=1))
    for number, content in ((1, b'{"format": 99}'), (2, b"torn")):
        write(storage, f"{NAME}/{number:012}.001/{MANIFEST}", content, tmp_path)
        write(storage, f"{NAME}/{number:012}.001/{'0' * 32}/state", b"of a later program", tmp_path)
    before = storage._store.keys(f"{NAME}/")
    for number in (3, 4):
        storage.save(NAME, fill(tmp_path / "a", "new"), number=number)
    assert set(before) <= set(storage._store.keys(f"{NAME}/"))
    assert [version.number for version in storage.versions(NAME)] == [4]


@pytest.mark.parametrize(("hours", "stays"), [(5.9, True), (6.1, False)])
@pytest.mark.parametrize("file", ["state", f".state.{'0' * 32}.partial"], ids=["whole", "half-written"])
def test_files_without_a_manifest_go_after_six_hours(file: str, hours: float, stays: bool, tmp_path: Path) -> None:
    config = StorageConfig(address=str(tmp_path / "s"))
    left = tmp_path / "s" / NAME / "000000000001.001" / ("0" * 32) / file
    left.parent.mkdir(parents=True)
    left.write_bytes(b"its manifest is still to come")
    then = time.time() - hours * 3600
    os.utime(left, (then, then))
    Storage(config).save(NAME, fill(tmp_path / "a", "new"), number=2)
    assert left.exists() == stays


def test_the_last_and_the_best_are_kept_and_the_rest_removed(
    config: StorageConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suphx_platform.storage.storage._GRACE_SECONDS", 0.0)
    storage = Storage(StorageConfig(address=config.address, keep_last=2, keep_best=1))
    write(storage, f"{NAME}/000000000001.001/{'0' * 32}/state", b"its writer was killed", tmp_path)
    for number, score in ((2, 0.1), (3, 0.9), (4, 0.2), (5, 0.3), (6, None)):
        storage.save(NAME, fill(tmp_path / "a", str(number)), number=number, score=score)
    assert [version.number for version in storage.versions(NAME)] == [3, 5, 6]
    kept = {key.split("/")[3][:12] for key in storage._store.keys("")} - {".writers"}
    assert kept == {f"{n:012}" for n in (3, 5, 6)}


def test_a_save_stays_beside_damaged_versions_with_higher_numbers(config: StorageConfig, tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=config.address, keep_last=1))
    damaged = storage.save(NAME, fill(tmp_path / "a", "old"), number=20)
    write(storage, damaged.key("state"), b"damaged", tmp_path)
    storage.save(NAME, fill(tmp_path / "a", "new"), number=5)
    assert storage.load_newest(NAME, tmp_path / "b") is not None
    assert text_of(tmp_path / "b") == "new"


@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyboardInterrupt("Ctrl-C")], ids=["full", "stopped"])
def test_a_save_that_fails_leaves_nothing_behind(
    error: BaseException, config: StorageConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(replace(config, threads=1))
    upload, has_room = storage._store.upload, [True]

    def upload_one(key: str, path: Path) -> Digest:
        if not has_room:
            raise error
        has_room.pop()
        return upload(key, path)

    monkeypatch.setattr(storage._store, "upload", upload_one)
    with pytest.raises(type(error), match=str(error)):
        storage.save(NAME, fill(tmp_path / "a", "one"), number=1)
    assert [key for key in storage._store.keys(f"{NAME}/") if "/.writers/" not in key] == []


@pytest.mark.parametrize(
    ("settings", "saved", "kept"),
    [
        ({"keep_best": 4}, {1: 0.9, 2: 0.8, 3: 0.1, 4: 0.7, 5: 0.6, 6: 0.2}, [1, 2, 4, 5, 6]),
        ({"keep_best": 0}, {1: 0.9, 2: 0.5, 3: 0.1}, [3]),
        ({"keep_best": 1}, {1: 0.9, 2: 0.5}, [1, 2]),
        (
            {"keep_best": 0, "keep_every": 100},
            dict.fromkeys((0, 40, 90, 130, 170, 250, 420, 430)),
            [130, 250, 420, 430],
        ),
        ({"keep_best": 0, "keep_every": 100}, dict.fromkeys((130, 250, 420, 430, FINISHED)), [130, 250, 420, FINISHED]),
    ],
)
def test_what_is_kept_besides_the_last(
    settings: dict[str, Any], saved: dict[int, float | None], kept: list[int], tmp_path: Path
) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage"), keep_last=1, **settings))
    for number, score in saved.items():
        storage.save(NAME, fill(tmp_path / "a", str(number)), number=number, score=score)
    assert [version.number for version in storage.versions(NAME)] == kept


@pytest.mark.parametrize("num_deletions", range(1, 4))
def test_versions_are_whole_although_removing_an_old_one_is_cut_off(
    num_deletions: int,
    config: StorageConfig,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = Storage(StorageConfig(address=config.address, keep_last=1))
    storage.save(NAME, fill(tmp_path / "a", "old"), number=1)
    monkeypatch.setattr(storage._store, "delete", cut_off(storage._store, num_deletions))
    storage.save(NAME, fill(tmp_path / "a", "new"), number=2)
    is_cut_off = num_deletions < 3  # manifest, state and empty
    assert ("old versions are not removed: the connection broke" in caplog.text) == is_cut_off
    versions = storage.versions(NAME)
    assert versions[-1].number == 2
    for version in versions:
        storage.load(version, tmp_path / "b")


@pytest.mark.parametrize("num_deletions", range(1, 4))
def test_versions_are_whole_although_deleting_a_name_is_cut_off(
    num_deletions: int, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        storage.save(NAME, fill(tmp_path / "a", "old"), number=number)
    monkeypatch.setattr(storage._store, "delete", cut_off(storage._store, num_deletions))
    with pytest.raises(OSError, match="the connection broke"):
        storage.delete(NAME)
    for version in storage.versions(NAME):
        storage.load(version, tmp_path / "b")


def test_a_deleted_name_has_no_versions_and_names_below_it_stay(storage: Storage, tmp_path: Path) -> None:
    folder = fill(tmp_path / "a", "mine")
    version = storage.save(NAME, folder, number=1)
    below = storage.save(f"{NAME}/discard", folder, number=1)
    assert storage.read(version, "state") == b"mine"
    assert storage.read(version, "absent") is None
    storage.delete(NAME)
    assert storage.versions(NAME) == []
    assert storage.read(version, "state") is None
    assert storage.versions(f"{NAME}/discard") == [below]


def test_a_deleted_name_has_no_files_of_saves_that_were_interrupted(storage: Storage, tmp_path: Path) -> None:
    folder, writer = fill(tmp_path / "a", "mine"), "0" * 32
    version = storage.save(NAME, folder, number=1)
    storage.save(f"{NAME}/best", folder, number=1)
    kept = set(storage._store.keys(f"{NAME}/best/"))
    for key in (f"{NAME}/workers/checkpoint/state", f"{NAME}/best/{9:012}.001/{writer}/state", f"{NAME}/notes"):
        write(storage, key, b"of others", tmp_path)
        kept.add(key)
    for path in (f"{NAME}/{9:012}.001", version.path):  # of a killed process, and of one that lost a race
        write(storage, f"{path}/{writer}/state", b"its writer was killed", tmp_path)
    storage.delete(NAME)
    assert set(storage._store.keys(f"{NAME}/")) == kept


def test_a_name_is_deleted_although_uploads_cannot_be_listed(
    storage: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.save(NAME, fill(tmp_path / "a", "mine"), number=1)
    monkeypatch.setattr(storage._store, "delete_unfinished", refuse)
    storage.delete(NAME)
    assert storage._store.keys(f"{NAME}/") == []
    assert "is deleted, but uploads that were cut off may be left: the server says AccessDenied" in caplog.text


@pytest.mark.parametrize("what", ["nothing", "a file"])
def test_what_is_no_folder_is_not_stored(what: str, storage: Storage, tmp_path: Path) -> None:
    if what == "a file":
        (tmp_path / "a").touch()
    with pytest.raises(FileNotFoundError, match=r"a is no folder: nothing is stored as run-1/supervised/discard; keep"):
        storage.save(NAME, tmp_path / "a", number=1)
    assert storage._store.keys("") == []


def outrun(reader: Storage, other: Storage, folder: Path, times: int) -> None:
    """Have another process replace the versions just before the reader fetches them, so many times."""
    download, numbers = reader._store.download, iter(range(11, 11 + times))

    def download_late(key: str, path: Path, digest: Digest) -> None:
        number = next(numbers, None) if key.endswith("/state") else None
        if number is not None:
            other.save(NAME, folder, number=number, score=float(number))
        download(key, path, digest)

    reader._store.download = download_late  # type: ignore[method-assign]


def test_versions_that_are_removed_while_they_are_fetched_are_replaced_by_newer_ones(
    config: StorageConfig, tmp_path: Path
) -> None:
    storage, reader = Storage(replace(config, keep_last=1)), Storage(config)
    folder = fill(tmp_path / "a", "any")
    storage.save(NAME, folder, number=1, score=1.0)
    outrun(reader, storage, folder, times=2)
    found = reader.load_newest(NAME, tmp_path / "b")
    assert found is not None
    assert (found.number, text_of(tmp_path / "b")) == (12, "any")
    storage.delete(NAME)
    storage.save(NAME, folder, number=1)
    reader = Storage(config)
    outrun(reader, storage, folder, times=99)
    with pytest.raises(FileNotFoundError, match=r"removed before they are fetched: raise storage\.keep_last"):
        reader.load_newest(NAME, tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path / "a", "one")


def test_the_newest_path_is_of_work_under_way_if_there_is_any(storage: Storage, folder: Path) -> None:
    assert storage.newest_path("run-1") is None
    finished = storage.save("run-1/supervised", folder, number=FINISHED)
    assert storage.newest_path("run-1") == finished.path
    storage.save("run-1/reinforcement", folder, number=20)
    newest = storage.save("run-1/oracle", folder, number=100)
    storage.save("run-12/oracle", folder, number=200)
    assert storage.newest_path("run-1") == newest.path


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


def test_a_storage_that_refuses_to_write_is_told_at_once(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    storage.reach_to_write()
    assert storage._store.keys("") == []
    monkeypatch.setattr(storage._store, "put_new", refuse)
    storage.reach()
    with pytest.raises(PermissionError, match="AccessDenied"):
        storage.reach_to_write()


def test_that_old_versions_stay_is_told_once(
    storage: Storage, folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage._store, "delete", refuse)
    for number in range(1, 8):
        storage.save(NAME, folder, number=number)
    assert [version.number for version in storage.versions(NAME)] == list(range(1, 8))
    assert caplog.text.count("but old versions are not removed: the server says AccessDenied") == 1


def test_a_storage_that_refuses_to_remove_is_a_warning(
    storage: Storage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage._store, "delete", refuse)
    storage.reach_to_write()
    storage.reach_to_write()
    assert "refuses to remove objects, so it keeps every version: the server says AccessDenied" in caplog.text
    assert len(storage._store.keys("")) == 1


def test_notes_stand_beside_versions_and_are_none(storage: Storage, folder: Path) -> None:
    storage.put_note("run-1/attempts/2.json", b"{}")
    saved = storage.save(NAME, folder, number=7).path
    assert storage.notes("run-1/attempts/") == {"run-1/attempts/2.json": b"{}"}
    assert storage.notes("run-2/attempts/") == {}
    assert (storage.names(), storage.newest_path("run-1")) == ([NAME], saved)
    with pytest.raises(FileExistsError):
        storage.put_note("run-1/attempts/2.json", b"another")
    storage.delete(NAME)
    assert list(storage.notes("run-1/attempts/")) == ["run-1/attempts/2.json"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"address": "s3://"}, "use s3://bucket/prefix, or a folder"),
        ({"threads": 0}, "threads is 0: use 1 to 256"),
        ({"endpoint_url": "http://me:se/cret@host"}, "endpoint_url contains a user or a password"),
        ({"address": "s3://me:se/cret@bucket"}, "address contains a user or a password"),
        ({"endpoint_url": "localhost:9000"}, "begin with http:// or https://"),
        ({"endpoint_url": "HTTP://me:se/cret@host"}, "endpoint_url contains a user or a password"),
        ({"endpoint_url": "me:secret@host:9000"}, "endpoint_url is not shown, as it has an @: begin with http://"),
        ({"address": "S3://me:se/cret@bucket"}, "address is not shown, as it has an @: use s3://bucket/prefix"),
        ({"address": "gs://bucket/runs"}, "address is 'gs://bucket/runs': use s3://bucket/prefix, or a folder"),
        ({"addressing_style": "host"}, "use path or virtual"),
        ({"checksums": "never"}, "use when_required or when_supported"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        StorageConfig(**fields)  # type: ignore[arg-type]
    assert "cret" not in str(refused.value)
