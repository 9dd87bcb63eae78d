from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suphx_platform.storage.bucket import PART_BYTES
from suphx_platform.storage.manifest import MANIFEST, CheckpointVersion, ManifestError, read_manifest, write_manifest
from suphx_platform.storage.objects import SMALL_BYTES
from suphx_platform.storage.storage import FINISHED, DamagedVersionError, Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.small_versions import NAME, cut_off, fill, numbers, refuse, text_of, unowned, write

# Manifests

PATH, DIGEST = "run/000000000007.001", "0f" * 32
FILES = {"state": (2**25, DIGEST), "a/b.json": (0, DIGEST), "牌": (1, DIGEST)}
VERSION = CheckpointVersion(path=PATH, writer="ab" * 16, files=FILES, score=-0.5, saved=12.5)
NO_NAMES = ("", ".", "..", "../x", "/x", "a//b", "a/../b", ".hidden", "x\0y", "a\\b", "a" * 300, "a/" * 600)
NO_DIGESTS: tuple[object, ...] = ([-1, DIGEST], [True, DIGEST], [1.5, DIGEST], [1, "x"], [1], 1, {}, [[1, DIGEST]])


def changed(**values: Any) -> bytes:
    return json.dumps(json.loads(write_manifest(VERSION)) | values).encode()


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert read_manifest(PATH, write_manifest(VERSION)) == VERSION
    assert VERSION.number == 7


@pytest.mark.parametrize(
    "data",
    [
        *(b"torn", b"[" * 200_000, b"\xff", b"[]", b"{}", changed(format=2)),
        *(changed(writer=writer) for writer in ("../../../secret", None, "AB" * 16, "ab" * 16 + "\n")),
        changed(files=[]),
        *(changed(files={name: [1, DIGEST]}) for name in NO_NAMES),
        *(changed(files={"a": digest}) for digest in NO_DIGESTS),
        *(changed(score=score) for score in (math.nan, math.inf, 10**400, "high", True)),
        *(changed(saved=saved) for saved in (None, math.nan, "now")),
        changed(files={"\ud800": [1, DIGEST]}),
    ],
)
def test_a_manifest_that_this_program_does_not_write_is_refused(data: bytes) -> None:
    with pytest.raises(ManifestError):
        read_manifest(PATH, data)


@pytest.mark.parametrize("name", [".hidden", "a/.b"])
def test_files_whose_name_begins_with_a_dot_are_refused(name: str) -> None:
    with pytest.raises(ManifestError, match="is not a name of a file inside the folder"):
        read_manifest(PATH, changed(files={name: [1, DIGEST]}))


def test_a_file_inside_of_a_file_is_refused() -> None:
    with pytest.raises(ManifestError, match="'a/b/c/d' is inside of a file"):
        read_manifest(PATH, changed(files={"a/b": [1, DIGEST], "a/b/c/d": [1, DIGEST]}))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["..", "../x", "/x", "x", DIGEST]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["..", "a", "a/b", ""]), inner),
    max_leaves=5,
)


@given(st.sampled_from(["format", "writer", "score", "saved", "files", "new"]), VALUES)
def test_damaged_manifests_are_refused_or_lead_nowhere_else(key: str, value: Any) -> None:
    try:
        version = read_manifest(PATH, changed(**{key: value}))
    except ManifestError:
        return
    assert math.isfinite(version.score or 0)
    assert math.isfinite(version.saved)
    for name, (size, _) in version.files.items():
        assert version.key(name).startswith(f"{PATH}/{VERSION.writer}/")
        assert not {"", ".", ".."} & set(name.split("/"))
        assert size >= 0


# Saving and loading


def test_a_folder_comes_back_as_it_was_stored(storage: Storage, tmp_path: Path) -> None:
    large = os.urandom(1 << 16) * (2 * PART_BYTES // (1 << 16)) + b"rest"
    version = storage.save(NAME, fill(tmp_path / "a", "one", large), number=7, score=0.5)
    assert version.files["large"][0] == len(large)
    target = fill(tmp_path / "b", "what was there before")
    assert storage.load_newest(NAME, target) == version
    found = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert found == {"state", "large", "deep/er/empty"}
    assert (target / "large").read_bytes() == large
    assert storage.read(version, "state") == b"one"
    assert storage.read(version, "absent") is None


def test_some_files_of_a_version_are_loaded_without_the_others(storage: Storage, tmp_path: Path) -> None:
    version = storage.save(NAME, fill(tmp_path / "a", "one", b"large"), number=7)
    write(storage, version.key("large"), b"damaged", tmp_path)
    assert storage.load_newest(NAME, tmp_path / "b", files=("state", "absent")) == version
    assert [path.name for path in (tmp_path / "b").rglob("*")] == ["state"]


def test_the_newest_version_is_loaded_and_an_equal_number_is_newer(storage: Storage, tmp_path: Path) -> None:
    for number, text in ((5, "old"), (20, "twenty"), (20, "twenty again"), (9, "nine")):
        storage.save(NAME, fill(tmp_path / "a", text), number=number)
    newest = storage.load_newest(NAME, tmp_path / "b")
    assert newest is not None
    assert (newest.number, text_of(tmp_path / "b")) == (20, "twenty again")


@pytest.mark.parametrize("content", [None, b"", b"STATE 2", b"state 2 and more"])
def test_a_damaged_version_is_skipped_with_a_warning(
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


def test_versions_without_a_readable_manifest_do_not_exist_and_are_not_removed(
    config: StorageConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    storage = Storage(replace(config, keep_last=1))
    good = storage.save(NAME, fill(tmp_path / "a", "one"), number=1)
    for number, content in enumerate((b"torn", b'{"format": 99}', b" " * (SMALL_BYTES + 1)), 2):
        write(storage, f"{NAME}/{number:012}.001/{MANIFEST}", content, tmp_path)
        write(storage, f"{NAME}/{number:012}.001/{'0' * 32}/state", b"of a later program", tmp_path)
    write(storage, f"{NAME}/000000000009.001/{'0' * 32}/state", b"its writer was killed", tmp_path)
    assert storage.versions(NAME) == [good]
    assert caplog.text.count("no readable manifest") == 3
    before = unowned(storage)
    better = storage.save(NAME, fill(tmp_path / "a", "two"), number=20)
    assert storage.load_newest(NAME, tmp_path / "b") == better
    assert unowned(storage) == before


@pytest.mark.parametrize("what", ["nothing", "a file"])
def test_what_is_no_folder_is_not_stored(what: str, storage: Storage, tmp_path: Path) -> None:
    if what == "a file":
        (tmp_path / "a").touch()
    with pytest.raises(
        FileNotFoundError, match=r"there is no folder .*a: nothing is stored as run-1/supervised/discard"
    ):
        storage.save(NAME, tmp_path / "a", number=1)
    assert storage._store.keys("") == []


@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyboardInterrupt("Ctrl-C")], ids=["full", "stopped"])
def test_a_save_that_fails_leaves_nothing_behind(
    error: BaseException, config: StorageConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(replace(config, threads=1))
    upload, has_room = storage._store.upload, [True]

    def upload_one(key: str, path: Path) -> None:
        if not has_room:
            raise error
        has_room.pop()
        upload(key, path)

    monkeypatch.setattr(storage._store, "upload", upload_one)
    with pytest.raises(type(error), match=str(error)):
        storage.save(NAME, fill(tmp_path / "a", "one"), number=1)
    assert unowned(storage) == set()


def outrun(reader: Storage, other: Storage, folder: Path, times: int) -> None:
    """Have another process replace the versions just before the reader fetches them, so many times."""
    download, next_numbers = reader._store.download, iter(range(11, 11 + times))

    def download_late(key: str, path: Path) -> None:
        number = next(next_numbers, None) if key.endswith("/state") else None
        if number is not None:
            other.save(NAME, folder, number=number, score=float(number))
        download(key, path)

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


# Removing


@pytest.mark.parametrize(("hours", "stays"), [(5.9, True), (6.1, False)])
@pytest.mark.parametrize("file", ["state", f".state.{'0' * 32}.partial"], ids=["whole", "half-written"])
def test_files_without_a_manifest_go_after_six_hours(file: str, hours: float, stays: bool, tmp_path: Path) -> None:
    left = tmp_path / "s" / NAME / "000000000001.001" / ("0" * 32) / file
    left.parent.mkdir(parents=True)
    left.write_bytes(b"its manifest is still to come")
    then = time.time() - hours * 3600
    os.utime(left, (then, then))
    Storage(StorageConfig(address=str(tmp_path / "s"))).save(NAME, fill(tmp_path / "a", "new"), number=2)
    assert left.exists() == stays


@pytest.mark.parametrize(
    ("settings", "saved", "kept"),
    [
        ({"keep_last": 2, "keep_best": 1}, {2: 0.1, 3: 0.9, 4: 0.2, 5: 0.3, 6: None}, [3, 5, 6]),
        ({"keep_best": 4}, {1: 0.9, 2: 0.8, 3: 0.1, 4: 0.7, 5: 0.6, 6: 0.2}, [1, 2, 4, 5, 6]),
        ({"keep_best": 0}, {1: 0.9, 2: 0.5, 3: 0.1}, [3]),
        ({"keep_every": 100}, dict.fromkeys((0, 40, 90, 130, 170, 250, 420, 430)), [130, 250, 420, 430]),
        ({"keep_every": 100}, dict.fromkeys((130, 250, 420, 430, FINISHED)), [130, 250, 420, FINISHED]),
    ],
)
def test_the_last_and_the_best_are_kept_and_the_rest_is_removed(
    settings: dict[str, Any], saved: dict[int, float | None], kept: list[int], tmp_path: Path
) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage"), **{"keep_last": 1} | settings))
    for number, score in saved.items():
        storage.save(NAME, fill(tmp_path / "a", str(number)), number=number, score=score)
    assert numbers(storage) == kept
    assert unowned(storage) == set()


def test_a_save_stays_beside_damaged_versions_with_higher_numbers(config: StorageConfig, tmp_path: Path) -> None:
    storage = Storage(replace(config, keep_last=1))
    damaged = storage.save(NAME, fill(tmp_path / "a", "old"), number=20)
    write(storage, damaged.key("state"), b"damaged", tmp_path)
    storage.save(NAME, fill(tmp_path / "a", "new"), number=5)
    assert storage.load_newest(NAME, tmp_path / "b") is not None
    assert text_of(tmp_path / "b") == "new"


def save_another(storage: Storage, folder: Path) -> None:
    storage.save(NAME, folder, number=2)


def delete(storage: Storage, _: Path) -> None:
    storage.delete(NAME)


@pytest.mark.parametrize("remove", [save_another, delete])
@pytest.mark.parametrize("num_deletions", range(1, 4))
def test_versions_are_whole_although_removing_some_is_cut_off(
    remove: Callable[[Storage, Path], None],
    num_deletions: int,
    config: StorageConfig,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage, folder = Storage(replace(config, keep_last=1)), fill(tmp_path / "a", "any")
    storage.save(NAME, folder, number=1)
    monkeypatch.setattr(storage._store, "delete", cut_off(storage._store, num_deletions))
    is_cut_off = num_deletions < 3  # manifest, state and empty
    if remove is save_another:
        remove(storage, folder)
        assert ("old versions are not removed: the connection broke" in caplog.text) == is_cut_off
        assert numbers(storage)[-1] == 2
    else:
        with pytest.raises(OSError, match="the connection broke"):  # also at the mark of the writer
            remove(storage, folder)
    for version in storage.versions(NAME):
        storage.load(version, tmp_path / "b")


def test_a_deleted_name_leaves_nothing_but_what_belongs_to_others(storage: Storage, tmp_path: Path) -> None:
    folder, writer = fill(tmp_path / "a", "mine"), "0" * 32
    version = storage.save(NAME, folder, number=1)
    below = storage.save(f"{NAME}/best", folder, number=1)
    kept = set(storage._store.keys(f"{NAME}/best/"))
    for key in (f"{NAME}/workers/checkpoint/state", f"{NAME}/best/{9:012}.001/{writer}/state", f"{NAME}/notes"):
        write(storage, key, b"of others", tmp_path)
        kept.add(key)
    for path in (f"{NAME}/{9:012}.001", version.path):  # of a killed process, and of one that lost a race
        write(storage, f"{path}/{writer}/state", b"its writer was killed", tmp_path)
    storage.delete(NAME)
    assert set(storage._store.keys(f"{NAME}/")) == kept
    assert storage.versions(NAME) == []
    assert storage.read(version, "state") is None
    assert storage.versions(f"{NAME}/best") == [below]


# What the keys do not allow


def test_a_storage_that_refuses_to_write_is_an_error_at_once(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    storage.reach_to_write()
    assert storage._store.keys("") == []
    monkeypatch.setattr(storage._store, "put_new", refuse)
    storage.reach()
    with pytest.raises(PermissionError, match="AccessDenied"):
        storage.reach_to_write()


def test_keys_that_may_not_delete_are_enough_to_save_also_after_a_restart(
    config: StorageConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(tmp_path / "a", "any")
    Storage(config).save(NAME, folder, number=1)
    storage = Storage(config)
    monkeypatch.setattr(storage._store, "delete", refuse)
    storage.reach_to_write()
    storage.reach_to_write()
    assert "refuses to remove objects, so it keeps every version: the server says AccessDenied" in caplog.text
    for number in range(2, 8):
        storage.save(NAME, folder, number=number)
    assert numbers(storage) == list(range(1, 8))
    assert caplog.text.count("but old versions are not removed: the server says AccessDenied") == 1


def test_keys_that_may_not_list_uploads_are_enough_to_save_and_to_delete(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(storage._store, "delete_unfinished", refuse)
    for number in range(1, 6):
        storage.save(NAME, fill(tmp_path / "a", "any"), number=number)
    assert numbers(storage) == [4, 5]
    assert caplog.messages == []
    storage.delete(NAME)
    assert storage._store.keys(f"{NAME}/") == []
    assert "is deleted, but incomplete uploads may be left: the server says AccessDenied" in caplog.text


# Which versions there are


def test_the_newest_path_is_of_work_under_way_if_there_is_any(storage: Storage, tmp_path: Path) -> None:
    folder = fill(tmp_path / "a", "any")
    storage.save("run-1/origin", folder, number=FINISHED)
    storage.save("run-1/reinforcement/best", folder, number=30)
    assert storage.newest_path("run-1") is None, "the recipe and measured nets do not count"
    finished = storage.save("run-1/supervised", folder, number=FINISHED)
    assert storage.newest_path("run-1") == finished.path
    storage.save("run-1/reinforcement", folder, number=20)
    newest = storage.save("run-1/oracle", folder, number=100)
    storage.save("run-12/oracle", folder, number=200)
    assert storage.newest_path("run-1") == newest.path


def test_of_a_finished_stage_older_versions_are_no_work_under_way(storage: Storage, tmp_path: Path) -> None:
    folder = fill(tmp_path / "a", "any")
    under_way = storage.save("run-1/oracle", folder, number=20)
    storage.save("run-1/reinforcement", folder, number=90_000)
    finished = storage.save("run-1/reinforcement", folder, number=FINISHED)
    assert storage.newest_path("run-1") == under_way.path
    storage.delete("run-1/oracle")
    assert storage.newest_path("run-1") == finished.path


def test_notes_are_beside_versions(storage: Storage, tmp_path: Path) -> None:
    storage.put_note("run-1/attempts/2.json", b"{}")
    saved = storage.save(NAME, fill(tmp_path / "a", "any"), number=7).path
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
        ({"addressing_style": "host"}, "addressing_style"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        StorageConfig(**fields)  # type: ignore[arg-type]
    assert "cret" not in str(refused.value)
