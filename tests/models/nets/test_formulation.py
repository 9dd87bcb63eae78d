from __future__ import annotations

from typing import get_args

import pytest
import torch

from suphx.models.computation import Formulation, check_formulation
from suphx.models.nets.formulation import arrange, arrange_columns, as_columns, convolve

FORMULATIONS = get_args(Formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("has_bias", [True, False])
def test_every_formulation_is_the_same_convolution(formulation: Formulation, has_bias: bool) -> None:
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
    result = as_columns(convolve(arrange(planes, formulation), weight, bias, formulation), formulation)
    torch.testing.assert_close(result, wanted.transpose(1, 2))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_columns_are_arranged_like_planes(formulation: Formulation) -> None:
    planes = torch.rand(3, 6, 34)
    arranged = arrange_columns(planes.transpose(1, 2).contiguous(), formulation)
    assert torch.equal(arranged, arrange(planes, formulation))
    assert arranged.stride() == arrange(planes, formulation).stride()


def test_channels_last_features_stay_so_through_a_convolution() -> None:
    features = arrange(torch.rand(3, 6, 34), "channels_last")
    result = convolve(features, torch.rand(6, 6, 3), None, "channels_last")
    assert result.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_further_channels_of_zeros_change_nothing(formulation: Formulation) -> None:
    planes, weight = torch.rand(3, 5, 34), torch.rand(4, 5, 3)
    more = torch.cat([planes, torch.zeros(3, 3, 34)], dim=1)
    exact = convolve(arrange(planes, formulation), weight, None, formulation)
    torch.testing.assert_close(convolve(arrange(more, formulation), weight, None, formulation), exact)


def test_an_unknown_formulation_is_refused() -> None:
    with pytest.raises(ValueError, match="'winograd': use one of conv1d, channels_last, matmul"):
        check_formulation("winograd")
