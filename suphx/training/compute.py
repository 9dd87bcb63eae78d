"""Where and how precisely nets are computed: device, threads, bfloat16."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from suphx.features.samples import Samples
from suphx.models.policy import PolicyNet
from suphx.models.unpack import unpack_rows
from suphx.training.dataset import num_samples, take
from suphx.training.loss import masked_logits

DeviceName = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "bf16", "fp32"]

_PREDICTION_ROWS = 2048  # at a time: bounds memory, large enough to be fast


def find_device(name: DeviceName) -> torch.device:
    """Return the device called ``name``; auto is cuda if there is one. ValueError for cuda where there is none."""
    has_cuda = torch.cuda.is_available()
    if name == "cuda" and not has_cuda:
        raise ValueError("device is cuda, but this machine has no usable GPU: use auto or cpu")
    return torch.device("cuda" if has_cuda and name != "cpu" else "cpu")


def uses_bf16(precision: Precision, device: torch.device) -> bool:
    """Tell whether to compute in bfloat16; auto: only where the hardware has it, elsewhere it would be slower."""
    if precision == "auto":
        if device.type == "cuda":
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
        return bool(torch.cpu.get_capabilities().get("avx512_bf16", False))
    return precision == "bf16"


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use ``count`` threads inside the block; 0 changes nothing."""
    before = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
