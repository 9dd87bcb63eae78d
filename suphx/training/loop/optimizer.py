"""The optimizer of all nets: AdamW without weight decay of biases and normalization."""

from __future__ import annotations

import math

from torch import nn
from torch.optim import AdamW


def learning_rate_factor(
    step: int, progress: float, warmup_steps: int, final_factor: float, warmup_share: float = 0.1
) -> float:
    """Return what the peak learning rate is multiplied by.

    ``step``: steps done before this one; ``progress``: share of the run done, 0 to 1 (beyond counts as 1);
    ``warmup_steps``: length of the linear warm-up, which takes at most ``warmup_share`` of the run;
    ``final_factor``: the factor at the end of the run.
    """
    warmup = 1.0
    if warmup_steps > 0 and warmup_share > 0:
        warmup = min(1.0, max((step + 1) / warmup_steps, progress / warmup_share))
    cosine = 0.5 + 0.5 * math.cos(math.pi * min(1.0, max(0.0, progress)))
    return warmup * (final_factor + (1.0 - final_factor) * cosine)


def new_optimizer(net: nn.Module, learning_rate: float, weight_decay: float) -> AdamW:
    """Return AdamW over the parameters of ``net``; only matrices and convolutions decay."""
    parameters = list(net.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=learning_rate, fused=True)
