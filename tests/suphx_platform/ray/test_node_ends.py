"""Nodes that end gracefully or are lost, while parts start, while a match is played, and while a state is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.models.tensor_file import read_tensors
from suphx.training.monte_carlo_learning import STATE_FILE
from suphx_platform.ray.backend import LockstepBackend
from tests.suphx_platform.ray import small_rounds
from tests.suphx_platform.ray.ray_config import ALONE, LOCKSTEP
from tests.suphx_platform.ray.ray_nodes import WAYS, RayNodes, Way, ray_nodes
from tests.suphx_platform.selfplay.small_trainer import new_trainer, numbers, weights

pytestmark = [pytest.mark.ray, pytest.mark.slow]

LONG = replace(ALONE, max_updates=40, evaluate_every=8, report_every=1, save_seconds=0.0)
IN_STEP = replace(LONG, cluster=replace(LOCKSTEP.cluster, learner_copy_interval=3))
ACTORS = {"simulator": "SimulatorActor", "inference": "InferenceEngineActor", "learner": "LearnerActor"}
LONG_ROUNDS = replace(small_rounds.CONFIG, max_rounds=40, evaluate_rounds=8)
ROUND_ACTORS = {"simulator": "SimulatorActor", "learner": "LearnerActor"}
OF_PROCESSES = ("memory_bytes", "versions_behind", "faults")


def same_numbers(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{n: v for n, v in point.items() if not n.endswith(OF_PROCESSES)} for point in numbers(metrics)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """Numbers and weights of the same self-play in one process."""
    folder = tmp_path_factory.mktemp("alone")
    return same_numbers(new_trainer(folder, LONG).run()), weights(folder)


def moments(
    nodes: RayNodes, monkeypatch: pytest.MonkeyPatch, actors: Mapping[str, str], player: str
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield for each role: its part starts; a process ``player`` of a match plays; a state is saved."""
    for role, kind in actors.items():
        yield role, partial(nodes.processes, role, kind)
    for role in actors:
        yield role, partial(nodes.processes, "simulator", player)
    for number, role in enumerate(actors, start=2 * len(actors)):
        yield role, nodes.end_when_saved(monkeypatch, LockstepBackend, "state", ends_before=number)


@pytest.mark.parametrize("way", WAYS)
def test_self_play_in_lockstep_has_the_same_numbers_whenever_a_node_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: tuple[Any, Any], way: Way
) -> None:
    with ray_nodes(*ACTORS) as nodes:
        ending = nodes.end_when(way, list(moments(nodes, monkeypatch, ACTORS, "GameActor")))
        metrics = new_trainer(tmp_path, IN_STEP).run()
        ending.result(timeout=60)
        assert nodes.ended == [*ACTORS] * 3
    assert same_numbers(metrics) == alone[0]
    np.testing.assert_equal(weights(tmp_path), alone[1])
    assert all(name.endswith("_died") for name in metrics["faults"]), metrics["faults"]


@pytest.fixture(scope="module")
def rounds_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same Deep Monte-Carlo in one process."""
    folder = tmp_path_factory.mktemp("rounds")
    small_rounds.train(folder, LONG_ROUNDS)
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_deep_monte_carlo_in_lockstep_has_the_same_numbers_whenever_a_node_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds_alone: Path, way: Way
) -> None:
    with ray_nodes(*ROUND_ACTORS) as nodes:
        ending = nodes.end_when(way, list(moments(nodes, monkeypatch, ROUND_ACTORS, "_play")))
        _, progress = small_rounds.RayRun(tmp_path, small_rounds.LOCKSTEP, LONG_ROUNDS).go()
        ending.result(timeout=60)
        assert nodes.ended == [*ROUND_ACTORS] * 3
    _, expected = small_rounds.train(rounds_alone, LONG_ROUNDS)  # it is finished: only read
    assert small_rounds.numbers(progress) == small_rounds.numbers(expected)
    found, wanted = (
        {name: tensor.numpy() for name, tensor in read_tensors(folder / STATE_FILE)[0].items()}
        for folder in (tmp_path, rounds_alone)
    )
    np.testing.assert_equal(found, wanted)
