"""The residual trunk of the paper's Figures 4 and 5: a 3x1 convolution, then blocks of two 3x1 convolutions and a skip.

A plane is 34x1, so a 3x1 convolution is ``Conv1d`` with three taps. Of the formulations measured (Conv1d, Conv2d,
Conv2d channels-last, matrix product; docs/experiments.md) it is the fastest on a CPU, with and without bf16.
The paper is silent on normalisation and activation: here BatchNorm (or none) and ReLU.
"""

from __future__ import annotations

from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_weights

Normalization = Literal["batch", "none"]


class ConvNorm(nn.Module):
    """A convolution along the 34 columns and its normalisation: [n, num_in, 34] to [n, num_out, 34].

    Without normalisation the convolution has a bias instead.
    """

    def __init__(self, num_in: int, num_out: int, normalization: Normalization) -> None:
        super().__init__()
        is_plain = normalization == "none"
        self.conv = nn.Conv1d(num_in, num_out, kernel_size=3, padding=1, bias=is_plain)
        self.norm: nn.Module = nn.Identity() if is_plain else nn.BatchNorm1d(num_out)

    def forward(self, planes: Tensor) -> Tensor:
        """Return the normalised convolution of ``planes``."""
        return cast(Tensor, self.norm(self.conv(planes)))

    def start_at_zero(self) -> None:
        """Make every output 0, so that the residual block around it starts as the identity and deep trunks train."""
        if isinstance(self.norm, nn.BatchNorm1d):
            nn.init.zeros_(self.norm.weight)
        else:
            assert self.conv.bias is not None
            nn.init.zeros_(self.conv.weight)
            nn.init.zeros_(self.conv.bias)

    def folded_weights(self) -> tuple[Tensor, Tensor]:
        """Return weight and bias of the one convolution that equals this one in evaluation mode."""
        weight, bias, norm = self.conv.weight, self.conv.bias, self.norm
        if isinstance(norm, nn.BatchNorm1d):
            assert norm.running_mean is not None
            assert norm.running_var is not None
            weight, bias = fuse_conv_bn_weights(
                weight, bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias
            )
        assert bias is not None
        return weight.detach(), bias.detach()


class ResidualBlock(nn.Module):
    """Two convolutions and the skip around them; channels stay the same."""

    def __init__(self, channels: int, normalization: Normalization) -> None:
        super().__init__()
        self.first = ConvNorm(channels, channels, normalization)
        self.second = ConvNorm(channels, channels, normalization)
        self.second.start_at_zero()

    def forward(self, planes: Tensor) -> Tensor:
        """Return [n, channels, 34] for [n, channels, 34]."""
        return torch.relu(planes + self.second(torch.relu(self.first(planes))))


class ResidualTrunk(nn.Module):
    """Stem and blocks: [n, num_planes, 34] to [n, channels, 34]."""

    def __init__(self, num_planes: int, channels: int, num_blocks: int, normalization: Normalization) -> None:
        super().__init__()
        self.stem = ConvNorm(num_planes, channels, normalization)
        self.blocks = nn.Sequential(*(ResidualBlock(channels, normalization) for _ in range(num_blocks)))

    def forward(self, planes: Tensor) -> Tensor:
        """Return the features of every column."""
        return cast(Tensor, self.blocks(torch.relu(self.stem(planes))))
