"""The loss of learning from playouts, written out in numpy, row by row: a slow twin for tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.training.twins.policy_gradient_twin import probabilities

F64 = NDArray[np.float64]


def loss(logits: F64, start: F64, masks: F64, choices: list[list[int]], points: F64, unit: float, kl_coeff: float,
         advantages: F64) -> float:  # fmt: skip
    """Return the loss for given ``advantages`` [n, k], which are held fixed when it is differentiated."""
    total = 0.0
    for i, row in enumerate(choices):
        p, p0 = probabilities(logits[i], masks[i]), probabilities(start[i], masks[i])
        expected = sum(p[action] * advantages[i, k] for k, action in enumerate(row) if action >= 0)
        divergence = sum(x0 * np.log(x0 / x) for x0, x in zip(p0, p, strict=True) if x0 > 0)
        total += -expected / unit + kl_coeff * divergence
    return float(total / len(choices))


def advantages_of(logits: F64, masks: F64, choices: list[list[int]], points: F64) -> F64:
    """Return the points minus their mean under the policy over the actions that were tried."""
    result = np.zeros_like(points)
    for i, row in enumerate(choices):
        p = probabilities(logits[i], masks[i])
        tried = [(k, p[action]) for k, action in enumerate(row) if action >= 0]
        mean = sum(weight * points[i, k] for k, weight in tried) / sum(weight for _, weight in tried)
        for k, _ in tried:
            result[i, k] = points[i, k] - mean
    return result


def gain(logits: F64, start: F64, mask: F64, row: list[int], points: F64) -> float:
    """Return the mean points of one row under the policy minus that under the initial one."""
    means = []
    for each in (logits, start):
        p = probabilities(each, mask)
        tried = [(k, p[action]) for k, action in enumerate(row) if action >= 0]
        means.append(sum(weight * points[k] for k, weight in tried) / sum(weight for _, weight in tried))
    return float(means[0] - means[1])
