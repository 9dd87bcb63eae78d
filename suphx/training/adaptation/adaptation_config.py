"""How a copy of the discard net is fitted to one hand: the settings of adaptation.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from suphx.number_range import LearningRate, Range, Share, Weight, check_ranges

RolloutBaseline = Literal["deal", "mean", "none", "critic"]

ALL_BLOCKS = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptationConfig:
    """Rollouts and gradient steps of one hand."""

    num_rollouts: Annotated[int, Range(1, 1_000_000)] = 1024
    """K of the paper (which has 100,000): trajectories that are played for a hand."""
    rollouts_per_deal: Annotated[int, Range(1, 1_000_000)] = 8
    """Rollouts with the same hidden tiles, which differ in our seat's discards only. Their mean reward is subtracted,
    which removes the luck of the deal."""
    baseline: RolloutBaseline = "deal"
    """What is taken off a trajectory's reward: the mean of the others of its deal, of all others of the hand, nothing
    (the plain formula), or what a critic expects at each discard (adaptation.py)."""
    gae_lambda: Share = 1.0
    """With a critic: lambda of the advantages (generalised advantage estimation). 1 = the reward of the trajectory, as
    in equation 6; below 1 a discard is judged mostly by what the critic expects a few discards later."""
    critic_deals: Annotated[int, Range(1, 10_000_000)] = 12_000
    """Deals from which the critic learns, before the first hand."""
    temperature: Annotated[float, Range(0, 100, "right")] = 1.0
    """The rollouts sample our discards from the logits divided by this. Below 1 they are closer to what is played."""
    kl_target: Weight = 0.0
    """Mean KL(net before || adapted net) in nats over the decisions of the rollouts. Each epoch is one step along the
    gradient of all trajectories, as long as this allows; Adam and its settings are then not used. 0 = steps of Adam."""
    learning_rate: LearningRate = 1e-4
    """Of Adam."""
    num_epochs: Annotated[int, Range(1, 10_000)] = 1
    """How often every trajectory is learned from."""
    batch_rollouts: Annotated[int, Range(1, 1_000_000)] = 256
    """Trajectories of a step of Adam."""
    max_ratio: Annotated[float, Range(0, 1_000_000)] = 2.0
    """Importance ratios of trajectories above it count as this much; 0 = no limit."""
    trained_blocks: Annotated[int, Range(ALL_BLOCKS, 65_536)] = ALL_BLOCKS
    """Residual blocks, the last ones, that are adapted beside the output; -1 = the whole net."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.num_rollouts % self.rollouts_per_deal:
            raise ValueError(
                f"num_rollouts is {self.num_rollouts}: use a multiple of rollouts_per_deal, {self.rollouts_per_deal}"
            )
        if self.baseline not in get_args(RolloutBaseline):
            raise ValueError(f"baseline is {self.baseline!r}: use one of {', '.join(get_args(RolloutBaseline))}")
        if self.baseline == "deal" and self.rollouts_per_deal == 1:
            raise ValueError("baseline is 'deal', but a deal has one rollout: use more rollouts_per_deal, or 'mean'")
        if self.gae_lambda < 1 and self.baseline != "critic":
            raise ValueError(f"gae_lambda is {self.gae_lambda}, which needs a critic: set baseline to 'critic'")
