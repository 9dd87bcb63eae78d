"""Servers whose answers are not true: they keep half of a body, damage an answer, hide objects, redirect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from suphx_platform.storage import writer_lease
from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.memory_s3 import Answer, MemoryS3, memory_s3

NAME = "run-1/reinforcement"
MARK, PAGE = "/.writers/", b"<html>sign in to this network</html>"
MISSING: Answer = 404, b"<Error><Code>NoSuchKey</Code></Error>"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryS3]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "us-east-1")
    with memory_s3() as running:
        yield running


@pytest.fixture
def storage(server: MemoryS3) -> Storage:
    return Storage(StorageConfig(address="s3://bucket/runs", endpoint_url=server.endpoint_url, max_attempts=2))


def save(storage: Storage, tmp_path: Path, *numbers: int) -> None:
    for number in numbers:
        folder = tmp_path / "saved"
        folder.mkdir(exist_ok=True)
        (folder / "state").write_text(f"state {number}")
        (folder / "empty").touch()
        storage.save(NAME, folder, number=number)


def loaded(storage: Storage, tmp_path: Path) -> str:
    assert storage.load_newest(NAME, tmp_path / "loaded") is not None
    return (tmp_path / "loaded" / "state").read_text()


@pytest.mark.parametrize("what", ["state", MANIFEST])
@pytest.mark.parametrize("kept", [slice(4), slice(None, None, -1)], ids=["half", "other bytes"])
def test_a_version_that_the_server_does_not_keep_whole_replaces_none(
    what: str, kept: slice, server: MemoryS3, storage: Storage, tmp_path: Path
) -> None:
    save(storage, tmp_path, 1, 2)
    server.kept = lambda key, body: body[kept] if key.endswith(f"/{what}") else body
    for number in (3, 4, 5):
        with pytest.raises(OSError, match=rf"/{what}: the storage said that it has stored this, and returns something"):
            save(storage, tmp_path, number)
    assert [version.number for version in storage.versions(NAME)] == [1, 2]
    assert not [key for key in server.objects if "000000000003" in key], "what was kept of it is removed"
    assert loaded(storage, tmp_path) == "state 2"
    server.kept = lambda _, body: body
    save(storage, tmp_path, 6)
    assert loaded(storage, tmp_path) == "state 6"


def test_a_file_that_the_server_does_not_keep_is_named_with_what_to_do(
    server: MemoryS3, storage: Storage, tmp_path: Path
) -> None:
    save(storage, tmp_path, 1)
    server.lie = lambda method, key, answer: MISSING if method != "PUT" and key.endswith("/state") else answer
    with pytest.raises(OSError, match=r"/state: the storage said that .* or nothing: check its disks") as raised:
        save(storage, tmp_path, 2)
    assert not isinstance(raised.value, FileExistsError), "an upload queue would not try again"


def once(server: MemoryS3, part: str, damaged: Answer) -> None:
    """Have one answer to a GET of a key with this part be another one."""

    def lie(method: str, key: str, answer: Answer) -> Answer:
        if method == "GET" and part in key and not key.endswith(part):
            server.lie = lambda _, __, answer: answer
            return damaged
        return answer

    server.lie = lie


@pytest.mark.parametrize("damaged", [(200, b'{"host": "a", "pro'), (200, PAGE), MISSING])
def test_one_damaged_answer_for_the_mark_is_no_other_writer(
    damaged: Answer, server: MemoryS3, storage: Storage, tmp_path: Path
) -> None:
    save(storage, tmp_path, 1)
    once(server, MARK, damaged)
    save(storage, tmp_path, 2)
    assert loaded(storage, tmp_path) == "state 2"


def test_a_mark_that_cannot_be_read_is_an_outage(server: MemoryS3, storage: Storage, tmp_path: Path) -> None:
    save(storage, tmp_path, 1)
    server.lie = lambda _, key, answer: (200, PAGE) if MARK in key and not key.endswith(MARK) else answer
    with pytest.raises(OSError, match="the mark of the writer cannot be read") as raised:
        save(storage, tmp_path, 2)
    assert not isinstance(raised.value, FileExistsError), "an upload queue would not try again"


def test_a_listing_that_lacks_the_mark_is_no_other_writer_and_no_loop(
    server: MemoryS3, storage: Storage, tmp_path: Path
) -> None:
    nothing = b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
    server.lie = lambda _, key, answer: (200, nothing) if key.endswith(MARK) else answer
    save(storage, tmp_path, 1, 2)
    later = Storage(storage.config)
    server.requests.clear()
    save(later, tmp_path, 3)
    assert sum(MARK in key for _, key in server.requests) < 10
    server.lie = lambda _, __, answer: answer
    with pytest.raises(FileExistsError, match="another writer"):
        save(storage, tmp_path, 4)
    assert loaded(later, tmp_path) == "state 3"


def test_a_version_whose_manifest_a_listing_lacks_keeps_its_files(
    server: MemoryS3, storage: Storage, tmp_path: Path
) -> None:
    save(storage, tmp_path, 1)
    (first,) = storage.versions(NAME)
    hidden = f"<Key>runs/{first.path}/{MANIFEST}</Key>".encode()
    server.lie = lambda _, __, answer: (answer[0], answer[1].replace(hidden, b"<Key>runs/other</Key>"))
    save(storage, tmp_path, 2, 3)
    server.lie = lambda _, __, answer: answer
    storage.load(first, tmp_path / "loaded")
    assert (tmp_path / "loaded" / "state").read_text() == "state 1"


def test_a_server_that_says_of_every_mark_that_it_exists_is_an_error_soon(
    server: MemoryS3, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_lease, "_LONGEST_PAUSE", 0.0)
    monkeypatch.setattr(writer_lease, "_FIRST_PAUSE", 0.0)
    exists = 412, b"<Error><Code>PreconditionFailed</Code></Error>"
    server.kept = lambda key, body: b"another" if MARK in key else body
    server.lie = lambda method, key, answer: exists if method == "PUT" and MARK in key else answer
    with pytest.raises(OSError, match=r"/000020: the storage says that this new mark and 19 others exist already"):
        save(storage, tmp_path, 1)


@pytest.mark.parametrize("damaged", [(200, b"{"), (200, PAGE), MISSING])
@pytest.mark.parametrize("what", [MANIFEST, "state"])
def test_one_damaged_answer_hides_no_version_and_no_file(
    what: str, damaged: Answer, server: MemoryS3, storage: Storage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(storage, tmp_path, 1)
    (version,) = storage.versions(NAME)
    once(server, "/000000000001.001/", damaged)
    if what == MANIFEST:
        assert loaded(storage, tmp_path) == "state 1"
    else:
        assert storage.read(version, "state") == b"state 1"
    assert caplog.messages == []


@pytest.mark.parametrize("status", [301, 308])
def test_a_server_that_redirects_is_named_with_the_address_to_use(
    status: int, server: MemoryS3, storage: Storage, tmp_path: Path
) -> None:
    server.location = "https://store.example/bucket?key=secret"
    server.lie = lambda *_: (status, b"<html>moved</html>")
    for call in (storage.reach, lambda: storage.versions(NAME), lambda: save(storage, tmp_path, 1)):
        server.requests.clear()
        with pytest.raises(
            OSError, match=rf"{server.endpoint_url} redirects to https://store\.example: set "
        ) as raised:
            call()
        assert "secret" not in str(raised.value)
        assert len(server.requests) == 1


def test_too_many_requests_are_sent_again_within_a_call(server: MemoryS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None))
    busy = [True, True]

    def lie(method: str, key: str, answer: Answer) -> Answer:
        if busy:
            busy.pop()
            return 429, b"<Error><Code>TooManyRequests</Code></Error>"
        return answer

    storage = Storage(StorageConfig(address="s3://bucket/x", endpoint_url=server.endpoint_url, max_attempts=3))
    server.lie = lie
    storage.reach()
    assert busy == []
    assert len(server.requests) == 3


def test_the_page_of_a_proxy_is_no_empty_storage(server: MemoryS3, storage: Storage) -> None:
    server.lie = lambda *_: (200, PAGE)
    for call in (storage.reach, lambda: storage.versions(NAME)):
        with pytest.raises(OSError, match="the server's answer lacks 'IsTruncated': "):
            call()
