"""What a net answers for packed rows, one batch or many."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from suphx.features.samples import Samples
from suphx.models.policy import PolicyNet
from suphx.models.unpack import unpack_rows
from suphx.training.dataset import num_samples, take
from suphx.training.loss import masked_logits

_PREDICTION_ROWS = 2048  # at a time: bounds memory, large enough to be fast


def net_logits(net: PolicyNet, rows: NDArray[np.uint8], bf16: bool) -> Tensor:
    """Return the logits [n, k] of packed ``rows`` [n, row_bytes], computed on the device of ``net``."""
    device = next(net.parameters()).device
    packed = torch.from_numpy(rows).to(device, non_blocking=True)
    planes = unpack_rows(packed, net.num_planes, torch.bfloat16 if bf16 else torch.float32)
    with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
        return cast(Tensor, net(planes))


def predict(net: PolicyNet, samples: Samples, bf16: bool) -> NDArray[np.float32]:
    """Return the logits [n, k] of ``samples`` by ``net`` in evaluation mode, minus infinity where illegal.

    The net stays in evaluation mode.
    """
    net.eval()
    parts = []
    with torch.inference_mode():
        for start in range(0, num_samples(samples), _PREDICTION_ROWS):
            part = take(samples, slice(start, start + _PREDICTION_ROWS))
            logits = net_logits(net, part.rows, bf16).cpu()
            parts.append(masked_logits(logits, torch.from_numpy(part.masks)).numpy())
    return np.concatenate(parts)
