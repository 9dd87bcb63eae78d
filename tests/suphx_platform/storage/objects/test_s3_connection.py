"""boto3 and pyarrow reach a bucket in the same way."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from suphx_platform.storage.objects.s3_connection import CONNECT_SECONDS, READ_SECONDS
from suphx_platform.storage.storage_config import StorageConfig, s3_connection


def arrow_options(file_system: Any) -> dict[str, Any]:
    """Return what a file system of pyarrow gives to its copies in other processes."""
    (options,) = file_system.__reduce__()[1]
    return dict(options)


@pytest.mark.parametrize("is_in_recipe", [True, False])
def test_both_libraries_get_the_same_server_region_times_and_attempts(
    is_in_recipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000")
    endpoint = "http://127.0.0.1:9001" if is_in_recipe else ""
    connection = s3_connection(StorageConfig(address="s3://b/x", endpoint_url=endpoint, max_attempts=5))
    client, file_system = connection.client(), connection.file_system()
    expected = endpoint or "http://127.0.0.1:9000"
    options = arrow_options(file_system)
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
        connection = s3_connection(StorageConfig(address="s3://b/x", checksums=checksums))
        config = connection.client().meta.config
        assert config.request_checksum_calculation == config.response_checksum_validation == checksums
        assert set(connection.environment().values()) == {checksums}
