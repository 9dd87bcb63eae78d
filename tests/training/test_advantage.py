from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from suphx.training.policy_gradient import generalised_advantages
from tests.training.twins import advantage_twin as twin

F64 = NDArray[np.float64]
BOOL = NDArray[np.bool_]
Columns = tuple[F64, F64, BOOL]
SIZES = [(1, 1.0), (2, 0.5), (300, 0.1), (257, 0.0), (64, 1.0)]


def some_trajectories(n: int, share_of_ends: float, seed: int = 0) -> Columns:
    """Return values, rewards and end marks of n decisions."""
    rng = np.random.default_rng(seed)
    is_last = rng.random(n) < share_of_ends
    is_last[-1] = True
    kyoku: NDArray[np.int64] = np.cumsum(is_last) - is_last
    return rng.normal(size=n), rng.normal(size=n)[kyoku], is_last


def joint_marks(n: int) -> BOOL:
    marks: BOOL = np.random.default_rng(2).random(n) < 0.4
    return marks


def found(columns: Columns, ratios: F64, decay: float, is_joint: BOOL | None = None, max_ratio: float = 0.0) -> F64:
    values, rewards, is_last = map(torch.from_numpy, columns)
    marks = None if is_joint is None else torch.from_numpy(is_joint)
    advantages: F64 = generalised_advantages(
        values, rewards, is_last, torch.from_numpy(ratios), decay, marks, max_ratio=max_ratio
    ).numpy()
    return advantages


@pytest.mark.parametrize("decay", [0.0, 0.6, 0.95, 1.0])
@pytest.mark.parametrize(("n", "share_of_ends"), SIZES)
def test_it_is_the_recursion_of_its_source(n: int, share_of_ends: float, decay: float) -> None:
    columns = values, rewards, is_last = some_trajectories(n, share_of_ends)
    traces = np.random.default_rng(1).uniform(0, 1, n)
    expected = twin.advantages(values, rewards, is_last.tolist(), traces, decay)
    np.testing.assert_allclose(found(columns, traces, decay), expected, atol=1e-12)


@pytest.mark.parametrize("decay", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(("n", "share_of_ends"), SIZES)
def test_joint_rows_are_one_step_of_the_recursion(n: int, share_of_ends: float, decay: float) -> None:
    columns = values, rewards, is_last = some_trajectories(n, share_of_ends)
    traces, is_joint = np.random.default_rng(1).uniform(0, 1, n), joint_marks(n)
    expected = twin.joint_advantages(values, rewards, is_last.tolist(), traces, decay, is_joint.tolist())
    np.testing.assert_allclose(found(columns, traces, decay, is_joint), expected, atol=1e-12)


@pytest.mark.parametrize("max_ratio", [0.5, 1.0, 2.0])
def test_the_ratio_of_a_step_is_truncated_and_not_those_of_its_rows(max_ratio: float) -> None:
    columns = values, rewards, is_last = some_trajectories(300, 0.1)
    ratios, is_joint = np.exp(np.random.default_rng(1).normal(size=300)), joint_marks(300)
    advantages = found(columns, ratios, 0.8, is_joint, max_ratio)
    expected = twin.joint_advantages(values, rewards, is_last.tolist(), ratios, 0.8, is_joint.tolist(), max_ratio)
    np.testing.assert_allclose(advantages, expected, atol=1e-12)
    assert not np.allclose(advantages, found(columns, np.minimum(ratios, max_ratio), 0.8, is_joint))


def test_the_order_of_joint_rows_does_not_matter() -> None:
    """Three claims that one discard offers: which of them is stored first is chance."""
    values, rewards, is_last = some_trajectories(12, 0.0)
    traces, is_joint = np.random.default_rng(1).uniform(0, 1, 12), np.zeros(12, np.bool_)
    is_joint[[5, 6]] = True
    order = np.arange(12)
    order[[4, 5, 6]] = [6, 4, 5]
    first = found((values, rewards, is_last), traces, 0.7, is_joint)
    second = found((values[order], rewards, is_last), traces[order], 0.7, is_joint)
    np.testing.assert_allclose(second, first[order], atol=1e-12)
    assert not np.allclose(first, found((values, rewards, is_last), traces, 0.7))
    np.testing.assert_allclose((first + values)[4:7], (first + values)[4])
