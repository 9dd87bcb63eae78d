from __future__ import annotations

import math

import pytest
import torch

from suphx.training.supervised.loss import supervised_loss

NO_MASKS = torch.zeros(3, 0, dtype=torch.uint8)


def test_illegal_outputs_get_no_probability_and_no_gradient() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    masks = torch.tensor([[1, 1, 0]], dtype=torch.uint8)
    loss = supervised_loss(logits, torch.tensor([0], dtype=torch.int8), masks)
    torch.autograd.backward(loss)
    assert loss.item() == pytest.approx(math.log(1 + math.e))
    assert logits.grad is not None
    assert logits.grad[0, 2] == 0


def test_yes_weight_counts_yes_samples_as_several() -> None:
    logits = torch.randn(3, 2)
    labels = torch.tensor([0, 1, 0], dtype=torch.int8)
    one, two, three = (-torch.log_softmax(logits, 1)[range(3), labels.long()]).tolist()
    weighted = supervised_loss(logits, labels, NO_MASKS, yes_weight=4.0)
    assert weighted.item() == pytest.approx((one + 4 * two + three) / 6, rel=1e-5)
    plain = supervised_loss(logits, labels, NO_MASKS)
    assert plain.item() == pytest.approx((one + two + three) / 3, rel=1e-5)
