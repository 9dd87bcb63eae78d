"""A tournament in a game of two sides that is killed and started again leaves the bytes of an undisturbed one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from suphx.evaluation.rating.side_tournament import BLOCK_DECKS
from tests.repository import REPOSITORY
from tests.suphx_pipelines.tournament.kept_files import kept_walls, when_games_come
from tests.suphx_pipelines.tournament.sides.small_side_tournament import LONGER, play, save_nets

pytestmark = pytest.mark.slow
BLOCKS = LONGER.leaderboard.decks // BLOCK_DECKS


def start_driver(runs: Path, workers: int) -> subprocess.Popen[bytes]:
    module = "tests.suphx_pipelines.tournament.sides.small_side_tournament"
    command = [sys.executable, "-m", module, str(runs), str(workers)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(command, cwd=REPOSITORY, env=environment)


def results(runs: Path) -> dict[str, bytes]:
    """Return what is kept of the games and computed of them, by path."""
    names = ("leaderboard/games", "leaderboard/table", "decision/decision")
    computed = [path for name in names for path in runs.glob(f"nightly-*/{name}.json")]
    return {str(path.relative_to(runs)): path.read_bytes() for path in sorted([*kept_walls(runs), *computed])}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_driver_goes_on_when_it_is_started_again(runs: Path, tmp_path: Path, workers: int) -> None:
    for seed in (1, 2):
        save_nets(runs / f"a-{seed}" / "learning", seed)
    other = shutil.copytree(runs, tmp_path / "other")
    play(runs, LONGER)
    expected = results(runs)
    assert len(expected) == BLOCKS + 3
    driver = start_driver(other, workers)
    with when_games_come(other, driver.kill):
        assert driver.wait(300) == -signal.SIGKILL
    assert 0 < len(kept_walls(other)) < BLOCKS
    assert not list(other.glob("nightly-*/leaderboard/done.json"))
    assert start_driver(other, workers).wait(300) == 0
    assert results(other) == expected
