from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suphx_platform.object_store import PART_BYTES
from suphx_platform.storage import MANIFEST, Storage, StorageConfig
from tests.suphx_platform.s3_server import S3Server, missing_programs, s3_server

NAME = "run-1/supervised/discard"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    if missing_programs():
        pytest.skip(
            f"no S3 server can be started, {', '.join(missing_programs())} is missing: "
            "apt-get install --no-install-recommends radosgw ceph-mon ceph-osd"
        )
    with pytest.MonkeyPatch.context() as patch, s3_server(tmp_path_factory.mktemp("s3")) as running:
        for key, value in running.environment.items():
            patch.setenv(key, value)
        import boto3

        boto3.client("s3").create_bucket(Bucket="suphx")
        yield running


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.slow)])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> StorageConfig:
    if request.param == "folder":
        return StorageConfig(address=str(tmp_path / "storage"))
    request.getfixturevalue("server")
    return StorageConfig(address=f"s3://suphx/{tmp_path.name}", threads=4)


@pytest.fixture
def storage(config: StorageConfig) -> Storage:
    return Storage(config)


def fill(folder: Path, text: str, large: bool = False) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "state").write_text(text)
    (folder / "deep" / "er" / "empty").touch()
    (folder / ".mark").write_text("not kept")
    if large:
        (folder / "large").write_bytes(os.urandom(1 << 16) * (2 * PART_BYTES // (1 << 16)) + b"rest")
    return folder


def damage(storage: Storage, key: str, tmp_path: Path) -> None:
    other = tmp_path / "damaged"
    other.write_text("torn")
    storage._store.upload(key, other)


def test_a_folder_comes_back_as_it_was_kept(storage: Storage, tmp_path: Path) -> None:
    folder = fill(tmp_path / "a", "one", large=True)
    version = storage.save(NAME, folder, number=7, score=0.5)
    assert [size for size, _ in version.files["large"]] == [PART_BYTES, PART_BYTES, 4]
    target = tmp_path / "b"
    fill(target, "what was there before")
    assert storage.restore(NAME, target) == version
    assert {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()} == {
        "state", "large", "deep/er/empty",
    }  # fmt: skip
    assert (target / "large").read_bytes() == (folder / "large").read_bytes()


def test_the_newest_version_is_taken_and_an_equal_number_is_newer(storage: Storage, tmp_path: Path) -> None:
    for number, text in ((5, "old"), (20, "twenty"), (20, "twenty again"), (9, "nine")):
        storage.save(NAME, fill(tmp_path / "a", text), number=number)
    restored = storage.restore(NAME, tmp_path / "b")
    assert restored is not None
    assert restored.number == 20
    assert (tmp_path / "b" / "state").read_text() == "twenty again"


def test_damaged_and_unfinished_versions_are_passed_over_with_a_warning(
    storage: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    paths = []
    for number in (1, 2):
        paths.append(storage.save(NAME, fill(tmp_path / "a", f"state {number}"), number=number).path)
    damage(storage, f"{paths[1]}/state", tmp_path)
    damage(storage, f"{NAME}/000000000003.001/state", tmp_path)  # no manifest: its writer was killed
    damage(storage, f"{NAME}/000000000004.001/{MANIFEST}", tmp_path)
    restored = storage.restore(NAME, tmp_path / "b")
    assert restored is not None
    assert restored.number == 1
    assert (tmp_path / "b" / "state").read_text() == "state 1"
    assert "state is not what its manifest says" in caplog.text
    assert "no readable manifest" in caplog.text


def test_the_last_and_the_best_are_kept_and_the_rest_removed(config: StorageConfig, tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=config.address, keep_last=2, keep_best=1))
    damage(storage, f"{NAME}/000000000001.001/state", tmp_path)  # never finished
    for number, score in ((2, 0.1), (3, 0.9), (4, 0.2), (5, 0.3), (6, None)):
        storage.save(NAME, fill(tmp_path / "a", str(number)), number=number, score=score)
    assert [version.number for version in storage.versions(NAME)] == [3, 5, 6]
    assert {key.split("/")[3][:12] for key in storage._store.keys("")} == {f"{n:012}" for n in (3, 5, 6)}


def test_of_many_writers_of_one_new_object_one_wins(storage: Storage) -> None:
    def write(number: int) -> bool:
        try:
            storage._store.put_new("lock", str(number).encode())
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(write, range(8)))
    assert sum(won) == 1
    assert storage._store.get("lock").decode() == str(won.index(True))


def test_nothing_kept_restores_nothing(storage: Storage, tmp_path: Path) -> None:
    folder = fill(tmp_path / "a", "mine")
    assert storage.restore(NAME, folder) is None
    assert (folder / "state").read_text() == "mine"
    assert storage.versions(NAME) == []


@pytest.mark.slow
def test_errors_of_the_server_say_what_to_do(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "a", "one")
    with pytest.raises(OSError, match=r"s3://nowhere/.*NoSuchBucket: make the bucket first"):
        Storage(StorageConfig(address="s3://nowhere/runs")).save(NAME, folder, number=1)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(OSError, match=r"SignatureDoesNotMatch: check AWS_ACCESS_KEY_ID"):
        Storage(StorageConfig(address="s3://suphx/runs")).save(NAME, folder, number=1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"address": "s3://"}, "use s3://bucket/prefix, or a folder"),
        ({"threads": 0}, "threads is 0: use at least 1"),
        ({"keep_last": 0}, "keep_last is 0"),
        ({"keep_best": -1}, "keep_best is -1"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(fields: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StorageConfig(**fields)  # type: ignore[arg-type]


def test_a_storage_without_an_address_is_refused() -> None:
    with pytest.raises(ValueError, match=r"storage\.address is empty"):
        Storage(StorageConfig())
