"""How a copy of the discard net is fitted to one hand: the settings of adaptation.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

RolloutBaseline = Literal["deal", "mean", "none", "critic"]

ALL_BLOCKS = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptationConfig:
    """Rollouts and gradient steps of one hand."""

    num_rollouts: int = 1024
    """K of the paper (which has 100,000): trajectories that are played for a hand."""
    rollouts_per_deal: int = 8
    """Rollouts with the same hidden tiles, which differ in our seat's discards only. Their mean reward is subtracted,
    which removes the luck of the deal."""
    baseline: RolloutBaseline = "deal"
    """What is taken off a trajectory's reward: the mean of the others of its deal, of all others of the hand, nothing
    (the plain formula), or what a critic expects at each discard (adaptation.py)."""
    gae_lambda: float = 1.0
    """With a critic: lambda of the advantages (generalised advantage estimation). 1 = the reward of the trajectory, as
    in equation 6; below 1 a discard is judged mostly by what the critic expects a few discards later."""
    critic_deals: int = 12_000
    """Deals from which the critic learns, before the first hand."""
    temperature: float = 1.0
    """The rollouts sample our discards from the logits divided by this. Below 1 they are closer to what is played."""
    kl_target: float = 0.0
    """Mean KL(net before || adapted net) in nats over the decisions of the rollouts. Each epoch is one step along the
    gradient of all trajectories, as long as this allows; Adam and its settings are then not used. 0 = steps of Adam."""
    learning_rate: float = 1e-4
    """Of Adam."""
    num_epochs: int = 1
    """How often every trajectory is learned from."""
    batch_rollouts: int = 256
    """Trajectories of a step of Adam."""
    max_ratio: float = 2.0
    """Importance ratios of trajectories above it count as this much; 0 = no limit."""
    trained_blocks: int = ALL_BLOCKS
    """Residual blocks, the last ones, that are adapted beside the output; -1 = the whole net."""

    def __post_init__(self) -> None:
        for name in ("num_rollouts", "rollouts_per_deal", "num_epochs", "batch_rollouts", "critic_deals"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use 1 or more")
        for name in ("temperature", "kl_target", "learning_rate", "max_ratio", "gae_lambda"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} is {getattr(self, name)}: use a finite number")
        if self.num_rollouts % self.rollouts_per_deal:
            raise ValueError(
                f"num_rollouts is {self.num_rollouts}: use a multiple of rollouts_per_deal, {self.rollouts_per_deal}"
            )
        if self.baseline not in get_args(RolloutBaseline):
            raise ValueError(f"baseline is {self.baseline!r}: use one of {', '.join(get_args(RolloutBaseline))}")
        if self.baseline == "deal" and self.rollouts_per_deal == 1:
            raise ValueError("baseline is 'deal', but a deal has one rollout: use more rollouts_per_deal, or 'mean'")
        if not 0 <= self.gae_lambda <= 1:
            raise ValueError(f"gae_lambda is {self.gae_lambda}: use a number from 0 to 1")
        if self.gae_lambda < 1 and self.baseline != "critic":
            raise ValueError(f"gae_lambda is {self.gae_lambda}, which needs a critic: set baseline to 'critic'")
        for name in ("learning_rate", "temperature"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use a positive number")
        if self.max_ratio < 0:
            raise ValueError(f"max_ratio is {self.max_ratio}: use a positive ratio, or 0 for no limit")
        if not self.kl_target >= 0:
            raise ValueError(f"kl_target is {self.kl_target}: use a positive distance in nats, or 0 for steps of Adam")
        if self.trained_blocks < ALL_BLOCKS:
            raise ValueError(f"trained_blocks is {self.trained_blocks}: use -1 (all) or a number of blocks")
