"""The settings of the learner: optimizers, critic, gradient, entropy and trust region."""

from __future__ import annotations

from dataclasses import dataclass, field

from suphx.models.computation import DeviceName, Precision
from suphx.models.nets.net_config import NetConfig
from suphx.training.reinforcement.critic_warmup_config import CriticWarmupConfig
from suphx.training.reinforcement.distillation_config import DistillationConfig
from suphx.training.reinforcement.entropy import EntropyConfig
from suphx.training.reinforcement.policy_gradient_config import PolicyGradientConfig
from suphx.training.reinforcement.trust_region_config import TrustRegionConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """How the nets learn from decisions."""

    learning_rate: float = 3e-4
    """Learning rate of AdamW for the policies after the warm-up."""
    warmup_updates: int = 0
    """Updates in which the learning rate of the policies rises linearly, from the first one that moves a policy; 0 = no
    warm-up."""
    decay_updates: int = 0
    """Updates in which the learning rate of the policies falls linearly to ``last_rate_share`` of it: at the end, the
    noise of single batches averages out. They count as for ``warmup_updates``. 0 = it is constant."""
    last_rate_share: float = 0.1
    """Learning rate after ``decay_updates``, as a share of ``learning_rate``."""
    critic_learning_rate: float = 1e-3
    """Learning rate of the critics."""
    weight_decay: float = 0.0
    """Weight decay of AdamW."""
    max_grad_norm: float = 1.0
    """Maximum norm of the gradient, for policy and critic separately."""
    critic: NetConfig = field(default_factory=lambda: NetConfig(size="tiny"))
    """Size of the critics."""
    oracle_critic: bool = False
    """Let the critics see hidden tiles. This lowers the variance of the advantage; the policy does not see them."""
    critic_warmup: CriticWarmupConfig = field(default_factory=CriticWarmupConfig)
    """How the critics learn before the policies do."""
    distillation: DistillationConfig = field(
        default_factory=DistillationConfig,
        metadata={"set_by": "the stage oracle_distillation sets it: use the table oracle_distillation"},
    )
    """How closely the policy follows a teacher that sees hidden tiles."""
    gradient: PolicyGradientConfig = field(default_factory=PolicyGradientConfig)
    """Terms of the gradient (equations 1 and 2 of the paper)."""
    entropy: EntropyConfig = field(default_factory=EntropyConfig)
    """Entropy control (equation 3 of the paper)."""
    permute_rewards: bool = False
    """Shuffle the rewards of the trajectories within each batch: a control run, in which no net can become stronger. A
    gain that is claimed must be larger than that of this run (docs/evaluation.md)."""
    trust_region: TrustRegionConfig = field(default_factory=TrustRegionConfig)
    """How far the policy moves, and how close it stays to the initial nets."""
    num_learners: int = 1
    """Devices that learn together, each from its part of every batch. Above 1 they are separate processes (Ray)."""
    threads: int = 1
    """Threads of torch per learner; 0 = torch's default."""
    precision: Precision = "auto"
    """fp32; bf16 (autocast); auto: bf16 where the hardware supports it."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""

    def __post_init__(self) -> None:
        for name in ("learning_rate", "critic_learning_rate"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use a number between 0 and 1, such as 0.0003")
        if not self.max_grad_norm > 0:
            raise ValueError(f"max_grad_norm is {self.max_grad_norm}: use a positive norm, such as 1")
        if self.num_learners < 1:
            raise ValueError(f"num_learners is {self.num_learners}: use at least 1")
        for name in ("weight_decay", "threads", "warmup_updates", "decay_updates"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use 0 or more")
        if not 0 < self.last_rate_share <= 1:
            raise ValueError(f"last_rate_share is {self.last_rate_share}: use a share above 0, at most 1")
        if self.oracle_critic and not self.gradient.use_critic:
            raise ValueError(
                "oracle_critic is true with gradient.use_critic false: there is no critic; set oracle_critic to false, "
                "or use_critic to true"
            )

    def rate_share_after(self, num_updates: int) -> float:
        """Return the policies' learning rate after ``num_updates`` updates, as a share of ``learning_rate``."""
        rising = min(1.0, (num_updates + 1) / self.warmup_updates) if self.warmup_updates else 1.0
        progress = min(1.0, num_updates / self.decay_updates) if self.decay_updates else 0.0
        return rising * (1 + progress * (self.last_rate_share - 1))
