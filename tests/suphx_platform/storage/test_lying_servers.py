"""Servers whose answers are rare or not true: they keep half of an object, damage an answer, hide objects, redirect."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.stub import Stubber

from suphx_platform.storage import writer_lease
from suphx_platform.storage.bucket import CONNECT_SECONDS, READ_SECONDS, BucketStore, s3_client, s3_file_system
from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.objects import Digest, ExpiredKeysError, FolderStore, file_digest
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.writer_lease import WriterLease
from tests.suphx_platform.storage.small_versions import NAME, fill, numbers, text_of

MARK, PAGE = "/.writers/", b"<html>sign in to this network</html>"


class LyingStore(FolderStore):
    """A store that lies when a test says so."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.space = root.with_name("kept")
        self.kept: Callable[[str, bytes], bytes] = lambda _, data: data
        """Returns what is kept of what is written for a key."""
        self.answer: Callable[[str, bytes], bytes | None] = lambda _, data: data
        """Returns what a read of a key answers; None: the object is missing."""
        self.listed: Callable[[list[str]], list[str]] = lambda keys: keys
        self.has_all = False
        """Whether every new mark is said to exist already."""
        self.num_listings = 0

    def put_new(self, key: str, data: bytes) -> None:
        if self.has_all and MARK in key:
            raise FileExistsError(key)
        super().put_new(key, self.kept(key, data))

    def upload(self, key: str, path: Path) -> None:
        self.space.write_bytes(self.kept(key, path.read_bytes()))
        super().upload(key, self.space)

    def get(self, key: str) -> bytes:
        data = self.answer(key, super().get(key))
        if data is None:
            raise FileNotFoundError(key)
        return data

    def digest(self, key: str) -> Digest:
        self.space.write_bytes(self.get(key))
        return file_digest(self.space)

    def keys(self, prefix: str, min_age: float = 0.0) -> list[str]:
        self.num_listings += 1
        return self.listed(super().keys(prefix, min_age))


@pytest.fixture
def store(tmp_path: Path) -> LyingStore:
    return LyingStore(tmp_path / "storage")


@pytest.fixture
def storage(store: LyingStore) -> Storage:
    return storage_at(store)


def storage_at(store: LyingStore) -> Storage:
    storage = Storage(StorageConfig(address=str(store._root), threads=1))
    storage._store, storage._lease = store, WriterLease(store, str(store._root))
    return storage


def save(storage: Storage, tmp_path: Path, *versions: int) -> None:
    for number in versions:
        storage.save(NAME, fill(tmp_path / "saved", f"state {number}"), number=number)


def loaded(storage: Storage, tmp_path: Path) -> str:
    assert storage.load_newest(NAME, tmp_path / "loaded") is not None
    return text_of(tmp_path / "loaded")


@pytest.mark.parametrize("what", ["state", MANIFEST])
@pytest.mark.parametrize("kept", [slice(4), slice(None, None, -1)], ids=["half", "other bytes"])
def test_a_version_that_the_server_does_not_keep_whole_replaces_none(
    what: str, kept: slice, store: LyingStore, storage: Storage, tmp_path: Path
) -> None:
    save(storage, tmp_path, 1, 2)
    store.kept = lambda key, data: data[kept] if key.endswith(f"/{what}") else data
    for number in (3, 4, 5):
        with pytest.raises(OSError, match=rf"/{what}: the storage said that it has stored this, and returns something"):
            save(storage, tmp_path, number)
    assert numbers(storage) == [1, 2]
    assert not [key for key in store.keys("") if "000000000003" in key], "what was kept of it is removed"
    store.kept = lambda _, data: data
    save(storage, tmp_path, 6)
    assert loaded(storage, tmp_path) == "state 6"


def test_a_file_that_the_server_does_not_keep_is_named_with_what_to_do(
    store: LyingStore, storage: Storage, tmp_path: Path
) -> None:
    save(storage, tmp_path, 1)
    store.answer = lambda key, data: None if key.endswith("/state") else data
    with pytest.raises(OSError, match=r"/state: the storage said that .* or nothing: check its disks") as raised:
        save(storage, tmp_path, 2)
    assert not isinstance(raised.value, FileExistsError), "an upload queue would not try again"


def once(store: LyingStore, part: str, damaged: bytes | None) -> None:
    """Have one answer for a key with this part be another one."""

    def answer(key: str, data: bytes) -> bytes | None:
        if part not in key:
            return data
        store.answer = lambda _, data: data
        return damaged

    store.answer = answer


@pytest.mark.parametrize("damaged", [b"0123abc", PAGE, None])
def test_one_damaged_answer_for_the_mark_is_not_another_writer(
    damaged: bytes | None, store: LyingStore, storage: Storage, tmp_path: Path
) -> None:
    save(storage, tmp_path, 1)
    once(store, MARK, damaged)
    save(storage, tmp_path, 2)
    assert loaded(storage, tmp_path) == "state 2"


def test_a_mark_that_cannot_be_read_is_an_outage(store: LyingStore, storage: Storage, tmp_path: Path) -> None:
    save(storage, tmp_path, 1)
    store.answer = lambda key, data: PAGE if MARK in key else data
    with pytest.raises(OSError, match="the mark of the writer cannot be read") as raised:
        save(storage, tmp_path, 2)
    assert not isinstance(raised.value, FileExistsError), "an upload queue would not try again"


def test_a_listing_that_lacks_the_mark_is_not_another_writer_and_no_loop(
    store: LyingStore, storage: Storage, tmp_path: Path
) -> None:
    store.listed = lambda keys: [key for key in keys if MARK not in key]
    save(storage, tmp_path, 1, 2)
    later = storage_at(store)
    store.num_listings = 0
    save(later, tmp_path, 3)
    assert store.num_listings < 20
    store.listed = lambda keys: keys
    with pytest.raises(FileExistsError, match="another writer"):
        save(storage, tmp_path, 4)
    assert loaded(later, tmp_path) == "state 3"


def test_a_version_whose_manifest_a_listing_lacks_keeps_its_files(
    store: LyingStore, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suphx_platform.storage.storage._GRACE_SECONDS", 0.0)
    save(storage, tmp_path, 1)
    (first,) = storage.versions(NAME)
    store.listed = lambda keys: [key for key in keys if key != f"{first.path}/{MANIFEST}"]
    save(storage, tmp_path, 2, 3)
    store.listed = lambda keys: keys
    storage.load(first, tmp_path / "loaded")
    assert text_of(tmp_path / "loaded") == "state 1"


def test_a_server_that_says_of_every_mark_that_it_exists_is_an_error_soon(
    store: LyingStore, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_lease, "_LONGEST_PAUSE", 0.0)
    monkeypatch.setattr(writer_lease, "_FIRST_PAUSE", 0.0)
    store.has_all = True
    with pytest.raises(OSError, match=r"/000020: the storage says that this new mark and 19 others exist already"):
        save(storage, tmp_path, 1)


@pytest.mark.parametrize("damaged", [b"{", None])
@pytest.mark.parametrize("what", [MANIFEST, "state"])
def test_one_damaged_answer_hides_no_version_and_no_file(
    what: str,
    damaged: bytes | None,
    store: LyingStore,
    storage: Storage,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    save(storage, tmp_path, 1)
    (version,) = storage.versions(NAME)
    once(store, "/000000000001.001/", damaged)
    if what == MANIFEST:
        assert loaded(storage, tmp_path) == "state 1"
    else:
        assert storage.read(version, "state") == b"state 1"
    assert caplog.messages == []


# Answers to boto3


class _Answers(BaseHTTPRequestHandler):
    """Gives the next of the server's ``answers`` (status, body) to each request, the last one again and again."""

    def do_GET(self) -> None:
        answers: Any = self.server
        status, body = answers.answers[min(answers.num_requests, len(answers.answers) - 1)]
        answers.num_requests += 1
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "https://store.example/bucket?key=secret")
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_HEAD = do_GET  # noqa: N815 - names of BaseHTTPRequestHandler

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "us-east-1")
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    answers: Any = running
    answers.num_requests = 0
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def bucket(server: Any, max_attempts: int = 2) -> Storage:
    address = f"http://127.0.0.1:{server.server_port}"
    return Storage(StorageConfig(address="s3://bucket/runs", endpoint_url=address, max_attempts=max_attempts))


@pytest.mark.parametrize("status", [301, 308])
def test_a_server_that_redirects_is_named_with_the_address_to_use(status: int, server: Any) -> None:
    server.answers = [(status, b"<html>moved</html>")]
    storage = bucket(server)
    calls: tuple[Callable[[], object], ...] = (storage.reach, lambda: storage.versions(NAME))
    for number, call in enumerate(calls, 1):
        with pytest.raises(
            OSError, match=rf"127.0.0.1:{server.server_port} redirects to https://store\.example: set "
        ) as raised:
            call()
        assert "secret" not in str(raised.value)
        assert server.num_requests == number


def test_too_many_requests_are_sent_again_within_a_call(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None))
    busy = 429, b"<Error><Code>TooManyRequests</Code></Error>"
    server.answers = [busy, busy, (200, b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")]
    bucket(server, max_attempts=3).reach()
    assert server.num_requests == 3


def test_the_page_of_a_proxy_is_no_empty_storage(server: Any) -> None:
    server.answers = [(200, PAGE)]
    storage = bucket(server)
    for call in (storage.reach, lambda: storage.versions(NAME)):
        with pytest.raises(OSError, match="the server's answer lacks 'IsTruncated': "):
            call()


@pytest.fixture
def stubbed(monkeypatch: pytest.MonkeyPatch) -> BucketStore:
    """A store whose answers a Stubber of botocore gives."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    return BucketStore(StorageConfig(address="s3://suphx", endpoint_url="http://127.0.0.1:1", max_attempts=1))


def test_a_new_object_that_vanished_while_it_was_read_was_another_writers(stubbed: BucketStore) -> None:
    with Stubber(stubbed._client) as server:
        server.add_client_error("put_object", "PreconditionFailed")
        server.add_client_error("get_object", "NoSuchKey")
        with pytest.raises(FileExistsError, match="s3://suphx/mark exists already"):
            stubbed.put_new("mark", b"mine")
        server.assert_no_pending_responses()


def test_a_request_that_waits_for_another_one_is_repeated(stubbed: BucketStore) -> None:
    with Stubber(stubbed._client) as server:
        server.add_client_error("put_object", "ConditionalRequestConflict")
        server.add_response("put_object", {})
        stubbed.put_new("mark", b"mine")
        server.assert_no_pending_responses()


def test_expired_temporary_keys_are_an_error_of_their_own(stubbed: BucketStore) -> None:
    with Stubber(stubbed._client) as server:
        server.add_client_error("list_objects_v2", "ExpiredToken")
        with pytest.raises(ExpiredKeysError, match=r"^s3://suphx/: the server says ExpiredToken: .*AWS_SESSION_TOKEN"):
            stubbed.reach()


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9001", ""])
def test_both_libraries_get_the_same_server_region_times_and_attempts(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000")
    config = StorageConfig(address="s3://b/x", endpoint_url=endpoint, max_attempts=5)
    client, file_system = s3_client(config), s3_file_system(config)
    expected = endpoint or "http://127.0.0.1:9000"
    options: dict[str, Any] = dict(file_system.__reduce__()[1][0])  # what its copies in other processes get
    assert client.meta.endpoint_url == expected
    assert f"{options['scheme']}://{options['endpoint_override']}" == expected
    assert client.meta.region_name == file_system.region == "eu-central-1"
    assert (client.meta.config.connect_timeout, client.meta.config.read_timeout) == (CONNECT_SECONDS, READ_SECONDS)
    assert (options["connect_timeout"], options["request_timeout"]) == (CONNECT_SECONDS, READ_SECONDS)
    assert client.meta.config.retries["total_max_attempts"] == 5
    assert pickle.loads(pickle.dumps(file_system)) == file_system, "Ray sends it to its workers"
