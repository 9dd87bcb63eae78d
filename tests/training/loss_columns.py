"""Batches for tests of the loss alone."""

from __future__ import annotations

import torch
from torch import Tensor

from suphx.training.policy_gradient import LossColumns


def loss_columns(
    *,
    masks: Tensor,
    actions: Tensor,
    log_probs: Tensor,
    rewards: Tensor,
    costs: Tensor | None = None,
    is_last: Tensor | None = None,
) -> LossColumns[Tensor]:
    """Return n decisions; by default discards cost nothing at once, and each decision is a trajectory."""
    n = len(actions)
    return {
        "masks": masks,
        "costs": torch.zeros((n, 0), dtype=torch.int16) if costs is None else costs,
        "actions": actions,
        "is_joint": torch.zeros(n, dtype=torch.bool),
        "log_probs": log_probs,
        "rewards": rewards,
        "is_last": torch.ones(n, dtype=torch.bool) if is_last is None else is_last,
    }
