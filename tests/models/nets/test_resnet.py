from __future__ import annotations

from typing import get_args

import pytest
import torch

from suphx.models.computation import Convolution
from suphx.models.nets.convolution import arrange, as_columns
from suphx.models.nets.resnet import ConvNorm, ResidualBlock, ResidualTrunk


def test_a_convolution_sees_the_column_and_its_two_neighbours() -> None:
    layer = ConvNorm(1, 1, "none")
    planes = torch.zeros(1, 1, 34, requires_grad=True)
    result = as_columns(layer(arrange(planes, layer.convolution)), layer.convolution)
    torch.autograd.backward(result[0, 10, 0])
    assert planes.grad is not None
    assert planes.grad.nonzero()[:, 2].tolist() == [9, 10, 11]


def test_a_new_block_passes_on_what_it_gets() -> None:
    features = torch.rand(2, 8, 1, 34)
    assert torch.equal(ResidualBlock(8, "batch")(features), features)
    assert torch.equal(ResidualBlock(8, "none")(features), features)


def test_the_trunk_keeps_the_columns() -> None:
    trunk = ResidualTrunk(5, 8, 2, "batch")
    assert as_columns(trunk(torch.rand(3, 5, 34)), trunk.stem.convolution).shape == (3, 34, 8)


@pytest.mark.parametrize("normalization", ["batch", "none"])
@pytest.mark.parametrize("convolution", get_args(Convolution))
def test_training_statistics_are_the_same_in_every_convolution(convolution: Convolution, normalization: str) -> None:
    torch.manual_seed(1)
    layer = ConvNorm(3, 4, normalization)  # type: ignore[arg-type]
    planes = torch.rand(6, 3, 34)
    layer.convolution = "conv1d"
    wanted = layer(planes).transpose(1, 2)
    state = {name: value.clone() for name, value in layer.state_dict().items() if "running" in name}
    layer.convolution = convolution
    torch.testing.assert_close(as_columns(layer(arrange(planes, convolution)), convolution), wanted)
    for name, value in state.items():
        # A second update with the same batch moves on by the same rule: 0.9 of the old and 0.1 of the batch's.
        start = 1.0 if name.endswith("var") else 0.0
        torch.testing.assert_close(layer.state_dict()[name], 0.9 * value + (value - 0.9 * start))
