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
        *(own_values, own_rewards, own_ends, own_ratios, 0.8), is_joint=torch.from_numpy(is_joint), max_ratio=max_ratio
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
