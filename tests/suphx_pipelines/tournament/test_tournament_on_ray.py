"""Whole tournaments over Ray's processes, undisturbed and killed: every result is the same bytes as in one process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

from tests.repository import REPOSITORY
from tests.suphx_pipelines.runs.tile_keeper import save_keeper
from tests.suphx_pipelines.tournament.short_tournament import SHORT, over_ray
from tests.suphx_pipelines.tournament.small_tournament import play
from tests.suphx_platform.evaluation.slow_tasks import game_processes

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.usefixtures("short_games")]

RESULTS = ("games.json", "table.json", "decision.json")
WALLS = SHORT.leaderboard.hanchans // 4


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, _empty_store: Path) -> Path:
    """A folder of runs with a checkpoint that plays."""
    folder = tmp_path_factory.mktemp("start")
    shutil.copy(_empty_store, folder / "mlflow.db")
    save_keeper(folder / "a-1" / "reinforcement")
    return folder


@pytest.fixture
def runs(start: Path, tmp_path: Path) -> Path:
    return shutil.copytree(start, tmp_path / "runs")


@pytest.fixture(scope="module")
def expected(start: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process leaves that nobody disturbs."""
    runs = shutil.copytree(start, tmp_path_factory.mktemp("one") / "runs")
    play(runs, SHORT)
    found = results(runs)
    assert len(kept_walls(runs)) == WALLS
    assert sum("/games/fresh/" in name for name in found) > 0, "the decision was played to its end"
    return found


def results(runs: Path) -> dict[str, bytes]:
    """Return the games that were kept and what was computed of them, by path."""
    (folder,) = runs.glob("nightly-*")
    paths = [path for stage in ("leaderboard", "decision") for path in (folder / stage).rglob("*.json")]
    wanted = [path for path in paths if "games" in path.parent.parts or path.name in RESULTS]
    return {str(path.relative_to(runs)): path.read_bytes() for path in sorted(wanted)}


def check(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """Several workers may also have finished walls behind those that decided; they are kept and count for nothing."""
    assert {name: found.get(name) for name in expected} == expected
    assert all("/decision/games/walls-" in name for name in found.keys() - expected.keys())


def kept_walls(runs: Path) -> list[Path]:
    return list(runs.glob("nightly-*/leaderboard/games/*.json"))


@contextmanager
def when_games_come(runs: Path, act: Callable[[], None]) -> Iterator[None]:
    """Have ``act`` called as soon as the first wall is kept, while the block goes on."""

    is_over = threading.Event()

    def watch() -> None:
        while not kept_walls(runs):
            if is_over.wait(0.005):
                return
        act()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_workers_leaves_the_same_files(runs: Path, expected: dict[str, bytes], workers: int) -> None:
    play(runs, over_ray(workers))
    check(results(runs), expected)


def start_driver(runs: Path, workers: int, **environment: str) -> subprocess.Popen[bytes]:
    """Start the tournament in a process of its own: one process cannot meet one Ray after the other."""
    command = [sys.executable, "-m", "tests.suphx_pipelines.tournament.short_tournament", str(runs), str(workers)]
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(command, cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": path, **environment})


@pytest.mark.parametrize("what", ["worker", "node"])
def test_a_worker_or_a_node_that_dies_changes_no_file(runs: Path, expected: dict[str, bytes], what: str) -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    killed: list[int] = []
    try:
        nodes = [cluster.add_node(num_cpus=2) for _ in range(2)]

        head = cluster.head_node
        assert head is not None

        def kill() -> None:
            killed.extend(game_processes(Path(head.get_session_dir_path()).name))
            if what == "node":
                cluster.remove_node(nodes[0], allow_graceful=False)
            else:
                os.kill(killed[0], signal.SIGKILL)

        driver = start_driver(runs, 4, RAY_ADDRESS=cluster.address)
        with when_games_come(runs, kill):
            assert driver.wait(600) == 0
    finally:
        cluster.shutdown()
    assert killed
    check(results(runs), expected)


def test_a_driver_that_is_killed_goes_on_when_it_is_started_again(runs: Path, expected: dict[str, bytes]) -> None:
    driver = start_driver(runs, 2)
    with when_games_come(runs, driver.kill):
        assert driver.wait(600) == -signal.SIGKILL
    assert 0 < len(kept_walls(runs)) < WALLS
    assert start_driver(runs, 2).wait(600) == 0
    check(results(runs), expected)
