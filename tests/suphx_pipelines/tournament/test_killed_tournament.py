"""A tournament on one machine that is killed and started again leaves the bytes of an undisturbed one."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from tests.suphx_pipelines.tournament import kept_files

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_east_games")]


@pytest.mark.parametrize(("stage", "workers"), [("leaderboard", 2), ("decision", 1), ("decision", 2)])
def test_a_killed_driver_goes_on_when_it_is_started_again(
    start: Path, tmp_path: Path, expected: dict[str, bytes], stage: str, workers: int
) -> None:
    runs = shutil.copytree(start, tmp_path / "runs")
    driver = kept_files.start_driver(runs, workers)
    with kept_files.when_games_come(runs, driver.kill, stage):
        assert driver.wait(300) == -signal.SIGKILL
    assert 0 < len(kept_files.kept_walls(runs)) <= kept_files.WALLS
    assert not list(runs.glob(f"nightly-*/{stage}/done.json"))
    assert kept_files.start_driver(runs, workers).wait(300) == 0
    kept_files.check(kept_files.results(runs), expected)
