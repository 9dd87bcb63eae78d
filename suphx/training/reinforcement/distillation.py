"""Distillation from an oracle agent, with a bound on the distance to it (paper, section 3.3, its last paragraph).

A policy that sees nothing hidden learns by self-play as ever, and stays near a teacher that sees everything: what their
mean distance is above a bound counts as a loss. The teacher knows more, so that no policy comes arbitrarily near.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from suphx.training.reinforcement.distillation_config import DistillationConfig
from suphx.training.reinforcement.policy_gradient import kl_divergence


def distillation_loss(
    logits: Tensor,
    teacher_logits: Tensor,
    masks: Tensor,
    config: DistillationConfig,
    mean_of_learners: Callable[[Tensor], Tensor] = torch.clone,
) -> tuple[Tensor, Tensor]:
    """Return weight * max(0, distance - bound) and the distance, 0-d each.

    The distance is the mean over rows of KL(teacher || policy); ``logits`` and ``teacher_logits`` [n, k], ``masks`` as
    in ``policy_loss``. Only ``logits`` get a gradient. Of several learners ``mean_of_learners`` returns the distance of
    the whole batch, which decides for all of them whether the bound is exceeded.
    """
    distance = kl_divergence(teacher_logits.detach(), logits, masks)
    is_within = mean_of_learners(distance.detach().clone()) <= config.bound
    return config.weight * (distance - config.bound).masked_fill(is_within, 0.0), distance.detach()
