from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from suphx.models.policy import ConvNorm, ResidualBlock, ResidualTrunk, arrange, as_columns, convolve


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("num_more", [0, 3])
def test_features_are_convolved_as_planes_are(has_bias: bool, num_more: int) -> None:
    """Further channels of zeros change nothing."""
    torch.manual_seed(1)
    planes, weight = torch.rand(3, 5, 34), torch.rand(4, 5, 3)
    bias = torch.rand(4) if has_bias else None
    wanted = functional.conv1d(planes, weight, bias, padding=1)
    more = functional.pad(planes, (0, 0, 0, num_more))
    result = convolve(arrange(more), weight, bias)
    torch.testing.assert_close(as_columns(result), wanted.transpose(1, 2))
    assert result.is_contiguous(memory_format=torch.channels_last)


def test_a_new_block_passes_on_what_it_gets() -> None:
    features = torch.rand(2, 8, 1, 34)
    assert torch.equal(ResidualBlock(8, "batch")(features), features)
    assert torch.equal(ResidualBlock(8, "none")(features), features)


def test_the_trunk_keeps_the_columns() -> None:
    trunk = ResidualTrunk(5, 8, 2, "batch")
    assert as_columns(trunk(torch.rand(3, 5, 34))).shape == (3, 34, 8)


@pytest.mark.parametrize("normalization", ["batch", "none"])
def test_features_are_normalised_by_channel(normalization: str) -> None:
    torch.manual_seed(1)
    layer = ConvNorm(3, 4, normalization)  # type: ignore[arg-type]
    planes = torch.rand(6, 3, 34)
    plain = functional.conv1d(planes, layer.conv.weight, layer.conv.bias, padding=1)
    is_plain = normalization == "none"
    wanted = plain if is_plain else functional.batch_norm(plain, None, None, training=True)
    torch.testing.assert_close(as_columns(layer(arrange(planes))), wanted.transpose(1, 2))
    if not is_plain:
        mean = layer.norm.state_dict()["running_mean"]
        torch.testing.assert_close(mean, 0.1 * plain.detach().mean(dim=(0, 2)))
