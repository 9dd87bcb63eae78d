"""How many floating-point operations a net takes for a row, counted layer by layer on tensors without data."""

from __future__ import annotations

import torch
from torch.utils.flop_counter import FlopCounterMode

from suphx.models.nets.policy import PolicyNet


def inference_flops(net: PolicyNet) -> int:
    """Return the operations of one forward pass for one row: a multiplication and an addition count two.

    Convolutions and matrix products count, as if every plane were a dense number; normalisation and activation do not.
    """
    return _count(net, trains=False)


def training_flops(net: PolicyNet) -> int:
    """Return the operations of one forward and backward pass for one row; the planes need no gradient."""
    return _count(net, trains=True)


def _count(net: PolicyNet, *, trains: bool) -> int:
    with torch.device("meta"):
        twin = PolicyNet(net.head, net.num_planes, net.config)
        num_planes = net.num_planes + net.config.num_oracle_planes
        planes = torch.empty(2, num_planes, 34)  # BatchNorm refuses to train with a single row of one column
    counter = FlopCounterMode(display=False)
    with counter:
        features = twin.trunk(planes)
        logits = twin.output(features)
        if trains:
            torch.autograd.backward(logits.sum())
    return counter.get_total_flops() // len(planes)
