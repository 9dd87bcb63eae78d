from __future__ import annotations

import pytest
import torch
from torch import nn

from suphx.training.reinforcement.update.gradients import (
    clip_gradients,
    copied_gradients,
    drop_gradients,
    gradient_cosine,
)


def net_with_gradient(*values: float) -> nn.Linear:
    net = nn.Linear(len(values), 1, bias=False)
    net.weight.grad = torch.tensor([values])
    return net


def test_each_net_is_clipped_by_itself_and_its_norm_is_that_before() -> None:
    long, short, without = net_with_gradient(3.0, 4.0), net_with_gradient(0.3, 0.4), nn.Linear(1, 1)
    nets = {("discard", "policy"): long, ("discard", "critic"): short, ("chow", "policy"): without}
    norms = {name: norm.item() for name, norm in clip_gradients(nets, 1.0).items()}
    assert norms == pytest.approx({("discard", "policy"): 5.0, ("discard", "critic"): 0.5})
    assert copied_gradients(long)["weight"].tolist() == [pytest.approx([0.6, 0.8], rel=1e-5)]
    assert copied_gradients(short)["weight"].tolist() == [pytest.approx([0.3, 0.4])]
    assert copied_gradients(without) == {}


def test_copies_stay_when_the_gradients_are_dropped() -> None:
    net = net_with_gradient(3.0, 4.0)
    copies = copied_gradients(net)
    drop_gradients(net)
    assert net.weight.grad is None
    assert copies["weight"].tolist() == [[3.0, 4.0]]


def test_the_cosine_is_that_of_all_parameters_together() -> None:
    now = {"a": torch.tensor([1.0, 0.0]), "b": torch.tensor([2.0])}
    last = {"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([0.0])}
    assert gradient_cosine(now, last).item() == pytest.approx(1 / 5)
    assert gradient_cosine(now, {"a": torch.zeros(2), "b": torch.zeros(1)}).item() == 0
