from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.training.advantage import generalised_advantages
from tests.training import advantage_twin as twin


def some_trajectories(n: int, share_of_ends: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values, rewards and end marks of n decisions."""
    rng = np.random.default_rng(seed)
    is_last = rng.random(n) < share_of_ends
    is_last[-1] = True
    kyoku = np.cumsum(is_last) - is_last
    return rng.normal(size=n), rng.normal(size=n)[kyoku], is_last


def found(values: np.ndarray, rewards: np.ndarray, is_last: np.ndarray, traces: np.ndarray, decay: float) -> np.ndarray:
    tensors = [torch.from_numpy(column) for column in (values, rewards, is_last, traces)]
    advantages: np.ndarray = generalised_advantages(*tensors, decay).numpy()
    return advantages


@pytest.mark.parametrize("decay", [0.0, 0.6, 0.95, 1.0])
@pytest.mark.parametrize(("n", "share_of_ends"), [(1, 1.0), (2, 0.5), (300, 0.1), (257, 0.0), (64, 1.0)])
def test_it_is_the_recursion_of_its_source(n: int, share_of_ends: float, decay: float) -> None:
    columns = some_trajectories(n, share_of_ends)
    traces = np.random.default_rng(1).uniform(0, 1, n)
    np.testing.assert_allclose(found(*columns, traces, decay), twin.advantages(*columns, traces, decay), atol=1e-12)


def test_lambda_1_with_full_traces_is_the_reward_minus_the_value() -> None:
    values, rewards, is_last = some_trajectories(100, 0.1)
    np.testing.assert_allclose(found(values, rewards, is_last, np.ones(100), 1.0), rewards - values, atol=1e-12)


def test_nothing_passes_from_one_trajectory_to_another() -> None:
    values, rewards, is_last = some_trajectories(50, 0.2)
    before = found(values, rewards, is_last, np.ones(50), 0.9)
    second = int(np.flatnonzero(is_last)[0]) + 1
    values[second:] += 5
    np.testing.assert_array_equal(found(values, rewards, is_last, np.ones(50), 0.9)[:second], before[:second])


def test_a_trace_of_zero_leaves_the_error_of_one_step() -> None:
    values, rewards, is_last = some_trajectories(50, 0.2)
    no_traces = found(values, rewards, is_last, np.zeros(50), 0.9)
    np.testing.assert_array_equal(no_traces, found(values, rewards, is_last, np.ones(50), 0.0))
