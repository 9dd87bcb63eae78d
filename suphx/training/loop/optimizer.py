"""The optimizer of all nets: AdamW without weight decay of biases and normalization."""

from __future__ import annotations

from torch import nn
from torch.optim import AdamW


def new_optimizer(net: nn.Module, learning_rate: float, weight_decay: float) -> AdamW:
    """Return AdamW over the parameters of ``net``; only matrices and convolutions decay."""
    parameters = list(net.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=learning_rate, fused=True)
