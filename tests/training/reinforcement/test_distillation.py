from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.training.reinforcement.distillation import distillation_loss
from suphx.training.reinforcement.distillation_config import DistillationConfig
from tests.training.twins.policy_gradient_twin import F64, probabilities


def batch(seed: int = 0) -> tuple[F64, F64, F64]:
    rng = np.random.default_rng(seed)
    masks = rng.random((9, 6)) < 0.7
    masks[:, 2] = True
    return rng.normal(size=(9, 6)), rng.normal(size=(9, 6)), masks.astype(np.float64)


def distance_twin(logits: F64, teacher: F64, masks: F64) -> float:
    """KL(teacher || policy) over the legal actions, row by row, and its mean."""
    total = 0.0
    for own, other, mask in zip(logits, teacher, masks, strict=True):
        p, q = probabilities(own, mask), probabilities(other, mask)
        total += sum(q[k] * np.log(q[k] / p[k]) for k in np.flatnonzero(mask))
    return total / len(logits)


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


def test_the_gradient_leads_to_the_teacher_and_ends_at_the_bound() -> None:
    logits, teacher, masks = as_tensors(*batch())
    logits.requires_grad_()
    loss, _ = distillation_loss(logits, teacher, masks, DistillationConfig(weight=1.0, bound=0.0))
    (gradient,) = torch.autograd.grad(loss, logits)
    own = torch.softmax(logits.masked_fill(masks == 0, -torch.inf), dim=1)
    goal = torch.softmax(teacher.masked_fill(masks == 0, -torch.inf), dim=1)
    torch.testing.assert_close(gradient, (own - goal).detach() / len(logits))
    near, _ = distillation_loss(logits, teacher, masks, DistillationConfig(weight=1.0, bound=100.0))
    (nothing,) = torch.autograd.grad(near, logits)
    assert not nothing.any()


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


def test_a_policy_that_is_its_teacher_is_at_no_distance() -> None:
    logits, _, masks = as_tensors(*batch())
    loss, distance = distillation_loss(logits, logits, masks, DistillationConfig(weight=1.0, bound=0.0))
    assert float(loss) == pytest.approx(0, abs=1e-6)
    assert float(distance) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", ["weight", "bound"])
def test_wrong_settings_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} is -1\.0: use 0 or more"):
        DistillationConfig(**{name: -1.0})
