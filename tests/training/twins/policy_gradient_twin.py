"""Equations 1 and 2 of the paper for a softmax policy, written out in numpy, row by row: a slow twin for tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def probabilities(logits: F64, mask: F64) -> F64:
    """Softmax over the legal actions of one row."""
    legal = np.flatnonzero(mask)
    result = np.zeros(len(logits))
    powers = np.exp(logits[legal] - logits[legal].max())
    result[legal] = powers / powers.sum()
    return result


def entropy(p: F64) -> float:
    return -sum(float(x) * float(np.log(x)) for x in p if x > 0)


def gradient(
    logits: F64, masks: F64, actions: list[int], behaviour: F64, advantages: F64, alpha: float, max_ratio: float
) -> F64:
    """Return the ascent direction of equation 2 with respect to the logits, mean over rows."""
    result = np.zeros_like(logits)
    for i, action in enumerate(actions):
        p = probabilities(logits[i], masks[i])
        ratio = min(p[action] / np.exp(behaviour[i]), max_ratio or np.inf)
        h = entropy(p)
        for j in np.flatnonzero(masks[i]):
            log_prob_gradient = (1.0 if j == action else 0.0) - p[j]
            entropy_gradient = -p[j] * (np.log(p[j]) + h)
            result[i, j] = ratio * advantages[i] * log_prob_gradient + alpha * entropy_gradient
    return result / len(actions)


def divergence_gradient(logits: F64, reference: F64, masks: F64) -> F64:
    """Return the gradient of the mean of KL(policy || reference) over rows with respect to ``logits``."""
    result = np.zeros_like(logits)
    for i, mask in enumerate(masks):
        p, q = probabilities(logits[i], mask), probabilities(reference[i], mask)
        legal = np.flatnonzero(mask)
        divergence = sum(p[j] * np.log(p[j] / q[j]) for j in legal)
        for j in legal:
            result[i, j] = p[j] * (np.log(p[j] / q[j]) - divergence)
    return result / len(logits)
