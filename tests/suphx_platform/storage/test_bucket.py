"""What a bucket store makes of a server's answers that come rarely, given by botocore's stubber; how it is reached."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import pytest
from botocore.stub import Stubber

from suphx_platform.storage import bucket
from suphx_platform.storage.bucket import (
    CONNECT_SECONDS,
    READ_SECONDS,
    BucketStore,
    ConflictError,
    s3_client,
    s3_environment,
    s3_file_system,
)
from suphx_platform.storage.objects import ExpiredKeysError
from suphx_platform.storage.storage_config import StorageConfig


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> BucketStore:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    return BucketStore(
        StorageConfig(address="s3://suphx", endpoint_url="http://127.0.0.1:1", threads=1, max_attempts=1)
    )


def test_a_new_object_that_vanished_while_it_was_read_was_another_writers(store: BucketStore) -> None:
    with Stubber(store._client) as server:
        server.add_client_error("put_object", "PreconditionFailed")
        server.add_client_error("get_object", "NoSuchKey")
        with pytest.raises(FileExistsError, match="s3://suphx/mark exists already"):
            store.put_new("mark", b"mine")
        server.assert_no_pending_responses()


def test_a_request_that_waits_for_another_one_is_repeated(store: BucketStore) -> None:
    with Stubber(store._client) as server:
        server.add_client_error("put_object", "ConditionalRequestConflict")
        server.add_response("put_object", {})
        store.put_new("mark", b"mine")
        server.assert_no_pending_responses()


def test_a_request_that_waits_for_ever_is_no_object_of_another_writer(
    store: BucketStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suphx_platform.storage.bucket._CONFLICT_SECONDS", 0.0)
    with Stubber(store._client) as server:
        for _ in range(5):
            server.add_client_error("put_object", "ConditionalRequestConflict")
        with pytest.raises(ConflictError, match="another request to write it is under way"):
            store.put_new("mark", b"mine")
        server.assert_no_pending_responses()


def test_who_reaches_the_bucket_is_told_its_address_and_that_temporary_keys_have_expired(store: BucketStore) -> None:
    with Stubber(store._client) as server:
        server.add_response("list_objects_v2", {"IsTruncated": False}, {"Bucket": "suphx", "Prefix": "", "MaxKeys": 1})
        store.reach()
        server.add_client_error("list_objects_v2", "ExpiredToken")
        with pytest.raises(ExpiredKeysError, match=r"^s3://suphx/: the server says ExpiredToken: .*AWS_SESSION_TOKEN"):
            store.reach()


def test_an_answer_that_was_cut_off_can_be_asked_for_again(store: BucketStore) -> None:
    with Stubber(store._client) as server:
        server.add_response("get_object", {})
        with pytest.raises(OSError, match=r"s3://suphx/mark: the server's answer lacks 'ContentLength': .* cut off"):
            store.get("mark")


class HeldTransfers:
    """A transfer manager whose transfers wait until a number of them has begun."""

    def __init__(self, number: int) -> None:
        self._all_are_here = threading.Barrier(number)

    def upload(self, *_: object) -> Self:
        return self

    download = upload

    def result(self) -> None:
        self._all_are_here.wait(60)


def test_the_time_limit_of_a_transfer_counts_those_that_it_waits_for(
    store: BucketStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, limits = (1000, 20, 3), list[float]()
    usual = store._max_seconds(0)

    def note(seconds: float, work: Callable[[], None]) -> None:
        limits.append(round((seconds - usual) * bucket._SLOWEST_BYTES_PER_SECOND))
        work()

    monkeypatch.setattr(bucket, "within", note)
    monkeypatch.setattr(store, "_transfers", HeldTransfers(len(sizes)))
    with ThreadPoolExecutor(len(sizes)) as pool:
        for number, size in enumerate(sizes):
            (tmp_path / str(size)).write_bytes(bytes(size))
            transfer = pool.submit(store.upload, str(size), tmp_path / str(size))
            while len(limits) <= number:
                assert not transfer.done(), transfer.exception()
                time.sleep(0.001)
    assert limits == [1000, 1020, 1023]
    monkeypatch.setattr(store, "_transfers", HeldTransfers(1))
    store.upload("3", tmp_path / "3")
    assert limits[-1] == 3, "the others have ended"


@pytest.mark.parametrize("is_in_recipe", [True, False])
def test_both_libraries_get_the_same_server_region_times_and_attempts(
    is_in_recipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000")
    endpoint = "http://127.0.0.1:9001" if is_in_recipe else ""
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


def test_checksums_are_those_of_the_recipe_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    for checksums in ("when_required", "when_supported"):
        storage = StorageConfig(address="s3://b/x", checksums=checksums)
        config = s3_client(storage).meta.config
        assert config.request_checksum_calculation == config.response_checksum_validation == checksums
        assert set(s3_environment(storage).values()) == {checksums}
