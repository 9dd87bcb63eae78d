from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from suphx.training.learner_config import DistillationConfig, PolicyGradientConfig
from suphx.training.policy_gradient import (
    PolicyLoss,
    decision_loss,
    distillation_loss,
    kl_divergence,
    loss_figures,
    policy_loss,
)
from tests.training.decision_batch import loss_columns
from tests.training.twins import advantage_twin
from tests.training.twins import policy_gradient_twin as twin
from tests.training.twins.policy_gradient_twin import F64, probabilities


def batch(seed: int = 0) -> tuple[F64, F64, F64]:
    rng = np.random.default_rng(seed)
    masks = rng.random((9, 6)) < 0.7
    masks[:, 2] = True
    return rng.normal(size=(9, 6)), rng.normal(size=(9, 6)), masks.astype(np.float64)


def probabilities_of(logits: F64, masks: F64) -> list[F64]:
    return [probabilities(row, mask) for row, mask in zip(logits, masks, strict=True)]


def distance_twin(logits: F64, teacher: F64, masks: F64) -> float:
    """KL(teacher || policy) over the legal actions, row by row, and its mean."""
    own, other = probabilities_of(logits, masks), probabilities_of(teacher, masks)
    return float(np.mean([np.sum(q[q > 0] * np.log(q[q > 0] / p[q > 0])) for p, q in zip(own, other, strict=True)]))


def as_tensors(*arrays: F64) -> list[torch.Tensor]:
    return [torch.tensor(array, dtype=torch.float32) for array in arrays]


@pytest.mark.parametrize("bound", [0.0, 0.1, 10.0])
def test_what_the_distance_is_above_its_bound_counts(bound: float) -> None:
    expected = distance_twin(*batch())
    config = DistillationConfig(weight=3.0, bound=bound)
    logits, teacher, masks = as_tensors(*batch())
    loss, distance = distillation_loss(logits, teacher, masks, config)
    assert float(distance) == pytest.approx(expected, rel=1e-5)
    assert float(loss) == pytest.approx(3 * max(0.0, expected - bound), rel=1e-5)


@pytest.mark.parametrize(("whole", "is_counted"), [(0.01, False), (10.0, True)])
def test_the_distance_of_the_whole_batch_decides_for_each_learner(whole: float, is_counted: bool) -> None:
    """One learner's part may be within the bound, and another's beyond it: together they make one mean."""
    logits, teacher, masks = as_tensors(*batch())
    logits.requires_grad_()
    own = distance_twin(*batch())
    config = DistillationConfig(weight=1.0, bound=0.1)
    loss, distance = distillation_loss(logits, teacher, masks, config, lambda _: torch.tensor(whole))
    (gradient,) = torch.autograd.grad(loss, logits)
    assert bool(gradient.any()) == is_counted
    assert float(distance) == pytest.approx(own, rel=1e-5)


class Batch:
    """Random decisions over ``k`` actions, of which some are illegal; importance ratios are below and above 1."""

    def __init__(self, n: int, k: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.logits = rng.normal(size=(n, k))
        self.masks = (rng.random((n, k)) < 0.6).astype(np.float64)
        self.actions = [int(a) for a in rng.integers(k, size=n)]
        self.masks[np.arange(n), self.actions] = 1
        now = [row[a] for row, a in zip(probabilities_of(self.logits, self.masks), self.actions, strict=True)]
        self.behaviour = np.minimum(np.log(now) + rng.normal(scale=0.7, size=n), 0.0)
        self.advantages = rng.normal(size=n)

    def loss(self, logits: torch.Tensor, *, alpha: float = 0.1, max_ratio: float = 0, reject: float = 0) -> PolicyLoss:
        return policy_loss(
            logits,
            torch.from_numpy(self.masks),
            torch.tensor(self.actions),
            torch.from_numpy(self.behaviour).float(),
            torch.from_numpy(self.advantages).float(),
            alpha=alpha,
            max_ratio=max_ratio,
            reject_ratio=reject,
        )

    def columns(self, rewards: torch.Tensor, **more: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the decisions with other rewards."""
        return loss_columns(
            masks=torch.from_numpy(self.masks),
            actions=torch.tensor(self.actions),
            log_probs=torch.from_numpy(self.behaviour).float(),
            rewards=rewards,
            **more,
        )

    def gradient(self, **options: float) -> np.ndarray:
        """Return what a step of gradient descent would add to the logits."""
        logits = torch.from_numpy(self.logits).float().requires_grad_()
        torch.autograd.backward(self.loss(logits, **options).loss)
        assert logits.grad is not None
        return -logits.grad.numpy()


@pytest.mark.parametrize(("n", "alpha", "max_ratio"), [(50, 0.1, 0.0), (50, 0.0, 1.5), (1, 0.3, 0.0)])
def test_the_gradient_is_that_of_equation_2(n: int, alpha: float, max_ratio: float) -> None:
    batch = Batch(n, 34)
    expected = twin.gradient(
        batch.logits, batch.masks, batch.actions, batch.behaviour, batch.advantages, alpha, max_ratio
    )
    np.testing.assert_allclose(batch.gradient(alpha=alpha, max_ratio=max_ratio), expected, atol=1e-6)
    is_truncated = batch.loss(torch.from_numpy(batch.logits).float()).ratios > (max_ratio or torch.inf)
    assert is_truncated.any().item() == (max_ratio > 0)


def test_rejected_rows_teach_only_entropy_and_are_counted() -> None:
    batch = Batch(40, 6)
    kept = batch.loss(torch.from_numpy(batch.logits).float(), reject=1.0)
    assert 0 < kept.is_rejected.sum() < 40
    batch.advantages[kept.is_rejected.numpy()] = 0
    np.testing.assert_allclose(batch.gradient(reject=1.0), batch.gradient(), atol=1e-7)
    assert loss_figures(kept)["rejected_share"].item() == pytest.approx(kept.is_rejected.float().mean().item())


def test_figures_are_those_of_the_ratios_and_stay_finite() -> None:
    ones = torch.ones(10)
    on_policy = loss_figures(PolicyLoss(torch.tensor(0.0), ones, 0.5 * ones, ones < 0))
    expected = dict.fromkeys(("ratio_low", "ratio_median", "ratio_high", "ratio_max", "effective_sample_share"), 1.0)
    expected |= {"kl": 0, "entropy": 0.5, "rejected_share": 0}
    assert {name: value.item() for name, value in on_policy.items()} == pytest.approx(expected)
    nothing_in_common = loss_figures(PolicyLoss(torch.tensor(0.0), 0 * ones, ones, ones < 0))
    assert all(value.isfinite() for value in nothing_in_common.values())


def test_rewards_count_in_their_unit_and_the_critics_expectation_is_taken_off() -> None:
    batch = Batch(12, 5)
    decisions = batch.columns(torch.from_numpy(batch.advantages).float() * 1000 + 500)
    logits = torch.from_numpy(batch.logits).float()
    config = PolicyGradientConfig(reward_unit=1000.0, max_ratio=1.5)
    loss, figures = decision_loss(logits, torch.full((12,), 0.5), decisions, 0.1, config)
    assert figures["policy_loss"].item() == pytest.approx(batch.loss(logits, max_ratio=1.5).loss.item(), rel=1e-5)
    assert loss.item() == pytest.approx((figures["policy_loss"] + figures["critic_loss"]).item())
    plain, without = decision_loss(logits, None, decisions, 0.1, config)
    assert plain.item() == without["policy_loss"].item() != figures["policy_loss"].item()


@pytest.mark.parametrize("gae_lambda", [1.0, 0.5])
def test_the_loss_of_the_policy_does_not_teach_the_critic(gae_lambda: float) -> None:
    batch, rng = Batch(8, 5), np.random.default_rng(2)
    rewards = torch.from_numpy(rng.normal(size=8)).float()
    decisions = batch.columns(rewards, is_last=torch.tensor([False, False, False, True] * 2))
    values = torch.from_numpy(rng.normal(size=8)).float().requires_grad_()
    logits = torch.from_numpy(batch.logits).float()
    config = PolicyGradientConfig(reward_unit=1.0, gae_lambda=gae_lambda)
    loss, figures = decision_loss(logits, values, decisions, 0.1, config)
    assert figures["policy_loss"].item() != 0
    torch.autograd.backward(loss)
    assert values.grad is not None
    np.testing.assert_allclose(values.grad.numpy(), (2 * (values - rewards) / 8).detach().numpy(), rtol=1e-6)


def test_kl_is_zero_for_equal_policies_and_positive_for_others() -> None:
    batch = Batch(30, 7)
    logits, masks = torch.from_numpy(batch.logits).float(), torch.from_numpy(batch.masks)
    assert kl_divergence(logits, logits + 3, masks).item() == pytest.approx(0, abs=1e-6)
    other = torch.from_numpy(Batch(30, 7, seed=1).logits).float()
    expected = distance_twin(other.double().numpy(), batch.logits, batch.masks)
    assert kl_divergence(logits, other, masks).item() == pytest.approx(expected, rel=1e-4)


def test_without_the_policy_only_the_critic_has_a_loss() -> None:
    zeros = torch.zeros(4)
    decisions = loss_columns(masks=torch.zeros(4, 0), actions=zeros, log_probs=zeros, rewards=zeros + 3)
    logits = torch.randn(4, 2, requires_grad=True)
    loss, figures = decision_loss(
        *(logits, zeros, decisions, 0.5, PolicyGradientConfig(reward_unit=1.0)), learns_policy=False
    )
    torch.autograd.backward(loss)
    assert loss.item() == figures["critic_loss"].item() == 9
    assert logits.grad is not None
    assert not logits.grad.any()


def test_the_gradient_of_the_divergence_is_that_of_the_twin() -> None:
    batch, reference = Batch(20, 6), Batch(20, 6, seed=1).logits
    logits = torch.from_numpy(batch.logits).requires_grad_()
    torch.autograd.backward(kl_divergence(logits, torch.from_numpy(reference), torch.from_numpy(batch.masks)))
    assert logits.grad is not None
    expected = twin.divergence_gradient(batch.logits, reference, batch.masks)
    np.testing.assert_allclose(logits.grad.numpy(), expected, atol=1e-6)


@pytest.mark.parametrize(("decay", "max_trace_ratio"), [(0.6, 1.0), (0.9, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_advantages_are_generalised_within_a_trajectory(decay: float, max_trace_ratio: float) -> None:
    batch, rng = Batch(8, 5), np.random.default_rng(3)
    rewards, values = np.repeat(rng.normal(size=2), [5, 3]), rng.normal(size=8)
    is_last = [False, False, False, False, True, False, False, True]
    logits = torch.from_numpy(batch.logits).float()
    decisions = batch.columns(torch.from_numpy(rewards).float(), is_last=torch.tensor(is_last))
    config = PolicyGradientConfig(reward_unit=1.0, gae_lambda=decay, max_trace_ratio=max_trace_ratio, max_ratio=0)
    _, figures = decision_loss(logits, torch.from_numpy(values).float(), decisions, 0.1, config)
    p = probabilities_of(batch.logits, batch.masks)
    ratios = [row[a] / math.exp(b) for row, a, b in zip(p, batch.actions, batch.behaviour, strict=True)]
    is_traced = decay < 1 and max_trace_ratio > 0  # with lambda 1 the ratios do not matter
    traces = [min(ratio, max_trace_ratio) if is_traced else 1.0 for ratio in ratios]
    assert min(ratios[1:4]) < 1 < max(ratios[1:4]), "of the rows that an earlier one looks ahead to"
    batch.advantages = advantage_twin.advantages(values, rewards, is_last, traces, decay)
    assert figures["policy_loss"].item() == pytest.approx(batch.loss(logits).loss.item(), rel=1e-4)


def test_the_ratio_of_calls_at_the_same_time_is_truncated_as_one() -> None:
    """Row by row, the truncated ratios of the second step were 1 and 0.5."""
    ratios, values, is_last = np.array([1.0, 3.0, 0.5]), np.array([0.1, -0.2, 0.4]), [False, False, True]
    decisions = loss_columns(
        masks=torch.zeros(3, 0),
        actions=torch.ones(3),
        log_probs=torch.from_numpy(math.log(0.5) - np.log(ratios)).float(),
        rewards=torch.ones(3),
        is_last=torch.tensor(is_last),
    )
    is_joint = [False, False, True]
    decisions["is_joint"] = torch.tensor(is_joint)
    config = PolicyGradientConfig(reward_unit=1.0, gae_lambda=0.5, max_trace_ratio=1.0, max_ratio=0)
    _, figures = decision_loss(torch.zeros(3, 2), torch.from_numpy(values).float(), decisions, 0.0, config)
    advantages = advantage_twin.joint_advantages(values, np.ones(3), is_last, ratios, 0.5, is_joint, 1.0)
    assert figures["policy_loss"].item() == pytest.approx(-math.log(0.5) * (ratios * advantages).mean(), rel=1e-5)


@pytest.mark.parametrize(("keeps_overruled", "is_exact"), [(True, True), (False, False)])
def test_a_yes_that_a_surer_one_overrules_belongs_to_the_gradient(keeps_overruled: bool, is_exact: bool) -> None:
    """Two claims with the answers yes or no: the first is surer, so it is done if both are wanted."""
    logits = torch.tensor([[0.0, 0.8], [0.0, 0.3]], dtype=torch.float64, requires_grad=True)
    payoff = {(0, 0): 1.0, (0, 1): -2.0, (1, 0): 3.0, (1, 1): 3.0}  # a second yes changes nothing beside the first
    chances = torch.softmax(logits, dim=1)
    expected = sum(points * chances[0, one] * chances[1, other] for (one, other), points in payoff.items())
    (exact,) = torch.autograd.grad(torch.as_tensor(expected), logits)
    sampled = torch.zeros_like(exact)
    for answers, points in payoff.items():
        now = logits.detach().clone().requires_grad_()
        log_probs = torch.log_softmax(now.detach(), dim=1)[torch.arange(2), torch.tensor(answers)]
        rows = [0, 1] if keeps_overruled or answers != (1, 1) else [0]
        loss = policy_loss(
            *(now[rows], torch.zeros(len(rows), 0), torch.tensor(answers)[rows], log_probs[rows]),
            torch.full((len(rows),), points, dtype=torch.float64),
            alpha=0.0,
        ).loss
        (gradient,) = torch.autograd.grad(len(rows) * loss, now)
        sampled -= log_probs.sum().exp() * gradient
    assert bool(torch.allclose(sampled, exact, atol=1e-6)) == is_exact
