from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from suphx.training.reinforcement.advantage import generalised_advantages
from tests.training.reinforcement import advantage_twin as twin

F64 = NDArray[np.float64]
Columns = tuple[F64, F64, NDArray[np.bool_]]


def some_trajectories(n: int, share_of_ends: float, seed: int = 0) -> Columns:
    """Return values, rewards and end marks of n decisions."""
    rng = np.random.default_rng(seed)
    is_last = rng.random(n) < share_of_ends
    is_last[-1] = True
    kyoku: NDArray[np.int64] = np.cumsum(is_last) - is_last
    return rng.normal(size=n), rng.normal(size=n)[kyoku], is_last


def found(columns: Columns, traces: F64, decay: float) -> F64:
    values, rewards, is_last = map(torch.from_numpy, columns)
    advantages: F64 = generalised_advantages(values, rewards, is_last, torch.from_numpy(traces), decay).numpy()
    return advantages


def expected(columns: Columns, traces: F64, decay: float) -> F64:
    values, rewards, is_last = columns
    return twin.advantages(values, rewards, is_last.tolist(), traces, decay)


@pytest.mark.parametrize("decay", [0.0, 0.6, 0.95, 1.0])
@pytest.mark.parametrize(("n", "share_of_ends"), [(1, 1.0), (2, 0.5), (300, 0.1), (257, 0.0), (64, 1.0)])
def test_it_is_the_recursion_of_its_source(n: int, share_of_ends: float, decay: float) -> None:
    columns = some_trajectories(n, share_of_ends)
    traces = np.random.default_rng(1).uniform(0, 1, n)
    np.testing.assert_allclose(found(columns, traces, decay), expected(columns, traces, decay), atol=1e-12)


def test_lambda_1_with_full_traces_is_the_reward_minus_the_value() -> None:
    columns = some_trajectories(100, 0.1)
    values, rewards, _ = columns
    np.testing.assert_allclose(found(columns, np.ones(100), 1.0), rewards - values, atol=1e-12)


def test_nothing_passes_from_one_trajectory_to_another() -> None:
    columns = some_trajectories(50, 0.2)
    before = found(columns, np.ones(50), 0.9)
    values, _, is_last = columns
    second = int(np.flatnonzero(is_last)[0]) + 1
    values[second:] += 5
    np.testing.assert_array_equal(found(columns, np.ones(50), 0.9)[:second], before[:second])


def test_a_trace_of_zero_leaves_the_error_of_one_step() -> None:
    columns = some_trajectories(50, 0.2)
    np.testing.assert_array_equal(found(columns, np.zeros(50), 0.9), found(columns, np.ones(50), 0.0))
