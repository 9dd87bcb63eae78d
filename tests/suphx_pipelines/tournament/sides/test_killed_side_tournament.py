"""A tournament in a game of two sides that is killed and started again leaves the bytes of an undisturbed one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from suphx.evaluation.rating.side_tournament import BLOCK_DECKS
from tests.repository import REPOSITORY
from tests.suphx_pipelines.tournament.sides.small_side_tournament import SMALL, play, save_nets

pytestmark = pytest.mark.slow
BLOCKS = SMALL.leaderboard.decks // BLOCK_DECKS


def start_driver(runs: Path, workers: int) -> subprocess.Popen[bytes]:
    module = "tests.suphx_pipelines.tournament.sides.small_side_tournament"
    command = [sys.executable, "-m", module, str(runs), str(workers)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(command, cwd=REPOSITORY, env=environment)


def kept_blocks(runs: Path) -> list[Path]:
    return list(runs.glob("cards-*/leaderboard/games/*.json"))


def results(runs: Path) -> dict[str, bytes]:
    """Return what is kept of the games and computed of them, by path."""
    paths = [
        *kept_blocks(runs),
        *runs.glob("cards-*/leaderboard/games.json"),
        *runs.glob("cards-*/leaderboard/table.json"),
    ]
    return {str(path.relative_to(runs)): path.read_bytes() for path in sorted(paths)}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_driver_goes_on_when_it_is_started_again(runs: Path, tmp_path: Path, workers: int) -> None:
    save_nets(runs / "a-1" / "learning", seed=1)
    other = shutil.copytree(runs, tmp_path / "other")
    play(runs)
    expected = results(runs)
    assert len(expected) == BLOCKS + 2
    driver = start_driver(other, workers)
    while not kept_blocks(other) and driver.poll() is None:
        time.sleep(0.001)  # until the first block is kept: there is no event to wait for in another process
    driver.kill()
    assert driver.wait(300) == -signal.SIGKILL
    assert 0 < len(kept_blocks(other)) < BLOCKS
    assert not list(other.glob("cards-*/leaderboard/done.json"))
    assert start_driver(other, workers).wait(300) == 0
    assert results(other) == expected
