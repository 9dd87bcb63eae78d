"""Distillation from an oracle agent, with a bound on the distance to it (paper, section 3.3, its last paragraph).

A policy that sees nothing hidden learns by self-play as ever, and stays near a teacher that sees everything: what their
mean distance is above a bound counts as a loss. The teacher knows more, so that no policy comes arbitrarily near.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from suphx.training.policy_gradient import kl_divergence


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillationConfig:
    """How a policy is held near its teacher."""

    weight: float = 0.0
    """Weight in the loss of the distance above the bound; 0 = no teacher."""
    bound: float = 0.05
    """Mean KL(teacher || policy) over a batch, in nats, up to which nothing is lost."""

    def __post_init__(self) -> None:
        for name in ("weight", "bound"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use 0 or more")


def distillation_loss(
    logits: Tensor, teacher_logits: Tensor, masks: Tensor, config: DistillationConfig
) -> tuple[Tensor, Tensor]:
    """Return weight * max(0, distance - bound) and the distance, 0-d each.

    The distance is the mean over rows of KL(teacher || policy); ``logits`` and ``teacher_logits`` [n, k], ``masks`` as
    in ``policy_loss``. Only ``logits`` get a gradient.
    """
    distance = kl_divergence(teacher_logits.detach(), logits, masks)
    return config.weight * (distance - config.bound).clamp_min(0.0), distance.detach()
