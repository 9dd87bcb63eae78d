"""The backend over Ray's processes; what happens when these die is in test_faults.py."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from suphx.evaluation.kept_results import RECORDS_FOLDER
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.config import ReplayBufferConfig
from suphx.selfplay.layout import RayLayoutConfig
from suphx.training.backend_state import load_learner_state
from suphx.training.learner_config import OracleConfig
from suphx.training.reinforcement_config import STATE_FILE, ReinforcementConfig
from suphx_platform.ray.session import ray_session
from suphx_platform.ray.topology import local_needs
from tests.suphx_platform.ray.ray_config import ALONE, FREE, LOCKSTEP
from tests.suphx_platform.selfplay.small_trainer import new_trainer, numbers, weights

pytestmark = [pytest.mark.ray, pytest.mark.slow]

PREDICTED = replace(ALONE, reward="global_prediction")
GUIDED = replace(
    ALONE,
    oracle=OracleConfig(policy=True, steps=4, updates_per_step=2),
    learner=replace(ALONE.learner, oracle_critic=True),
)
DAZHONG = replace(ALONE, game="dazhong", heads=("turn", "claim"))
OF_PROCESSES = ("memory_bytes", "versions_behind")


def records(folder: Path) -> dict[str, bytes]:
    """Return the files with the games of the last matches."""
    found = (path for path in (folder / RECORDS_FOLDER).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def same_numbers(metrics: dict[str, Any]) -> list[dict[str, Any]]:
    return [{n: v for n, v in point.items() if not n.endswith(OF_PROCESSES)} for point in numbers(metrics)]


@pytest.mark.parametrize(("num_engines", "config"), [(1, PREDICTED), (0, GUIDED), (1, DAZHONG)])
def test_one_actor_of_each_in_lockstep_gives_the_numbers_of_one_process(
    tmp_path: Path, num_engines: int, config: ReinforcementConfig
) -> None:
    alone = new_trainer(tmp_path / "alone", config).run()
    cluster = replace(LOCKSTEP.cluster, num_engines=num_engines)
    over_ray = new_trainer(tmp_path / "ray", replace(config, cluster=cluster)).run()
    assert same_numbers(over_ray) == same_numbers(alone)
    for head in config.heads:
        np.testing.assert_equal(weights(tmp_path / "ray", head), weights(tmp_path / "alone", head))
    assert records(tmp_path / "ray") == records(tmp_path / "alone")
    assert bool(records(tmp_path / "alone")) == (config.game == "riichi"), "matches of other games keep no records"


def test_a_run_goes_on_in_another_shape(tmp_path: Path) -> None:
    """One process, then one actor of each in step: still the same numbers; then two of each at their own pace."""
    new_trainer(tmp_path / "a", replace(ALONE, max_updates=3)).run()
    new_trainer(tmp_path / "a", replace(LOCKSTEP, save_seconds=0.0)).run()
    new_trainer(tmp_path / "b", ALONE).run()
    np.testing.assert_equal(weights(tmp_path / "a"), weights(tmp_path / "b"))
    free = new_trainer(tmp_path / "a", FREE).run()
    assert free["updates"] >= FREE.max_updates
    back = new_trainer(tmp_path / "a", replace(ALONE, max_updates=40)).run()
    assert back["updates"] == 40
    assert back["version"] > free["version"]


def test_a_state_at_free_pace_has_the_updates_that_were_reported(tmp_path: Path) -> None:
    """The learner is given batches ahead: a state must not have updates that the run does not know of."""
    states: list[tuple[int, int]] = []

    def look(updates: int, _: object) -> None:
        _, values = load_learner_state(tmp_path / STATE_FILE)
        states.append((updates, values["num_updates"]))

    new_trainer(tmp_path, replace(FREE, max_updates=8, save_seconds=0.0), keep=look).run()
    assert len(states) > 2
    assert all(reported == made for reported, made in states)


def test_many_actors_at_their_own_pace_learn(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "suphx_platform")
    metrics = new_trainer(tmp_path, FREE).run()
    assert metrics["faults"] == {}
    told = [line for line in caplog.messages if not line.startswith("waiting for ") and line != "all parts are there"]
    assert told == []
    assert [point["updates"] for point in metrics["history"]] == [3, 6, 9, 12, 15, 18, 21, 24]
    last = metrics["history"][-1]
    assert metrics["updates"] == FREE.max_updates
    assert last["version"] == metrics["version"] == 12
    policy = "net.discard.policy."
    newest = {
        name.removeprefix(policy): value.numpy()
        for name, value in load_learner_state(tmp_path / STATE_FILE)[0].items()
        if name.startswith(policy)
    }
    np.testing.assert_equal(weights(tmp_path), newest)
    counts = metrics["decisions_of_buffer"]
    assert counts["learned"] >= 24 * 200
    assert counts["added"] >= counts["learned"]
    assert {"simulator_memory_bytes", "engine_memory_bytes", "learner_memory_bytes"} <= set(last)
    load_agent(str(tmp_path))


def test_a_killed_one_of_several_learners_is_made_up_for(tmp_path: Path) -> None:
    """The learner starts again with it, from the copy of its state, and makes the updates since then once more."""
    cluster = RayLayoutConfig(on_ray=True, learner_copy_interval=3)
    config = replace(ALONE, max_updates=24, learner=replace(ALONE.learner, num_learners=2), cluster=cluster)
    killed: list[int] = []

    def kill_one(point: Mapping[str, float]) -> None:
        if point["updates"] >= 6 and not killed:
            below = psutil.Process().children(recursive=True)
            name = "_WrappedExecutable"  # what RLlib's learners are called
            learners = [process.pid for process in below if name in " ".join(process.cmdline())]
            assert len(learners) == 2
            killed.append(learners[1])
            os.kill(killed[0], signal.SIGKILL)

    metrics = new_trainer(tmp_path, config, report=kill_one).run()
    assert killed
    assert metrics["faults"].keys() == {"learner_died"}
    assert [point["updates"] for point in metrics["history"]] == [3, 6, 9, 12, 15, 18, 21, 24]
    versions = [point["version"] for point in metrics["history"]]
    assert versions == sorted(versions)


def test_the_next_run_in_an_open_ray_session_has_room_for_its_learners(tmp_path: Path) -> None:
    cluster = RayLayoutConfig(on_ray=True, start_seconds=60.0)
    config = replace(ALONE, max_updates=3, learner=replace(ALONE.learner, num_learners=2), cluster=cluster)
    with ray_session(**local_needs(config.cluster, config.learner.num_learners)):
        for name in "ab":
            assert new_trainer(tmp_path / name, config).run()["updates"] == 3


def test_a_buffer_without_room_says_what_to_change(tmp_path: Path) -> None:
    config = replace(FREE, buffer=ReplayBufferConfig(batch_size=100_000, capacity_bytes=2**20))
    with pytest.raises(ValueError, match=r"raise reinforcement\.buffer\.capacity_bytes above"):
        new_trainer(tmp_path, config).run()
