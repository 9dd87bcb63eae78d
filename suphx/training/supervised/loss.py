"""The loss of supervised learning: cross-entropy over the legal actions, as pure functions."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from suphx.models.sampling import masked_logits


def supervised_loss(logits: Tensor, labels: Tensor, masks: Tensor, yes_weight: float = 1.0) -> Tensor:
    """Return the mean cross-entropy of ``logits`` [n, k] against ``labels`` [n], in nats.

    ``yes_weight`` is the weight of the label 1 of a two-output head against label 0 (1: none); the mean is taken over
    the weights. With 34 outputs it must be 1.
    """
    legal = masked_logits(logits, masks)
    weight = None
    if yes_weight != 1.0:
        one = legal.new_ones(1)
        weight = torch.cat([one, one * yes_weight])  # made on the device: a CUDA graph cannot copy from the host
    return functional.cross_entropy(legal, labels.long(), weight=weight)


def sum_of_weights(labels: Tensor, yes_weight: float) -> Tensor:
    """Return the sum of the weights (0-d) over which ``supervised_loss`` takes the mean."""
    return len(labels) + (yes_weight - 1) * labels.float().sum()
