"""Fixtures for real resources only."""

from __future__ import annotations

import os

# Before torch is imported: test processes run side by side, and threads of torch would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import shutil
from pathlib import Path

import pytest

from suphx_platform.tracking import TrackingStore

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def records() -> Path:
    """The folder of real game records: $SUPHX_RECORDS, or ../shared/data beside the repository; skips without it."""
    given = os.environ.get("SUPHX_RECORDS")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no game records at {folder}: set SUPHX_RECORDS to a folder of records")
    return folder


@pytest.fixture(scope="session")
def _empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    TrackingStore(folder).client.search_experiments(max_results=1)  # makes the tables, which takes seconds
    return folder / "mlflow.db"


@pytest.fixture
def runs(tmp_path: Path, _empty_store: Path) -> Path:
    """A folder of runs with a real, empty MLflow store."""
    folder = tmp_path / "runs"
    folder.mkdir()
    shutil.copy(_empty_store, folder / "mlflow.db")
    return folder
