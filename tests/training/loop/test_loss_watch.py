from __future__ import annotations

import math

import pytest
import torch

from suphx.training.loop.loss_watch import LossWatch, StepLoss


def test_on_a_cpu_losses_are_known_at_once() -> None:
    watch = LossWatch(torch.device("cpu"))
    watch.add(1, 512, torch.tensor(0.5, dtype=torch.bfloat16), torch.tensor(2.0))
    assert watch.take() == [StepLoss(1, 512, 0.5, 2.0)]
    assert watch.take(waits=True) == []


@pytest.mark.parametrize(
    ("loss", "norm", "is_finite"), [(1.0, 2.0, True), (math.nan, 1.0, False), (1, math.inf, False)]
)
def test_a_step_is_sound_if_loss_and_gradient_are_numbers(loss: float, norm: float, is_finite: bool) -> None:
    assert StepLoss(1, 8, loss, norm).is_finite == is_finite


@pytest.mark.gpu
def test_on_a_gpu_the_newest_step_is_not_waited_for() -> None:
    device = torch.device("cuda")
    watch = LossWatch(device)
    for step in (1, 2, 3):
        watch.add(step, 8, torch.tensor(float(step), device=device), torch.tensor(1.0, device=device))
    assert [loss.step for loss in watch.take()] == [1, 2]
    assert watch.take(waits=True) == [StepLoss(3, 8, 3.0, 1.0)]
