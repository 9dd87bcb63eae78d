"""What a bucket store makes of a server's answers that come rarely, given by botocore's stubber; how it is reached."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from botocore.stub import Stubber

from suphx_platform.storage.bucket import CONNECT_SECONDS, READ_SECONDS, BucketStore, s3_client, s3_file_system
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


def test_who_reaches_the_bucket_is_told_its_address_and_that_temporary_keys_have_expired(store: BucketStore) -> None:
    with Stubber(store._client) as server:
        server.add_response("list_objects_v2", {"IsTruncated": False}, {"Bucket": "suphx", "Prefix": "", "MaxKeys": 1})
        store.reach()
        server.add_client_error("list_objects_v2", "ExpiredToken")
        with pytest.raises(ExpiredKeysError, match=r"^s3://suphx/: the server says ExpiredToken: .*AWS_SESSION_TOKEN"):
            store.reach()


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
