from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.training.playouts import BranchSums, branch_loss
from tests.training.twins import branch_twin as twin


def sums_of(gains: np.ndarray, deals: np.ndarray) -> BranchSums:
    sums = BranchSums()
    sums.add_step(0.0, len(gains))
    sums.add_measured(gains, np.zeros(len(gains)), deals)
    return sums


def test_it_is_as_large_as_the_gain_really_varies_when_decisions_share_the_luck_of_a_deal() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(300):
        sizes = rng.integers(1, 20, 100)
        deals = rng.permutation(np.repeat(np.arange(100), sizes))
        luck = rng.normal(0, 10, 100)
        found.append(sums_of(5 + luck[deals] + rng.normal(0, 10, len(deals)), deals).means())
    real = np.std([means["gain"] for means in found])
    errors = np.array([means["gain_error"] for means in found])
    assert errors.mean() == pytest.approx(real, rel=0.15)
    as_independent = ((10**2 + 10**2) / found[0]["decisions"]) ** 0.5
    assert as_independent < 0.5 * real, "the luck matters here"


CHOICES = [[4, 1, 0], [2, 3, -1], [0, 1, -1]]
MASKS = np.array([[1, 1, 0, 0, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]])
UNIT, KL = 1000.0, 0.3


def batch(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = rng.integers(-80, 80, (3, 3)) * 100.0
    points[1:, 2] = 0
    return rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), points


def test_the_gradient_is_that_of_the_twin() -> None:
    logits, start, points = batch()
    own = torch.tensor(logits, requires_grad=True)
    loss = branch_loss(
        own, torch.tensor(start), torch.tensor(MASKS), torch.tensor(CHOICES), torch.tensor(points),
        unit=UNIT, kl_coeff=KL,
    )  # fmt: skip
    torch.autograd.backward(loss.loss)
    assert own.grad is not None
    advantages = twin.advantages_of(logits, MASKS.astype(float), CHOICES, points)

    def value(at: np.ndarray) -> float:
        return twin.loss(at, start, MASKS.astype(float), CHOICES, points, UNIT, KL, advantages)

    assert float(loss.loss.detach()) == pytest.approx(value(logits), rel=1e-4)
    step = 1e-5
    for i, j in np.ndindex(logits.shape):
        moved = logits.copy()
        moved[i, j] += step
        back = logits.copy()
        back[i, j] -= step
        assert float(own.grad[i, j]) == pytest.approx((value(moved) - value(back)) / (2 * step), abs=1e-5)
    for i in range(3):
        expected = twin.gain(logits[i], start[i], MASKS[i].astype(float), CHOICES[i], points[i])
        assert float(loss.gains[i]) == pytest.approx(expected, rel=1e-3)


def test_calls_have_no_mask() -> None:
    logits, start = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.0]])
    loss = branch_loss(
        logits,
        start,
        torch.zeros(1, 0),
        torch.tensor([[1, 0]]),
        torch.tensor([[3000.0, 0.0]]),
        unit=3000.0,
        kl_coeff=0.0,
    )
    yes, before = torch.softmax(logits, 1)[0, 1], torch.softmax(start, 1)[0, 1]
    assert float(loss.gains) == pytest.approx(3000 * float(yes - before), rel=1e-4)
    assert float(loss.divergences) > 0


def test_the_start_itself_has_gained_nothing_and_is_not_pulled() -> None:
    logits, _, points = batch(1)
    own = torch.tensor(logits, requires_grad=True)
    loss = branch_loss(
        own, torch.tensor(logits), torch.tensor(MASKS), torch.tensor(CHOICES), torch.tensor(points),
        unit=UNIT, kl_coeff=KL,
    )  # fmt: skip
    assert float(loss.gains.abs().max()) < 1e-2
    assert float(loss.divergences.abs().max()) < 1e-6
