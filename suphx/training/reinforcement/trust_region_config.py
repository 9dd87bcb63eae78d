"""How far an update may take the policy, and how close it stays to the initial one: settings of the learner."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRegionConfig:
    """Limits of the policy's steps; PPO's clip is ``gradient.clip``."""

    kl_coeff: float = 0.0
    """Weight in the loss of KL(policy || initial net), the mean over a batch in nats; 0 = no such term. Unlike RLlib's
    ``kl_coeff``, the reference is the initial net, not the previous policy. In the stages of oracle guiding it is the
    net with which their part began: that of ``oracle`` in ``oracle_decay``, the decayed one at keep probability 0."""
    kl_half_life: int = 0
    """Updates after which that weight is half of what it was, counted as for ``warmup_updates``; 0 = it is constant."""
    max_kl: float = 0.0
    """A batch whose estimated KL(policy that played || policy that learns) in nats is larger does not move the policy;
    the critic still learns. 0 = no limit."""

    def __post_init__(self) -> None:
        for name in ("kl_coeff", "kl_half_life", "max_kl"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use 0 or more")

    def kl_coeff_after(self, num_updates: int) -> float:
        """Return the weight of the divergence from the initial net after ``num_updates`` updates of the policy."""
        halvings = num_updates / self.kl_half_life if self.kl_half_life else 0.0
        return float(self.kl_coeff * 0.5**halvings)
