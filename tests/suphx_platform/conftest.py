"""Fixtures for real resources only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.suphx_platform.s3_server import BUCKET, S3Server, missing_programs, s3_server


@pytest.fixture(scope="session")
def running_s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server with the bucket ``BUCKET``; skips where it cannot be started."""
    if missing_programs():
        pytest.skip(
            f"no S3 server can be started, {', '.join(missing_programs())} is missing: "
            "apt-get install --no-install-recommends radosgw ceph-mon ceph-osd"
        )
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        server.client().create_bucket(Bucket=BUCKET)
        yield server


@pytest.fixture
def server(running_s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, and its address and keys in the environment."""
    for key, value in running_s3_server.environment.items():
        monkeypatch.setenv(key, value)
    return running_s3_server
