"""What the policy gradient is made of: the settings of policy_gradient.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyGradientConfig:
    """Terms of the gradient."""

    use_critic: bool = True
    """Subtract the estimate of a small critic net from the reward. ``false`` is the paper's plain formula: settings of
    the critic and of gae_lambda then have no effect."""
    gae_lambda: float = 1.0
    """Lambda of generalized advantage estimation over the decisions of a seat in a kyoku. 1 = the advantage is the
    reward minus the critic's value; smaller values rely more on the critic's later values: less variance, more bias."""
    max_trace_ratio: float = 1.0
    """With gae_lambda below 1, later decisions count with their importance ratio, truncated to this value (as in
    V-trace). Several calls that are possible at the same time count as one, with the product of their ratios. 0 = they
    count fully."""
    exact_deal_in: bool = False
    """Compute what a discard costs at once (the points paid if the other seats win on it) as the expectation over all
    legal discards, from the true hands, instead of from the sampled discard: the same gradient with less noise. Only
    for ``round_score``."""
    rest_weight: float = 1.0
    """With exact_deal_in: weight of the sampled advantages, which have nearly all of the noise. Below 1, points that a
    discard costs at once count more than all other points: less noise, but the policy becomes more cautious."""
    reward_unit: float = 5000.0
    """Rewards are divided by this, so that the points of a kyoku become numbers around 1."""
    max_ratio: float = 2.0
    """Larger importance ratios are truncated to this value (biased, but lower variance); 0 = no limit."""
    reject_ratio: float = 0.0
    """Decisions with a larger importance ratio give no gradient of the sampled action; they are counted, and the other
    terms of the loss (entropy, KL, critic) still have them. Above 1; 0 = none is rejected."""
    clip: float = 0.0
    """PPO's clip: a decision does not push its importance ratio further than this from 1, in the direction of its
    advantage; 0 = no clip."""

    def __post_init__(self) -> None:
        if not 0 < self.rest_weight <= 1:
            raise ValueError(f"rest_weight is {self.rest_weight}: use a number above 0, at most 1")
        if self.rest_weight != 1 and not self.exact_deal_in:
            raise ValueError(f"rest_weight is {self.rest_weight}: use 1, or set exact_deal_in to true")
        if not 0 <= self.gae_lambda <= 1:
            raise ValueError(f"gae_lambda is {self.gae_lambda}: use a number from 0 to 1, such as 0.8")
        if not self.reward_unit > 0:
            raise ValueError(f"reward_unit is {self.reward_unit}: use a positive number of points, such as 5000")
        if self.reject_ratio and not self.reject_ratio > 1:
            raise ValueError(f"reject_ratio is {self.reject_ratio}: use a ratio above 1, such as 2, or 0 for none")
        for name in ("max_trace_ratio", "max_ratio", "clip"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use a positive ratio, or 0 for no limit")
