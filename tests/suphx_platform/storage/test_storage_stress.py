"""A short form of the storage stress; the long one is a command (storage_stress.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suphx_platform.storage.s3_server import S3Server
from tests.suphx_platform.storage.storage_stress import stress


@pytest.mark.slow
def test_faults_and_kills_lose_nothing_and_hold_up_nobody(server: S3Server, tmp_path: Path) -> None:
    found = stress(server, tmp_path, seconds=40, kills=3, outages=[5], seed=1)
    assert found.violations == []
    assert (found.kills, len(found.resumed_at)) >= (3, 1)
    assert found.versions_checked > 0
    assert found.resumed_at == sorted(found.resumed_at)
