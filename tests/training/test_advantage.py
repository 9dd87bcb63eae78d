from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from suphx.training.policy_gradient import generalised_advantages
from tests.training.twins import advantage_twin as twin

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


def joint_marks(n: int, seed: int = 2) -> NDArray[np.bool_]:
    marks: NDArray[np.bool_] = np.random.default_rng(seed).random(n) < 0.4
    return marks


def found_of_joint(columns: Columns, traces: F64, decay: float, is_joint: NDArray[np.bool_]) -> F64:
    values, rewards, is_last = map(torch.from_numpy, columns)
    marks = torch.from_numpy(is_joint)
    advantages: F64 = generalised_advantages(
        values, rewards, is_last, torch.from_numpy(traces), decay, is_joint=marks
    ).numpy()
    return advantages


@pytest.mark.parametrize("decay", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(("n", "share_of_ends"), [(1, 1.0), (2, 0.5), (300, 0.1), (257, 0.0)])
def test_joint_rows_are_one_step_of_the_recursion(n: int, share_of_ends: float, decay: float) -> None:
    columns = some_trajectories(n, share_of_ends)
    traces = np.random.default_rng(1).uniform(0, 1, n)
    is_joint = joint_marks(n)
    values, rewards, is_last = columns
    expected_advantages = twin.joint_advantages(values, rewards, is_last.tolist(), traces, decay, is_joint.tolist())
    np.testing.assert_allclose(found_of_joint(columns, traces, decay, is_joint), expected_advantages, atol=1e-12)


@pytest.mark.parametrize("max_ratio", [0.5, 1.0, 2.0])
def test_the_ratio_of_a_step_is_truncated_and_not_those_of_its_rows(max_ratio: float) -> None:
    values, rewards, is_last = some_trajectories(300, 0.1)
    ratios = np.exp(np.random.default_rng(1).normal(size=300))
    is_joint = joint_marks(300)
    columns = (values, rewards, is_last, ratios)
    own_values, own_rewards, own_ends, own_ratios = (torch.from_numpy(column) for column in columns)
    advantages = generalised_advantages(
        *(own_values, own_rewards, own_ends, own_ratios, 0.8),
        is_joint=torch.from_numpy(is_joint),
        max_ratio=max_ratio,
    ).numpy()
    expected_advantages = twin.joint_advantages(
        *(values, rewards, is_last.tolist(), ratios, 0.8, is_joint.tolist(), max_ratio)
    )
    np.testing.assert_allclose(advantages, expected_advantages, atol=1e-12)
    truncated = found_of_joint((values, rewards, is_last), np.minimum(ratios, max_ratio), 0.8, is_joint)
    assert not np.allclose(advantages, truncated)


def test_the_order_of_joint_rows_does_not_matter() -> None:
    """Three claims that one discard offers: which of them is stored first is chance."""
    values, rewards, is_last = some_trajectories(12, 0.0)
    traces = np.random.default_rng(1).uniform(0, 1, 12)
    is_joint = np.zeros(12, np.bool_)
    is_joint[[5, 6]] = True
    order = np.arange(12)
    order[[4, 5, 6]] = [6, 4, 5]
    first = found_of_joint((values, rewards, is_last), traces, 0.7, is_joint)
    second = found_of_joint((values[order], rewards, is_last), traces[order], 0.7, is_joint)
    np.testing.assert_allclose(second, first[order], atol=1e-12)
    alone = found((values, rewards, is_last), traces, 0.7)
    assert not np.allclose(first, alone)
    np.testing.assert_allclose(first + values, np.where(np.isin(order, [4, 5, 6]), (first + values)[4], first + values))


def test_without_joint_rows_every_row_is_a_step() -> None:
    columns = some_trajectories(100, 0.1)
    traces = np.random.default_rng(1).uniform(0, 1, 100)
    alone = found_of_joint(columns, traces, 0.7, np.zeros(100, np.bool_))
    np.testing.assert_allclose(alone, found(columns, traces, 0.7), atol=1e-12)


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
