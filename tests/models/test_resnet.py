from __future__ import annotations

import torch

from suphx.models.resnet import ConvNorm, ResidualBlock, ResidualTrunk


def test_a_convolution_sees_the_column_and_its_two_neighbours() -> None:
    layer = ConvNorm(1, 1, "none")
    planes = torch.zeros(1, 1, 34, requires_grad=True)
    layer(planes)[0, 0, 10].backward()
    assert planes.grad is not None
    assert planes.grad.nonzero()[:, 2].tolist() == [9, 10, 11]


def test_a_new_block_passes_on_what_it_gets() -> None:
    features = torch.rand(2, 8, 34)
    assert torch.equal(ResidualBlock(8, "batch")(features), features)
    assert torch.equal(ResidualBlock(8, "none")(features), features)


def test_the_trunk_keeps_the_columns() -> None:
    assert ResidualTrunk(5, 8, 2, "batch")(torch.rand(3, 5, 34)).shape == (3, 8, 34)
