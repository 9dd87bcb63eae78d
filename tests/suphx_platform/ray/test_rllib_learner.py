"""RLlib's learners against the plain learner of one process: nearly the same numbers."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ray.util.placement_group import remove_placement_group

from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD
from suphx.selfplay.weights import Weights
from suphx.training.learner import Learner
from suphx.training.learner_config import DistillationConfig, LearnerConfig
from suphx.training.trainer import DivergedError
from suphx_platform.ray.process import LearnersLostError
from suphx_platform.ray.rllib_learner import PolicyGradientLearner, RLlibWorkers
from suphx_platform.ray.session import ray_session, reserve_room
from tests.training.decision_batch import BATCHES, CONFIG, decisions, small_net

TWO = replace(CONFIG, num_learners=2)
HEADS = (DISCARD_HEAD, CHOW_HEAD)


def rllib_learner(config: LearnerConfig, heads: tuple[int, ...] = (DISCARD_HEAD,), **place: Any) -> Learner:
    return Learner(config, [small_net(head) for head in heads], new_workers=partial(RLlibWorkers, **place))


def plain_learner() -> Learner:
    return Learner(CONFIG, [small_net(head) for head in HEADS])


def test_several_learners_need_a_connection_to_ray() -> None:
    with pytest.raises(ValueError, match="num_learners is 2: several learners need Ray, without it use 1"):
        rllib_learner(TWO)


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    with ray_session(num_cpus=4):
        yield


@pytest.fixture(scope="module")
def two(ray: None) -> Iterator[Learner]:
    learner = rllib_learner(TWO, HEADS)
    yield learner
    learner.close()


def processes_of(learner: Learner) -> list[int]:
    """Return the process of each worker."""
    workers = learner.workers
    assert isinstance(workers, RLlibWorkers)
    return workers._on_each(lambda _: os.getpid())


def assert_close(found: Weights, expected: Weights) -> None:
    assert found.keys() == expected.keys()
    for head, weights in expected.items():
        assert found[head].keys() == weights.keys()
        for name, values in weights.items():
            assert values == pytest.approx(found[head][name], abs=2e-6), name


@pytest.mark.ray
def test_two_learners_learn_what_one_learns_from_the_whole_batch(two: Learner) -> None:
    one = plain_learner()
    two.restore(*one.state())
    start = one.weights()
    for batch in BATCHES:
        found, expected = two.update(batch), one.update(batch)
        assert two.num_updates == one.num_updates
        for head, figures in expected.items():
            for name in ("entropy", "reward", "policy_loss", "critic_loss", "policy_norm", "critic_norm", "kl"):
                assert found[head][name] == pytest.approx(figures[name], rel=1e-4, abs=1e-6), name
    assert_close(two.weights(), one.weights())
    assert (
        np.abs(start["discard"]["trunk.stem.conv.weight"] - one.weights()["discard"]["trunk.stem.conv.weight"]).max()
        > 0.01
    )
    assert two.kl_to_start(BATCHES[0]) == pytest.approx(one.kl_to_start(BATCHES[0]), rel=1e-3)


@pytest.mark.ray
@pytest.mark.slow
def test_two_learners_stay_as_near_to_a_teacher_as_one(ray: None) -> None:
    """The bound is one for the mean over both parts: one part is nearer to the teacher than it, the other is not."""
    teacher = small_net(seed=2)
    batch = {DISCARD_HEAD: decisions(n=64, seed=5)}
    parts = [{DISCARD_HEAD: part} for part in batch[DISCARD_HEAD].split(2)]
    far = replace(CONFIG, learning_rate=1e-9, distillation=DistillationConfig(weight=1e-9))
    probe = Learner(far, [small_net()], teachers=[teacher])
    near, beyond = sorted(probe.update(part)["discard"]["teacher_distance"] for part in parts)
    config = replace(CONFIG, distillation=DistillationConfig(weight=5.0, bound=(near + 2 * beyond) / 3))
    one = Learner(config, [small_net()], teachers=[teacher])
    two = Learner(replace(config, num_learners=2), [small_net()], teachers=[teacher], new_workers=RLlibWorkers)
    for _ in range(2):
        assert two.update(batch)["discard"]["teacher_distance"] == pytest.approx(
            one.update(batch)["discard"]["teacher_distance"], rel=1e-4
        )
    assert_close(two.weights(), one.weights())
    two.close()


@pytest.mark.ray
def test_a_state_does_not_depend_on_the_number_of_learners(two: Learner) -> None:
    one = plain_learner()
    for batch in BATCHES:
        one.update(batch)
    two.restore(*one.state())
    two.update(BATCHES[0])
    again = plain_learner()
    again.restore(*two.state())
    one.update(BATCHES[0])
    assert_close(again.weights(), one.weights())
    again.update(BATCHES[1])
    one.update(BATCHES[1])
    assert again.num_updates == one.num_updates == len(BATCHES) + 2
    assert_close(again.weights(), one.weights())


@pytest.mark.ray
def test_a_loss_that_is_no_number_changes_none_of_two_learners(two: Learner) -> None:
    before = two.state()[0]
    bad = decisions()
    bad.rewards[5] = np.nan  # in the part of the first learner
    with pytest.raises(DivergedError, match="discard policy net is nan"):
        two.update({DISCARD_HEAD: bad})
    assert all(torch.equal(before[name], tensor) for name, tensor in two.state()[0].items())
    one = plain_learner()
    one.restore(*two.state())
    one.update(BATCHES[0])
    two.update(BATCHES[0])
    assert_close(two.weights(), one.weights())


@pytest.mark.ray
def test_a_killed_learner_is_an_error_soon_and_a_new_one_goes_on_from_the_state(two: Learner) -> None:
    """The last test of ``two``: its processes have ended afterwards."""
    two.update({DISCARD_HEAD: decisions()})
    number = two.num_updates
    state, processes = two.state(), processes_of(two)
    assert len({*processes, os.getpid()}) == 3
    os.kill(processes[1], signal.SIGKILL)
    started = time.monotonic()
    with pytest.raises(LearnersLostError, match="one of 2 learners is lost"):
        two.update({DISCARD_HEAD: decisions(seed=1)})
    assert time.monotonic() - started < 120
    wait_for_end(processes)
    learner = rllib_learner(TWO, HEADS)
    learner.restore(*state)
    learner.update({DISCARD_HEAD: decisions(seed=1)})
    assert learner.num_updates == number + 1
    processes = processes_of(learner)
    learner.close()
    wait_for_end(processes)


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_a_learner_that_hangs_is_lost_after_a_while() -> None:
    learner = rllib_learner(TWO, timeout_seconds=10)
    processes = processes_of(learner)
    os.kill(processes[1], signal.SIGSTOP)
    with pytest.raises(LearnersLostError, match="no answer in 10 s"):
        learner.update({DISCARD_HEAD: decisions()})
    wait_for_end(processes)


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_a_learner_that_dies_while_it_starts_is_lost_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying(PolicyGradientLearner):
        def build(self) -> None:
            os._exit(1)

    monkeypatch.setattr("suphx_platform.ray.rllib_learner.PolicyGradientLearner", Dying)
    with pytest.raises(LearnersLostError, match="one of 2 learners is lost while they start"):
        rllib_learner(TWO)


@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_learners_on_gpus_must_get_some() -> None:
    with pytest.raises(ValueError, match="device is cuda, but the learners get no GPUs"):
        rllib_learner(replace(TWO, device="cuda"))


@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_learners_for_which_there_is_no_room_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("suphx_platform.ray.session._SAY_SECONDS", 1)
    taken = reserve_room({"CPU": 3}, 1)

    class GivesRoom(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            remove_placement_group(taken)

    logger = logging.getLogger("suphx_platform.ray.session")
    logger.addHandler(GivesRoom())
    try:
        room = reserve_room({"CPU": 2}, 2)
    finally:
        logger.handlers.clear()
    assert caplog.messages[0].startswith("Ray cannot place 2 learners of {'CPU': 2} each yet: it has {")
    remove_placement_group(room)


def wait_for_end(processes: list[int]) -> None:
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() < deadline, "the learners' processes are still there"
        time.sleep(0.05)
