"""Costs that are counted as expectations, written out row by row: a slow twin for tests."""

from __future__ import annotations

import numpy as np

from tests.training.twins.policy_gradient_twin import F64, probabilities


def expected_costs(logits: F64, masks: F64, costs: F64) -> F64:
    """Return the expected cost of each row."""
    return np.array([probabilities(row, mask) @ cost for row, mask, cost in zip(logits, masks, costs, strict=True)])


def expected_cost_gradient(logits: F64, masks: F64, costs: F64) -> F64:
    """Return the gradient of the mean expected cost with respect to the logits."""
    result = np.zeros_like(logits)
    for i, (row, mask, cost) in enumerate(zip(logits, masks, costs, strict=True)):
        p = probabilities(row, mask)
        result[i] = p * (cost - p @ cost)
    return result / len(logits)


def rests(rewards: F64, taken: F64, expected: F64, is_last: list[bool]) -> F64:
    """Return what is left of the rewards for each decision: without its own cost, later costs as expectations."""
    result = np.zeros(len(rewards))
    for i in range(len(rewards)):
        result[i] = rewards[i] + taken[i]
        j = i
        while not is_last[j]:
            j += 1
            result[i] += taken[j] - expected[j]
    return result


def advantages(values: F64, rest: F64, expected: F64, is_last: list[bool], traces: F64, decay: float) -> F64:
    """Return the generalised advantages: the value of the next decision counts less its expected cost."""
    result = np.zeros(len(values))
    for i in reversed(range(len(values))):
        if is_last[i]:
            result[i] = rest[i] - values[i]
        else:
            result[i] = values[i + 1] - expected[i + 1] - values[i] + decay * traces[i + 1] * result[i + 1]
    return result
