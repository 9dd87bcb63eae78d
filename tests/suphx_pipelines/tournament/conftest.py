"""What the tests of killed tournaments share: games of the east round, a folder of runs, and what nobody disturbed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.short_games import east_games
from tests.suphx_pipelines.runs.tile_keeper import save_keeper
from tests.suphx_pipelines.tournament.kept_files import undisturbed


@pytest.fixture(scope="module")
def _east_games() -> Iterator[None]:
    with east_games():
        yield


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, _empty_store: Path) -> Path:
    """A folder of runs with a checkpoint that plays."""
    folder = tmp_path_factory.mktemp("start")
    shutil.copy(_empty_store, folder / "mlflow.db")
    save_keeper(folder / "a-1" / "reinforcement")
    return folder


@pytest.fixture(scope="module")
def expected(start: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process leaves that nobody disturbs."""
    return undisturbed(start, tmp_path_factory.mktemp("one"))
