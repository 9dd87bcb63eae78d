"""The exact term for costs that are known at once: its twin, and games whose mean and variance can be computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
import torch

from suphx.training.learner_config import PolicyGradientConfig
from suphx.training.policy_gradient import LossColumns, decision_loss, expected_cost
from tests.training.decision_batch import loss_columns
from tests.training.twins import expected_cost_twin as twin
from tests.training.twins import policy_gradient_twin
from tests.training.twins.policy_gradient_twin import F64


def test_loss_and_gradient_are_those_of_the_twin() -> None:
    rng = np.random.default_rng(0)
    logits, masks = rng.normal(size=(30, 6)), (rng.random((30, 6)) < 0.7).astype(np.float64)
    masks[:, 2] = 1
    costs = rng.integers(0, 3, (30, 6)) * masks
    tensor = torch.from_numpy(logits).float().requires_grad_()
    rest = (torch.from_numpy(masks), torch.from_numpy(costs), torch.full((30,), 2))
    found = expected_cost(tensor, *rest)
    torch.autograd.backward(found.loss)
    assert tensor.grad is not None
    assert found.loss.item() == pytest.approx(twin.expected_costs(logits, masks, costs).mean(), rel=1e-5)
    expected = twin.expected_cost_gradient(logits, masks, costs)
    np.testing.assert_allclose(tensor.grad.numpy(), expected, atol=1e-6)
    assert not found.expected.requires_grad
    np.testing.assert_array_equal(found.taken.numpy(), costs[:, 2])


@pytest.mark.parametrize(("decay", "max_trace_ratio"), [(0.6, 1.0), (0.9, 0.0), (1.0, 1.0)])
@pytest.mark.parametrize(("use_critic", "rest_weight"), [(True, 1.0), (False, 1.0), (True, 0.25)])
def test_the_policy_and_the_critic_learn_what_the_twin_says(
    use_critic: bool, rest_weight: float, decay: float, max_trace_ratio: float
) -> None:
    rng, n, unit = np.random.default_rng(1), 40, 3000.0
    logits, masks = rng.normal(size=(n, 5)), np.ones((n, 5))
    hundreds = np.where(rng.random((n, 5)) < 0.3, rng.integers(10, 160, (n, 5)), 0)
    actions, behaviour = rng.integers(5, size=n), np.log(rng.uniform(0.1, 0.9, n))
    is_last = rng.random(n) < 0.2
    is_last[-1] = True
    rewards = rng.normal(size=n)[np.cumsum(is_last) - is_last] * unit
    values = rng.normal(size=n)
    decisions = loss_columns(
        masks=torch.from_numpy(masks),
        costs=torch.from_numpy(hundreds.astype(np.int16)),
        actions=torch.from_numpy(actions.astype(np.int16)),
        log_probs=torch.from_numpy(behaviour).float(),
        rewards=torch.from_numpy(rewards).float(),
        is_last=torch.from_numpy(is_last),
    )
    config = PolicyGradientConfig(
        use_critic=use_critic,
        reward_unit=unit,
        gae_lambda=decay,
        max_trace_ratio=max_trace_ratio,
        max_ratio=0,
        exact_deal_in=True,
        rest_weight=rest_weight,
    )
    tensor = torch.from_numpy(logits).float().requires_grad_()
    critic = torch.from_numpy(values).float().requires_grad_() if use_critic else None
    loss, figures = decision_loss(tensor, critic, decisions, 0.0, config)
    torch.autograd.backward(loss)
    assert tensor.grad is not None
    costs = 100 * hundreds / unit
    expected_costs = twin.expected_costs(logits, masks, costs)
    taken = costs[np.arange(n), actions]
    rests = twin.rests(rewards / unit, taken, expected_costs, is_last.tolist())
    if critic is None or decay == 1:
        advantages = rests - (0 if critic is None else values)
    else:
        p = [policy_gradient_twin.probabilities(row, mask) for row, mask in zip(logits, masks, strict=True)]
        ratios = np.array([row[action] for row, action in zip(p, actions, strict=True)]) / np.exp(behaviour)
        traces = np.minimum(ratios, max_trace_ratio) if decay < 1 and max_trace_ratio else np.ones(n)
        advantages = twin.advantages(values, rests, expected_costs, is_last.tolist(), traces, decay)
    gain = policy_gradient_twin.gradient(logits, masks, actions.tolist(), behaviour, rest_weight * advantages, 0.0, 0.0)
    expected = twin.expected_cost_gradient(logits, masks, costs) - gain
    np.testing.assert_allclose(tensor.grad.numpy(), expected, atol=1e-5)
    assert figures["expected_cost"].item() == pytest.approx(expected_costs.mean(), rel=1e-5)
    if critic is not None:
        assert figures["critic_loss"].item() == pytest.approx(np.square(values - rests).mean(), rel=1e-4)


class Game:
    """Two decisions of one seat: a cost that is not 0 ends the game. What costs something is hidden from the seat."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.hidden = rng.dirichlet(np.ones(3))
        self.costs = rng.integers(20, 80, (3, 2, 3)) * (rng.random((3, 2, 3)) < 0.3)  # [hidden, decision, action]
        self.rest = 10 * rng.normal(size=(3, 3, 3))  # what the game pays if nothing cost anything
        self.logits = rng.normal(size=(2, 3))
        self.behaviour = self.logits - np.log(np.exp(self.logits).sum(axis=1, keepdims=True))
        self.values = torch.from_numpy(rng.normal(size=2)).float()

    def trajectories(self) -> Iterator[tuple[float, LossColumns[torch.Tensor]]]:
        """Yield the probability of each course of the game, and its decisions."""
        for hidden, first, second in product(range(3), repeat=3):
            probability = self.hidden[hidden] * math.exp(self.behaviour[0, first])
            paid = int(self.costs[hidden, 0, first])
            if paid and second:
                continue  # the game has only one decision then
            actions = [first] if paid else [first, second]
            if not paid:
                probability *= math.exp(self.behaviour[1, second])
                paid = int(self.costs[hidden, 1, second])
            reward = -100.0 * paid if paid else float(self.rest[hidden, first, second]) * 100
            n = len(actions)
            yield (
                probability,
                loss_columns(
                    masks=torch.ones(n, 3),
                    costs=torch.from_numpy(self.costs[hidden, :n].astype(np.int16)),
                    actions=torch.tensor(actions),
                    log_probs=torch.tensor([self.behaviour[i, a] for i, a in enumerate(actions)]).float(),
                    rewards=torch.full((n,), reward),
                    is_last=torch.arange(n) == n - 1,
                ),
            )

    def gradients(self, config: PolicyGradientConfig) -> tuple[F64, float]:
        """Return the mean of the gradient over all courses of the game, and its variance, all parameters together."""
        found, weights = [], []
        for probability, decisions in self.trajectories():
            logits = torch.from_numpy(self.logits).float().requires_grad_()
            n = len(decisions["actions"])
            values = self.values[:n] if config.use_critic else None
            loss, _ = decision_loss(logits[:n], values, decisions, 0.0, config)
            torch.autograd.backward(loss * n)
            assert logits.grad is not None
            found.append(logits.grad.numpy().ravel())
            weights.append(probability)
        all_found, p = np.array(found), np.array(weights)
        assert p.sum() == pytest.approx(1)
        mean = p @ all_found
        return mean, float(p @ np.square(all_found - mean).sum(axis=1))


@pytest.mark.parametrize(("decay", "max_trace_ratio"), [(1.0, 1.0), (0.7, 1.0), (0.7, 0.0)])
@pytest.mark.parametrize("use_critic", [True, False])
def test_the_mean_of_the_gradient_is_the_same_and_its_variance_is_smaller(
    use_critic: bool, decay: float, max_trace_ratio: float
) -> None:
    variances = []
    for seed in range(12):
        means = []
        for is_exact in (False, True):
            config = PolicyGradientConfig(
                use_critic=use_critic,
                reward_unit=1000.0,
                gae_lambda=decay,
                max_trace_ratio=max_trace_ratio,
                max_ratio=0.0,
                exact_deal_in=is_exact,
            )
            mean, variance = Game(seed).gradients(config)
            means.append(mean)
            variances.append(variance)
        if decay == 1 or not use_critic:
            np.testing.assert_allclose(means[1], means[0], rtol=1e-4, atol=1e-4)
    assert sum(variances[1::2]) < 0.8 * sum(variances[::2])
