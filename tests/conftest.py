"""Fixtures for real resources only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def records() -> Path:
    """The folder of real game records: $SUPHX_RECORDS, or ../shared/data beside the repository; skips without it."""
    given = os.environ.get("SUPHX_RECORDS")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no game records at {folder}: set SUPHX_RECORDS to a folder of records")
    return folder
