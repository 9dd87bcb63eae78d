"""The residual trunk of the paper's Figures 4 and 5: a 3x1 convolution, then blocks of two 3x1 convolutions and a skip.

A plane is 34x1, so a 3x1 convolution has three taps along the columns; resnet.py has the ways to compute it.
The paper is silent on normalisation and activation: here BatchNorm (or none) and ReLU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_weights

from suphx.games.riichi import NUM_COLUMNS
from suphx.models.computation import FASTEST, Convolution
from suphx.models.nets.net_config import Normalization
from suphx.models.packed import convolve_packed

_ALIGNMENT = 8  # channels: cuDNN's bf16 kernels for tensor cores want a multiple; 838 and 958 planes are none


def arrange(planes: Tensor, convolution: Convolution) -> Tensor:
    """Return ``planes`` [n, channels, 34] as the convolution wants them.

    On a GPU, planes of zeros are added up to a multiple of 8; ``convolve`` expects them.
    """
    if planes.is_cuda and convolution != "conv1d":
        planes = functional.pad(planes, (0, 0, 0, -planes.shape[1] % _ALIGNMENT))
    if convolution == "channels_last":
        return planes.unsqueeze(2).contiguous(memory_format=torch.channels_last)
    return planes.transpose(1, 2).contiguous() if convolution == "matmul" else planes


def arrange_columns(columns: Tensor, convolution: Convolution) -> Tensor:
    """Return ``columns`` [n, 34, channels], contiguous, as the convolution wants them; copies for conv1d only."""
    if convolution == "channels_last":
        return columns.transpose(1, 2).unsqueeze(2)
    return columns if convolution == "matmul" else columns.transpose(1, 2).contiguous()


def as_columns(features: Tensor, convolution: Convolution) -> Tensor:
    """Return features as [n, 34, channels], without a copy."""
    if convolution == "channels_last":
        return features.squeeze(2).transpose(1, 2)
    return features if convolution == "matmul" else features.transpose(1, 2)


def convolve(features: Tensor, weight: Tensor, bias: Tensor | None, convolution: Convolution) -> Tensor:
    """Return the convolution of ``features`` with ``weight`` [out, in, 3]; columns outside 0-33 count as zeros.

    Features may have more channels than ``in``: the rest must be zeros (see ``arrange``).
    """
    channel_dim = 2 if convolution == "matmul" else 1
    if features.shape[channel_dim] > weight.shape[1]:
        weight = functional.pad(weight, (0, 0, 0, features.shape[channel_dim] - weight.shape[1]))
    if convolution == "conv1d":
        return functional.conv1d(features, weight, bias, padding=1)
    if convolution == "channels_last":
        return functional.conv2d(features, weight.unsqueeze(2), bias, padding=(0, 1))
    padded = functional.pad(features, (0, 0, 1, 1))
    neighbours = torch.cat([padded[:, tap : tap + NUM_COLUMNS] for tap in range(3)], dim=2)
    return functional.linear(neighbours, weight.transpose(1, 2).flatten(1), bias)


class ChannelNorm(nn.BatchNorm1d):
    """BatchNorm of features that have their channels second, whatever comes after; its state is ``BatchNorm1d``'s."""

    def _check_input_dim(self, input: Tensor) -> None:
        """Take features of any convolution."""


class ConvNorm(nn.Module):
    """A convolution along the 34 columns and its normalisation, of features in the present ``convolution``.

    Without normalisation the convolution has a bias instead.
    """

    def __init__(self, num_in: int, num_out: int, normalization: Normalization) -> None:
        super().__init__()
        self.convolution: Convolution = FASTEST
        is_plain = normalization == "none"
        self.conv = nn.Conv1d(num_in, num_out, kernel_size=3, padding=1, bias=is_plain)
        self.norm: nn.Module = nn.Identity() if is_plain else ChannelNorm(num_out)

    def forward(self, features: Tensor) -> Tensor:
        """Return the normalised convolution of ``features``."""
        return self._normalize(convolve(features, self.conv.weight, self.conv.bias, self.convolution))

    def forward_packed(self, parts: Sequence[Tensor], num_planes: Sequence[int]) -> Tensor:
        """Return the same for bit-packed planes on the CPU, without unpacking them.

        ``parts``: uint8 [n, observation_bytes(planes)] each, of ``num_planes`` planes each, one part after another.
        """
        weights = torch.split(self.conv.weight, list(num_planes), dim=1)
        columns = [convolve_packed(rows, weight) for rows, weight in zip(parts, weights, strict=True)]
        result = sum(columns[1:], columns[0])
        if self.conv.bias is not None:
            result = result + self.conv.bias
        has_autocast = torch.is_autocast_enabled("cpu")
        dtype = torch.get_autocast_dtype("cpu") if has_autocast else self.conv.weight.dtype
        return self._normalize(arrange_columns(result.to(dtype), self.convolution))

    def _normalize(self, features: Tensor) -> Tensor:
        if self.convolution == "matmul":
            return cast(Tensor, self.norm(features.flatten(0, 1))).view_as(features)
        return cast(Tensor, self.norm(features))

    def start_at_zero(self) -> None:
        """Make every output 0, so that the residual block around it starts as the identity and deep trunks train."""
        if isinstance(self.norm, nn.BatchNorm1d):
            nn.init.zeros_(self.norm.weight)
        else:
            assert self.conv.bias is not None
            nn.init.zeros_(self.conv.weight)
            nn.init.zeros_(self.conv.bias)

    def folded_weights(self) -> tuple[Tensor, Tensor]:
        """Return copies: weight and bias of the one convolution that equals this one in evaluation mode."""
        weight, bias, norm = self.conv.weight, self.conv.bias, self.norm
        if not isinstance(norm, nn.BatchNorm1d):
            assert bias is not None
            return weight.detach().clone(), bias.detach().clone()
        assert norm.running_mean is not None
        assert norm.running_var is not None
        weight, bias = fuse_conv_bn_weights(
            weight, bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias
        )
        return weight.detach(), bias.detach()


class ResidualBlock(nn.Module):
    """Two convolutions and the skip around them; channels stay the same."""

    def __init__(self, channels: int, normalization: Normalization) -> None:
        super().__init__()
        self.first = ConvNorm(channels, channels, normalization)
        self.second = ConvNorm(channels, channels, normalization)
        self.second.start_at_zero()

    def forward(self, features: Tensor) -> Tensor:
        """Return features of the same shape."""
        return torch.relu(features + self.second(torch.relu(self.first(features))))


class ResidualTrunk(nn.Module):
    """Stem and blocks: from planes to features in the convolution that all its convolutions have."""

    def __init__(self, num_planes: int, channels: int, num_blocks: int, normalization: Normalization) -> None:
        super().__init__()
        self.stem = ConvNorm(num_planes, channels, normalization)
        self.blocks = nn.Sequential(*(ResidualBlock(channels, normalization) for _ in range(num_blocks)))

    def forward(self, planes: Tensor) -> Tensor:
        """Return the features of every column of ``planes`` [n, num_planes, 34]."""
        return cast(Tensor, self.blocks(self.first_features(planes)))

    def first_features(self, planes: Tensor) -> Tensor:
        """Return what the first block gets of ``planes`` [n, num_planes, 34]."""
        return torch.relu(self.stem(arrange(planes, self.stem.convolution)))

    def first_features_of_packed(self, parts: Sequence[Tensor], num_planes: Sequence[int]) -> Tensor:
        """Return the same for bit-packed planes on the CPU (see ``ConvNorm.forward_packed``)."""
        return torch.relu(self.stem.forward_packed(parts, num_planes))
