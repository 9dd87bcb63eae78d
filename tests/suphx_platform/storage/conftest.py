"""Storages in a folder and in a real bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.s3_server import BUCKET


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.slow)])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> StorageConfig:
    if request.param == "folder":
        return StorageConfig(address=str(tmp_path / "storage"))
    request.getfixturevalue("server")
    return StorageConfig(address=f"s3://{BUCKET}/{tmp_path.name}", threads=4)


@pytest.fixture
def storage(config: StorageConfig) -> Storage:
    return Storage(config)
