"""Three ways to compute a 3x1 convolution over the 34 columns; they give the same numbers and differ in speed.

Each has its own arrangement of features in memory, which stays the same from the first layer of a trunk to the last:

=============  ======================================  =========================================
convolution    features                                computed as
=============  ======================================  =========================================
conv1d         [n, channels, 34]                       ``Conv1d``
channels_last  [n, channels, 1, 34], channels last     ``Conv2d`` of an image that is one row high
matmul         [n, 34, channels]                       a product of [n * 34, 3 * channels] and the weights
=============  ======================================  =========================================

Weights are [out, in, 3] everywhere, so that a checkpoint knows nothing of this. Measurements: docs/experiments.md.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from suphx.games.riichi import NUM_COLUMNS
from suphx.models.computation import Convolution

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
