from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.names import DISCARD_HEAD
from suphx.selfplay.backend import Played
from suphx.selfplay.config import SimulatorConfig
from suphx.selfplay.requests import Reply, Request
from suphx.selfplay.simulator import MAX_SIMULATORS, SelfPlaySimulator, SimulatorContext
from suphx.training.reward import GlobalReward, Prediction
from tests.models.random_nets import PREDICTION
from tests.selfplay.row_nets import policy_outputs

PROGRAM = """
from concurrent.futures import Future
from suphx_platform.ray.process import peak_bytes
from suphx.selfplay.config import SimulatorConfig
from suphx.selfplay.simulator import SelfPlaySimulator, SimulatorContext
from tests.selfplay.row_nets import policy_outputs

class RowEngine:
    def submit(self, request):
        future = Future()
        future.set_result([policy_outputs(observations) for observations in request])
        return future

context = SimulatorContext(game="riichi", encoder="suphx", heads=(0,), run_seed=3)
simulator = SelfPlaySimulator(SimulatorConfig(num_tables=512), context, RowEngine())
peaks = []
for _ in range(3):
    for _ in range(20):
        simulator.play(16)
    peaks.append(peak_bytes())
print(*peaks)
"""


@pytest.mark.slow
def test_a_simulator_with_512_tables_and_all_planes_stays_under_400_mb_and_does_not_grow() -> None:
    command = [sys.executable, "-c", PROGRAM]
    subprocess.run(command, check=True, capture_output=True)  # compiles what is not compiled yet
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    first, _, last = map(int, done.stdout.split())
    assert last < 400e6
    assert last < 1.1 * first


class RowEngine:
    """Replies at once; knows how many requests were open at a time."""

    def __init__(self) -> None:
        self.num_requests = 0

    def submit(self, request: Request) -> Future[Reply]:
        self.num_requests += 1
        future: Future[Reply] = Future()
        future.set_result([policy_outputs(observations) for observations in request])
        return future


class SlowEngine(RowEngine):
    """Replies only when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked_twice = threading.Event()
        self.go_on = threading.Event()

    def submit(self, request: Request) -> Future[Reply]:
        answered = super().submit(request)
        if self.num_requests == 2:
            self.is_asked_twice.set()
        late: Future[Reply] = Future()

        def set_late() -> None:
            self.go_on.wait()
            late.set_result(answered.result())

        threading.Thread(target=set_late, daemon=True).start()
        return late


def new_simulator(
    engine: RowEngine, num_tables: int = 8, index: int = 0, prediction: Prediction | None = None, **others: Any
) -> SelfPlaySimulator:
    if prediction is not None:
        others["new_reward"] = partial(GlobalReward, prediction)
    context = SimulatorContext(game="riichi", encoder="mini", heads=(DISCARD_HEAD,), run_seed=3, index=index, **others)
    return SelfPlaySimulator(SimulatorConfig(num_tables=num_tables), context, engine)


def assert_same(first: Played, second: Played) -> None:
    for one, other in zip(first.decisions, second.decisions, strict=True):
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(array, other.arrays()[name])
    assert first.num_deals == second.num_deals


def test_it_counts_what_it_plays_and_pays_what_deals_bring() -> None:
    engine = RowEngine()
    simulator = new_simulator(engine, num_tables=100)
    at_first = simulator.play(100)
    assert 0.4 < at_first.num_decisions / (100 * 100) < 0.7, "tables begin one after another"
    played = simulator.play(300)
    assert played.num_decisions == 300 * 100
    assert engine.num_requests == 2 * 400
    assert played.num_deals > 100
    (decisions,) = played.decisions
    assert len(decisions) > 5000
    assert decisions.rewards.min() < 0 < decisions.rewards.max()


def test_the_same_seed_gives_the_same_decisions_however_steps_are_cut() -> None:
    whole = new_simulator(RowEngine())
    cut = new_simulator(RowEngine())
    whole.play(100)
    for _ in range(10):
        cut.play(10)
    assert_same(whole.play(100), cut.play(100))


def test_simulators_of_a_run_play_different_games() -> None:
    seeds = {
        SimulatorContext(encoder="mini", heads=(), run_seed=seed, index=index, game="riichi").first_seed(half)
        for seed in (0, 1, (1 << 14) - 1)
        for index in (0, 1, MAX_SIMULATORS - 1)
        for half in (0, 1)
    }
    assert len(seeds) == 18
    assert min(seeds) > 2**60 + 2**41
    assert max(seeds) + 2**26 <= 2**61
    with pytest.raises(ValueError, match=f"use 0 to {MAX_SIMULATORS - 1}"):
        new_simulator(RowEngine(), index=MAX_SIMULATORS)


def test_one_half_plays_while_the_other_waits() -> None:
    engine = SlowEngine()
    simulator = new_simulator(engine)
    thread = threading.Thread(target=simulator.play, args=(1,))
    thread.start()
    assert engine.is_asked_twice.wait(60), "the second half was simulated before the first one had its reply"
    engine.go_on.set()
    thread.join()


def test_a_restored_simulator_plays_on_as_the_unbroken_one() -> None:
    first, second = new_simulator(RowEngine()), new_simulator(RowEngine(), index=5)
    first.play(77)
    second.play(5)
    second.restore(first.state())
    assert_same(first.play(150), second.play(150))


def test_it_pays_what_deals_change_in_a_prediction_and_remembers_the_games() -> None:
    first, second = (new_simulator(RowEngine(), prediction=PREDICTION) for _ in range(2))
    by_points = new_simulator(RowEngine())
    for simulator in (first, by_points):
        simulator.play(300)
    second.restore(first.state())
    played, points = first.play(300), by_points.play(300)
    assert_same(played, second.play(300))
    np.testing.assert_array_equal(played.decisions[0].actions, points.decisions[0].actions)
    assert not np.isclose(played.decisions[0].rewards, points.decisions[0].rewards).any()


def test_a_simulator_needs_neither_nets_nor_a_cluster() -> None:
    program = "import sys, suphx.selfplay.simulator; print({'torch', 'ray', 'mlflow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
