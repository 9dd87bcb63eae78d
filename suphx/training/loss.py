"""The loss of supervised learning: cross-entropy over the legal actions, as pure functions."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def masked_logits(logits: Tensor, masks: Tensor) -> Tensor:
    """Return float32 ``logits`` [n, k] with minus infinity where ``masks`` [n, k] is 0.

    ``masks`` [n, 0] means that every output is legal (the heads with the two answers no and yes).
    """
    logits = logits.float()
    if masks.shape[1] == 0:
        return logits
    return logits.masked_fill(masks == 0, -torch.inf)


def supervised_loss(logits: Tensor, labels: Tensor, masks: Tensor, yes_weight: float = 1.0) -> Tensor:
    """Return the mean cross-entropy of ``logits`` [n, k] against ``labels`` [n], in nats.

    ``yes_weight`` is the weight of the label 1 of a two-output head against label 0 (1: none); the mean is taken over
    the weights. With 34 outputs it must be 1.
    """
    legal = masked_logits(logits, masks)
    weight = None
    if yes_weight != 1.0:
        weight = torch.tensor([1.0, yes_weight], device=legal.device)
    return functional.cross_entropy(legal, labels.long(), weight=weight)
