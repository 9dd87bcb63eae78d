"""Whole tournaments over Ray's processes, undisturbed and killed: every result is the same bytes as in one process."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

from tests.suphx_pipelines.tournament.kept_files import WALLS, check, kept_walls, results, start_driver, when_games_come
from tests.suphx_pipelines.tournament.short_tournament import over_ray
from tests.suphx_pipelines.tournament.small_tournament import play
from tests.suphx_platform.evaluation.slow_tasks import game_processes

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.usefixtures("_east_games")]


@pytest.fixture
def runs(start: Path, tmp_path: Path) -> Path:
    return shutil.copytree(start, tmp_path / "runs")


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_workers_leaves_the_same_files(runs: Path, expected: dict[str, bytes], workers: int) -> None:
    play(runs, over_ray(workers))
    check(results(runs), expected)


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

        driver = start_driver(runs, 4, "ray", RAY_ADDRESS=cluster.address)
        with when_games_come(runs, kill):
            assert driver.wait(600) == 0
    finally:
        cluster.shutdown()
    assert killed
    check(results(runs), expected)


def test_a_driver_that_is_killed_goes_on_when_it_is_started_again(runs: Path, expected: dict[str, bytes]) -> None:
    driver = start_driver(runs, 2, "ray")
    with when_games_come(runs, driver.kill):
        assert driver.wait(600) == -signal.SIGKILL
    assert 0 < len(kept_walls(runs)) < WALLS
    assert start_driver(runs, 2, "ray").wait(600) == 0
    check(results(runs), expected)
