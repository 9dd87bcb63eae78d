"""A tournament on one machine that is killed and started again leaves the bytes of an undisturbed one."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from tests.suphx_pipelines.tournament.kept_files import (
    WALLS,
    check,
    kept_walls,
    results,
    start_driver,
    when_games_come,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_east_games")]


@pytest.mark.parametrize(("stage", "workers"), [("leaderboard", 2), ("decision", 1), ("decision", 2)])
def test_a_killed_driver_goes_on_when_it_is_started_again(
    start: Path, tmp_path: Path, expected: dict[str, bytes], stage: str, workers: int
) -> None:
    runs = shutil.copytree(start, tmp_path / "runs")
    driver = start_driver(runs, workers)
    with when_games_come(runs, driver.kill, stage):
        assert driver.wait(300) == -signal.SIGKILL
    assert 0 < len(kept_walls(runs)) <= WALLS
    assert not list(runs.glob(f"nightly-*/{stage}/done.json"))
    assert start_driver(runs, workers).wait(300) == 0
    check(results(runs), expected)
