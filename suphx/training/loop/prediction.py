"""The outputs of a net for packed rows, one batch or many."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from suphx.games.riichi import Samples
from suphx.models.nets.policy import PolicyNet
from suphx.models.sampling import masked_logits
from suphx.training.data.dataset import num_samples, take

_PREDICTION_ROWS = 2048  # at a time: bounds memory, large enough to be fast


def net_logits(net: nn.Module, rows: Tensor, bf16: bool) -> Tensor:
    """Return the logits [n, k] of packed ``rows`` uint8 [n, observation_bytes], which are on the device of ``net``."""
    with torch.autocast(rows.device.type, torch.bfloat16, enabled=bf16):
        return cast(Tensor, net(rows))


def predict(net: PolicyNet, samples: Samples, bf16: bool) -> NDArray[np.float32]:
    """Return the logits [n, k] of ``samples`` by ``net`` in evaluation mode, minus infinity where illegal.

    The net stays in evaluation mode.
    """
    net.eval()
    device = next(net.parameters()).device
    parts = []
    with torch.inference_mode():
        for start in range(0, num_samples(samples), _PREDICTION_ROWS):
            part = take(samples, slice(start, start + _PREDICTION_ROWS))
            logits = net_logits(net, torch.from_numpy(part.planes).to(device), bf16).cpu()
            parts.append(masked_logits(logits, torch.from_numpy(part.masks)).numpy())
    return np.concatenate(parts)
