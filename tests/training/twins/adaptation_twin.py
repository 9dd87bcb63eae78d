"""Equation 6 of the paper for a softmax policy, written out in numpy, trajectory by trajectory: a slow twin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.training.twins.policy_gradient_twin import probabilities

F64 = NDArray[np.float64]


def objective(
    logits: F64, masks: F64, actions: list[int], behaviour: F64, trajectories: list[int], advantages: F64
) -> float:
    """Return the mean over trajectories of R(tau) p(tau; theta) / p(tau; theta_o)."""
    total = 0.0
    for number, advantage in enumerate(advantages):
        ratio = 1.0
        for i, action in enumerate(actions):
            if trajectories[i] == number:
                ratio *= probabilities(logits[i], masks[i])[action] / np.exp(behaviour[i])
        total += float(advantage) * ratio
    return total / len(advantages)


def gradient(
    logits: F64, masks: F64, actions: list[int], behaviour: F64, trajectories: list[int], advantages: F64
) -> F64:
    """Return the gradient of ``objective`` with respect to the logits, by differences."""
    result = np.zeros_like(logits)
    step = 1e-5
    for place in np.ndindex(*logits.shape):
        up, down = logits.copy(), logits.copy()
        up[place] += step
        down[place] -= step
        result[place] = (
            objective(up, masks, actions, behaviour, trajectories, advantages)
            - objective(down, masks, actions, behaviour, trajectories, advantages)
        ) / (2 * step)
    return result


def advantages(rewards: F64, rollouts_per_deal: int) -> F64:
    """Return the rewards less the mean of the others of their deal, one after another."""
    result = np.zeros(len(rewards))
    for i, reward in enumerate(rewards):
        first = i - i % rollouts_per_deal
        result[i] = reward - np.mean([rewards[j] for j in range(first, first + rollouts_per_deal) if j != i])
    return result
