"""Deep Monte-Carlo over Ray's processes: the numbers of one process, and the same while processes are killed."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import ray

from suphx.games.doudizhu.table import Rules
from suphx.models.tensor_file import read_tensors
from suphx.training.monte_carlo_learning import STATE_FILE
from suphx_platform.ray.backend import RayBackend
from suphx_platform.ray.session import ray_session
from suphx_platform.ray.topology import local_needs
from tests.repository import REPOSITORY
from tests.suphx_platform.ray.small_rounds import (
    CONFIG,
    FREE,
    LOCKSTEP,
    ROUNDS_BEFORE_THE_END,
    RULES,
    RayRun,
    numbers,
    train,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow]

MODULE = "tests.suphx_platform.ray.small_rounds"


@pytest.fixture(scope="module", autouse=True)
def ray_of_all_tests() -> Iterator[None]:
    """One Ray for all tests of this file, as a cluster is: it outlives its runs."""
    with ray_session(**local_needs(FREE.as_ray_layout())):
        yield


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same training in one process."""
    folder = tmp_path_factory.mktemp("alone")
    train(folder)
    return folder


def kill(backend: RayBackend, parts: Sequence[str]) -> None:
    """Kill parts that all live and have begun."""
    while not (backend._begun >= set(parts) and backend.supervisor.health.keys() >= set(parts)):
        for answer in backend.supervisor.wait(1):
            backend._handle(answer)
    for part in parts:
        os.kill(backend.supervisor.health[part].process, signal.SIGKILL)


def check_same(folder: Path, alone: Path, rules: Rules = RULES) -> None:
    """Fail unless both trainings have the same curve, nets, best nets, optimizer and number of rounds."""
    _, progress = train(folder, rules=rules)  # it is finished: only read
    _, expected = train(alone, rules=rules)
    assert numbers(progress) == numbers(expected)
    assert (progress.step, progress.samples) == (expected.step, expected.samples)
    found, _ = read_tensors(folder / STATE_FILE)
    wanted, _ = read_tensors(alone / STATE_FILE)
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        np.testing.assert_array_equal(found[name].numpy(), tensor.numpy(), err_msg=name)


def test_deals_with_auctions_give_the_numbers_of_one_process(tmp_path: Path) -> None:
    rules = Rules(bidding=True)
    train(tmp_path / "alone", rules=rules)
    RayRun(tmp_path / "ray", LOCKSTEP, rules=rules).go()
    check_same(tmp_path / "ray", tmp_path / "alone", rules)


@pytest.mark.parametrize("num_simulators", [1, 2])
def test_lockstep_gives_the_numbers_of_one_process(
    tmp_path: Path, alone: Path, num_simulators: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "suphx_platform")
    run = RayRun(tmp_path, replace(LOCKSTEP, num_simulators=num_simulators))
    run.go()
    check_same(tmp_path, alone)
    assert not [line for line in caplog.messages if " died: " in line or " hung: " in line]


@pytest.mark.parametrize("parts", [["simulator 0"], ["learner"], ["simulator 0", "learner"]], ids="+".join)
def test_killed_processes_change_no_number_in_lockstep(
    tmp_path: Path, alone: Path, parts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "suphx_platform")
    run = RayRun(tmp_path, LOCKSTEP)
    run.go(lambda backend: kill(backend, parts), after=4)  # after a copy of the learner's state, and one round more
    check_same(tmp_path, alone)
    for part in parts:
        assert any(line.startswith(f"{part} died: ") for line in caplog.messages), caplog.messages


def test_a_killed_driver_resumes_with_the_same_numbers(tmp_path: Path, alone: Path) -> None:
    address = ray.get_runtime_context().gcs_address
    driver = subprocess.Popen(
        [sys.executable, "-m", MODULE, str(tmp_path)],
        cwd=REPOSITORY,
        env={**os.environ, "RAY_ADDRESS": address},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    assert driver.stdout.readline() == "saved\n"
    driver.kill()
    driver.wait()
    driver.stdout.close()
    steps = read_tensors(tmp_path / STATE_FILE)[1]["progress"]["step"]
    assert steps == ROUNDS_BEFORE_THE_END * CONFIG.batches
    RayRun(tmp_path, LOCKSTEP).go()
    check_same(tmp_path, alone)


def test_a_training_goes_on_in_another_shape(tmp_path: Path, alone: Path) -> None:
    train(tmp_path, replace(CONFIG, max_rounds=3))
    RayRun(tmp_path, LOCKSTEP).go()
    check_same(tmp_path, alone)


def test_at_free_pace_killed_processes_cost_no_more_than_their_unfinished_games(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "suphx_platform")
    config = replace(CONFIG, max_rounds=20, evaluate_rounds=10, save_seconds=1.0)
    run = RayRun(tmp_path, FREE, config)
    _, progress = run.go(lambda backend: kill(backend, ["simulator 1", "learner"]), after=5)
    assert progress.step == config.max_rounds * config.batches
    assert [entry["games"] for entry in progress.history][-1] == config.max_rounds * config.games
    for part in ("simulator 1", "learner"):
        deaths = [line for line in caplog.messages if line.startswith(f"{part} died: ")]
        assert len(deaths) == 1, caplog.messages
    last = progress.history[-1]
    assert last["faults"] == 2
    assert 0 <= last["staleness"] <= FREE.rounds_per_simulator * FREE.num_simulators + 2


def test_a_time_limit_ends_a_training_with_an_evaluation_of_its_last_round(tmp_path: Path) -> None:
    config = replace(CONFIG, max_rounds=100_000, max_minutes=2 / 60, evaluate_rounds=100_000)
    _, progress = RayRun(tmp_path, FREE, config).go()
    assert progress.seconds >= 2
    assert progress.history[-1]["step"] == progress.step
    assert len(progress.history) <= 2  # the second if the learner was still at work when the time was over
