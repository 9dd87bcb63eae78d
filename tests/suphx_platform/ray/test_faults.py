"""Self-play over Ray's processes while these are killed, stopped or slow: real signals to real processes."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from suphx.models.tensor_file import read_tensors
from suphx.selfplay.config import ReplayBufferConfig
from suphx.training.learner_config import PolicyGradientConfig
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx.training.trainer import DivergedError, StoppedError
from suphx_platform.ray.backend import RayBackend
from suphx_platform.ray.process import Health
from suphx_platform.ray.session import ray_session
from suphx_platform.ray.topology import local_needs
from suphx_platform.selfplay.policy_trainer import PolicyTrainer
from suphx_platform.selfplay.run_folder import DIVERGED_FILE
from tests.suphx_platform.ray.ray_config import ALONE, FREE, LOCKSTEP
from tests.suphx_platform.selfplay.small_trainer import new_trainer, weights

pytestmark = [pytest.mark.ray, pytest.mark.slow]

KILLED_AT = 5
UPDATES = 20
FAULTY = replace(FREE, max_updates=UPDATES, report_every=1)
NOBODY = Health(0, "", 0)
IN_STEP = replace(
    LOCKSTEP, report_every=1, save_seconds=0.0, cluster=replace(LOCKSTEP.cluster, learner_copy_interval=3)
)


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[None]:
    """One Ray for all tests of this file, as a cluster is: it outlives its runs."""
    with ray_session(**local_needs(FAULTY.cluster)):
        yield


class Run:
    """A run to which something happens at update ``KILLED_AT``."""

    def __init__(self, folder: Path, config: ReinforcementConfig, act: Callable[[Run], None]) -> None:
        self.folder = folder
        self.killed: list[int] = []
        self._act = act
        self._controller: PolicyTrainer = new_trainer(folder, config, report=self._report)

    @property
    def backend(self) -> RayBackend:
        assert isinstance(self._controller._backend, RayBackend)
        return self._controller._backend

    def go(self) -> dict[str, Any]:
        self.metrics = self._controller.run()
        return self.metrics

    def kill(self, *parts: str, by: int = signal.SIGKILL) -> None:
        processes = self.backend.supervisor.health
        self.killed += [processes[part].process for part in parts]
        for part in parts:
            os.kill(processes[part].process, by)

    def wait_until_missed(self, parts: Sequence[str]) -> None:
        """Give nobody anything new to do until the death of all ``parts`` is known: else the run might end before."""
        while any(self.backend.supervisor.health.get(part, NOBODY).process in self.killed for part in parts):
            self.handle_answers()

    def handle_answers(self) -> None:
        """Let the backend hear of what was done, and give nobody anything new to do."""
        for answer in self.backend.supervisor.wait(1):
            self.backend._handle(answer)

    def check(self, config: ReinforcementConfig) -> None:
        """Every update was made once, versions never went back, nobody killed still lives."""
        history = self.metrics["history"]
        assert [point["updates"] for point in history] == list(range(1, config.max_updates + 1))
        versions = [point["version"] for point in history]
        assert versions == sorted(versions)
        assert self.metrics["version"] >= config.max_updates // config.weight_sync_interval
        counts = self.metrics["decisions_of_buffer"]
        assert counts["learned"] + counts["stale"] + counts["lost"] <= counts["added"]
        assert not any(Path(f"/proc/{process}").exists() for process in self.killed)

    def _report(self, point: Mapping[str, float]) -> None:
        if point["updates"] == KILLED_AT and "seconds" in point:
            wait_for(lambda: self.backend.supervisor.health.keys() == self.backend.actors.keys(), self.backend)
            self._act(self)


def wait_for(is_so: Callable[[], bool], backend: RayBackend) -> None:
    """Let the backend work, as its run would, until something is so; what happens meanwhile is told later."""
    happened = []
    while not is_so():
        happened += backend.advance()
    for event in happened:
        backend.supervisor.emit(event)


ALL_SIMULATORS = ("simulator 0", "simulator 1")


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        (("simulator 0",), {"simulator_died": 1}),
        (ALL_SIMULATORS, {"simulator_died": 2}),
        (("engine 1",), {"engine_died": 1}),
        (("engine 0", "engine 1"), {"engine_died": 2}),
        (("buffer 0",), {"buffer_died": 1}),
        (("learner",), {"learner_died": 1}),
        (("server",), {"server_died": 1}),
    ],
    ids=lambda value: " and ".join(value) if isinstance(value, tuple) else "",
)
def test_training_goes_on_when_a_process_is_killed(
    tmp_path: Path, parts: tuple[str, ...], fault: dict[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "suphx_platform")

    def kill(run: Run) -> None:
        run.kill(*parts)
        run.wait_until_missed(parts)

    run = Run(tmp_path, FAULTY, kill)
    metrics = run.go()
    run.check(FAULTY)
    assert metrics["faults"] == fault
    for part in parts:
        assert any(line.startswith(f"{part} died: ") for line in caplog.messages)
    assert {kind: metrics["history"][-1][f"{kind}_faults"] for kind in fault} == fault


def test_all_parts_of_a_learners_node_may_die_at_once(tmp_path: Path) -> None:
    """A learner that starts waits for the server, which waits to be told what it has."""
    parts = ("learner", "server", "buffer 0")

    def kill(run: Run) -> None:
        run.kill(*parts)
        run.wait_until_missed(parts)

    run = Run(tmp_path, FAULTY, kill)
    assert run.go()["faults"] == {"learner_died": 1, "server_died": 1, "buffer_died": 1}
    run.check(FAULTY)


def test_a_stop_while_the_learner_starts_again_waits_for_it_and_saves(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One that has no node is not waited for: tests/suphx_platform/selfplay/test_policy_trainer.py."""
    caplog.set_level(logging.INFO, "suphx_platform")

    def kill_and_stop(run: Run) -> None:
        run.kill("learner")
        run.wait_until_missed(("learner",))
        os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(StoppedError):
        Run(tmp_path, FAULTY, kill_and_stop).go()
    assert any(message.startswith("stopping: saving the state after ") for message in caplog.messages)
    resumed = Run(tmp_path, FAULTY, lambda _: None)
    resumed.go()
    resumed.check(FAULTY)


@pytest.mark.parametrize("part", ["learner", "buffer 0"])
def test_a_process_that_dies_while_nobody_needs_it_is_told_to_begin_again(tmp_path: Path, part: str) -> None:
    """Only health checks tell of its death; another actor is in its place before anybody asks it for something."""

    def kill_idle(run: Run) -> None:
        while run.backend.supervisor.num_calls():
            run.handle_answers()
        run.kill(part)
        while run.backend.supervisor.health.get(part, NOBODY).process in (0, *run.killed):
            run.handle_answers()

    run = Run(tmp_path, FAULTY, kill_idle)
    metrics = run.go()
    run.check(FAULTY)
    assert metrics["faults"] == {f"{part.split()[0]}_died": 1}


@pytest.mark.parametrize("part", ["learner", "engine 0", "server"])
def test_a_process_that_dies_changes_no_number_of_a_run_in_lockstep(tmp_path: Path, part: str) -> None:
    run = Run(tmp_path / "ray", IN_STEP, lambda run: run.kill(part))
    metrics = run.go()
    run.check(IN_STEP)
    assert run.killed
    assert metrics["faults"] == {f"{part.split()[0]}_died": 1}
    new_trainer(tmp_path / "alone", ALONE).run()
    np.testing.assert_equal(weights(tmp_path / "ray"), weights(tmp_path / "alone"))


def test_an_engine_that_hangs_is_killed_and_its_requests_are_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "suphx_platform")
    config = replace(FAULTY, cluster=replace(FAULTY.cluster, num_engines=1, hang_seconds=8.0))
    run = Run(tmp_path, config, lambda run: run.kill("engine 0", by=signal.SIGSTOP))
    assert run.go()["faults"] == {"engine_hung": 1}
    run.check(config)
    assert "engine 0 hung: no answer for 8 s: it is started again" in caplog.messages


def test_a_loss_that_is_no_number_ends_the_run_with_the_batch(tmp_path: Path) -> None:
    gradient = PolicyGradientConfig(reward_unit=1e-42)
    config = replace(FREE, learner=replace(FREE.learner, gradient=gradient))
    with pytest.raises(DivergedError, match=r"diverged at update \d+ .*the weights of version \d+ in"):
        new_trainer(tmp_path, config).run()
    tensors, _ = read_tensors(tmp_path / DIVERGED_FILE)
    assert torch.isfinite(tensors["discard.rewards"]).all()
    assert tensors["discard.rewards"].any()
    assert all(np.isfinite(values).all() for values in weights(tmp_path).values())


def test_simulators_wait_for_a_slow_learner(tmp_path: Path) -> None:
    """The learner stands still until nothing moves any more: then each buffer has two batches and what came last."""
    config = replace(FAULTY, buffer=ReplayBufferConfig(batch_size=200))
    most = 0

    def stop(run: Run) -> None:
        nonlocal most
        process = run.backend.supervisor.health["learner"].process
        os.kill(process, signal.SIGSTOP)
        added, since = 0, time.monotonic()
        until = since + 120
        while time.monotonic() < since + 5 or (run.backend.counts.refused == 0 and time.monotonic() < until):
            for event in run.backend.advance():
                run.backend.supervisor.emit(event)
            counts = run.backend.counts
            most = max(most, counts.added - counts.learned - counts.stale)
            if run.backend.counts.added != added:
                added, since = run.backend.counts.added, time.monotonic()
        assert run.backend.counts.refused > 0
        os.kill(process, signal.SIGCONT)

    run = Run(tmp_path, config, stop)
    assert run.go()["faults"] == {}
    run.check(config)
    num_buffers = config.cluster.num_buffers
    assert 2 * 200 * num_buffers <= most <= 4 * 200 * num_buffers
