from __future__ import annotations

from typing import get_args

import pytest
import torch

from suphx.models.net_config import Convolution, check_convolution
from suphx.models.policy import (
    ConvNorm,
    ResidualBlock,
    ResidualTrunk,
    arrange,
    arrange_columns,
    as_columns,
    convolve,
)

CONVOLUTIONS = get_args(Convolution)


@pytest.mark.parametrize("convolution", CONVOLUTIONS)
@pytest.mark.parametrize("has_bias", [True, False])
def test_every_way_to_convolve_gives_the_same(convolution: Convolution, has_bias: bool) -> None:
    torch.manual_seed(1)
    planes, weight = torch.rand(3, 5, 34), torch.rand(4, 5, 3)
    bias = torch.rand(4) if has_bias else None
    wanted = torch.zeros(3, 4, 34)
    for column, out in torch.cartesian_prod(torch.arange(34), torch.arange(4)).tolist():
        first, last = max(column - 1, 0), min(column + 1, 33)
        seen = planes[:, :, first : last + 1]
        wanted[:, out, column] = (seen * weight[out, :, first - column + 1 : last - column + 2]).sum((1, 2))
    if bias is not None:
        wanted += bias[:, None]
    result = as_columns(convolve(arrange(planes, convolution), weight, bias, convolution), convolution)
    torch.testing.assert_close(result, wanted.transpose(1, 2))


@pytest.mark.parametrize("convolution", CONVOLUTIONS)
def test_columns_are_arranged_like_planes(convolution: Convolution) -> None:
    planes = torch.rand(3, 6, 34)
    arranged = arrange_columns(planes.transpose(1, 2).contiguous(), convolution)
    assert torch.equal(arranged, arrange(planes, convolution))
    assert arranged.stride() == arrange(planes, convolution).stride()


def test_channels_last_features_stay_so_through_a_convolution() -> None:
    features = arrange(torch.rand(3, 6, 34), "channels_last")
    result = convolve(features, torch.rand(6, 6, 3), None, "channels_last")
    assert result.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("convolution", CONVOLUTIONS)
def test_further_channels_of_zeros_change_nothing(convolution: Convolution) -> None:
    planes, weight = torch.rand(3, 5, 34), torch.rand(4, 5, 3)
    more = torch.cat([planes, torch.zeros(3, 3, 34)], dim=1)
    exact = convolve(arrange(planes, convolution), weight, None, convolution)
    torch.testing.assert_close(convolve(arrange(more, convolution), weight, None, convolution), exact)


def test_an_unknown_convolution_is_refused() -> None:
    with pytest.raises(ValueError, match="'winograd': use one of conv1d, channels_last, matmul"):
        check_convolution("winograd")


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
