"""Generalised advantage estimation written out as its recursion, row by row: a slow twin for tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def advantages(
    values: F64, rewards: F64, is_last: Sequence[bool], traces: Sequence[float] | F64, decay: float
) -> F64:  # fmt: skip
    """Return the advantage of each row; arguments as in ``generalised_advantages``."""
    result = np.zeros(len(values))
    for i in reversed(range(len(values))):
        if is_last[i]:
            result[i] = rewards[i] - values[i]
        else:
            result[i] = values[i + 1] - values[i] + decay * traces[i + 1] * result[i + 1]
    return result


def joint_advantages(
    values: F64,
    rewards: F64,
    is_last: Sequence[bool],
    ratios: F64,
    decay: float,
    is_joint: Sequence[bool],
    max_ratio: float = np.inf,
) -> F64:  # fmt: skip
    """Return the advantage of each row, where joint rows are one step: step by step, from the last one to the first."""
    steps: list[list[int]] = []
    for i in range(len(values)):
        if is_joint[i] and i > 0 and not is_last[i - 1]:
            steps[-1].append(i)
        else:
            steps.append([i])
    result = np.zeros(len(values))
    value, advantage, trace = 0.0, 0.0, 0.0  # of the step that follows
    for rows in reversed(steps):
        own = float(np.mean(values[rows]))
        delta = (rewards[rows[-1]] if is_last[rows[-1]] else value) - own
        advantage = delta + (0.0 if is_last[rows[-1]] else decay * trace * advantage)
        result[rows] = own + advantage - values[rows]
        value, trace = own, min(float(np.prod(ratios[rows])), max_ratio)
    return result
