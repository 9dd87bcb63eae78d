"""Servers that keep half of an object, redirect, or refuse a request for a while; settings of the clients."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from botocore.stub import Stubber

from suphx_platform.storage.bucket import CONNECT_SECONDS, READ_SECONDS, BucketStore, s3_client, s3_file_system
from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.objects import ExpiredKeysError, FolderStore
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.small_versions import NAME, fill, numbers, text_of


def save(storage: Storage, tmp_path: Path, *versions: int) -> None:
    for number in versions:
        storage.save(NAME, fill(tmp_path / "saved", f"state {number}"), number=number)


class LossyStore(FolderStore):
    """A store that keeps only a part of what is written for some keys."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.space = root.with_name("kept")
        self.lost = "nothing"
        """End of the keys that lose bytes."""
        self.kept = slice(None)

    def put_new(self, key: str, data: bytes) -> None:
        super().put_new(key, data[self.kept] if key.endswith(self.lost) else data)

    def upload(self, key: str, path: Path) -> None:
        data = path.read_bytes()
        self.space.write_bytes(data[self.kept] if key.endswith(self.lost) else data)
        super().upload(key, self.space)


@pytest.mark.parametrize("what", ["/state", f"/{MANIFEST}"])
@pytest.mark.parametrize("kept", [slice(4), slice(None, None, -1)], ids=["half", "other bytes"])
def test_a_version_that_the_server_does_not_keep_whole_replaces_none(what: str, kept: slice, tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage"), threads=1))
    storage._store = store = LossyStore(tmp_path / "storage")
    save(storage, tmp_path, 1, 2)
    store.lost, store.kept = what, kept
    for number in (3, 4, 5):
        with pytest.raises(OSError, match=rf"{what}: the storage said that it has stored this, and returns something"):
            save(storage, tmp_path, number)
    assert numbers(storage) == [1, 2]
    assert not [key for key in store.keys("") if "000000000003" in key], "what was kept of it is removed"
    store.lost = "nothing"
    save(storage, tmp_path, 6)
    assert storage.load_newest(NAME, tmp_path / "loaded") is not None
    assert text_of(tmp_path / "loaded") == "state 6"


class _Redirect(BaseHTTPRequestHandler):
    """Sends every request to another address, with the server's ``status``."""

    def do_GET(self) -> None:
        server: Any = self.server
        body = b"<html>moved</html>"
        server.num_requests += 1
        self.send_response(server.status)
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
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Redirect)
    answers: Any = running
    answers.num_requests = 0
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


@pytest.mark.parametrize("status", [301, 308])
def test_a_server_that_redirects_is_named_with_the_address_to_use(status: int, server: Any) -> None:
    server.status = status
    address = f"http://127.0.0.1:{server.server_port}"
    storage = Storage(StorageConfig(address="s3://bucket/runs", endpoint_url=address, max_attempts=2))
    calls: tuple[Callable[[], object], ...] = (storage.reach, lambda: storage.versions(NAME))
    for number, call in enumerate(calls, 1):
        with pytest.raises(
            OSError, match=rf"127.0.0.1:{server.server_port} redirects to https://store\.example: set "
        ) as raised:
            call()
        assert "secret" not in str(raised.value)
        assert server.num_requests == number


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
