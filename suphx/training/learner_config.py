"""The settings of policy gradient: optimizers, critic, entropy, trust region, oracle guiding (paper, section 3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated

from suphx.games.learning import DecisionKind
from suphx.models.net_config import DeviceName, NetConfig, Precision
from suphx.number_range import (
    Checked,
    Interval,
    LearningRate,
    Positive,
    PositiveShare,
    Processes,
    Range,
    Share,
    Steps,
    Threads,
    Weight,
    check_ranges,
)
from suphx.training.config import Algorithm

_SET_BY_DECAY = {"set_by": "the stage oracle_decay sets it: use the table oracle_decay"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleConfig:
    """Hidden tiles that the learning nets see."""

    policy: bool = False
    """Give the nets the oracle planes as additional inputs; each bit is kept with the keep probability."""
    keep_probability: Share = 1.0
    """Initial keep probability; 1 = everything is visible."""
    steps: Steps = field(default=0, metadata=_SET_BY_DECAY)
    """Number of steps in which the keep probability falls to 0, the first one at once: with 10 equal steps 0.9, 0.8,
    … 0. 0 = it is constant."""
    ratio: Annotated[float, Range(0, 1, "left")] = field(default=0.0, metadata=_SET_BY_DECAY)
    """Each step multiplies the keep probability by this, and the last one sets it to 0: with 0.7 and 10 steps 0.7,
    0.49, 0.34, … 0.04, 0. This spends more time on small values, at which a net depends on few hidden bits. 0 = equal
    steps, as in the paper."""
    updates_per_step: Interval = field(default=100, metadata=_SET_BY_DECAY)
    """Updates at each value of keep probability, a multiple of weight_sync_interval."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.keep_probability != 1 and not self.policy:
            raise ValueError(
                f"keep_probability is {self.keep_probability} with policy false, which sees nothing hidden: set policy "
                "to true, or keep_probability to 1"
            )

    @property
    def num_updates(self) -> int:
        """Updates until keep_probability is 0 and was learned at; 0 if it stays."""
        return self.steps * self.updates_per_step

    def keep_probability_after(self, num_updates: int) -> float:
        """Return the keep probability with which games are played after ``num_updates`` updates."""
        if not self.steps:
            return self.keep_probability
        step = 1 + num_updates // self.updates_per_step
        if step >= self.steps:
            return 0.0
        return self.keep_probability * (self.ratio**step if self.ratio else (self.steps - step) / self.steps)

    def keep_probability_of_update(self, number: int) -> float:
        """Return the keep probability at which the update ``number`` (1, 2, …) learned; 0: that of the first nets."""
        return self.keep_probability_after(number - 1) if number else self.keep_probability

    def figures_of_update(self, number: int) -> dict[str, float]:
        """Return ``keep_probability`` of the update ``number`` for curves and checkpoints; nothing without guiding."""
        return {"keep_probability": self.keep_probability_of_update(number)} if self.policy else {}

    def ends_step(self, num_updates: int) -> bool:
        """Tell whether the update number ``num_updates`` was the last one of a step."""
        return 0 < num_updates <= self.num_updates and num_updates % self.updates_per_step == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticWarmupConfig(Checked):
    """The first updates: games of the initial net, from which only the critic learns."""

    decisions: Steps = 0
    """Decisions from which only critics learn; 0 = policies learn from the first update on. This time ends for all
    heads together, when one of them has had this many decisions. These updates count as others do (max_updates)."""
    batch_size: Annotated[int, Range(1, 65_536)] = 1024
    """Decisions per step of the critic during this time; later it makes one step per update."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillationConfig(Checked):
    """How closely a policy follows its teacher."""

    weight: Weight = 0.0
    """Weight in the loss of the distance above the bound; 0 = no teacher."""
    bound: Weight = 0.05
    """Mean KL(teacher || policy) over a batch, in nats, below which there is no loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyGradientConfig:
    """Terms of the gradient."""

    use_critic: bool = True
    """Subtract the estimate of a small critic net from the reward. ``false`` is the paper's plain formula: settings of
    the critic and of gae_lambda then have no effect."""
    gae_lambda: Share = 1.0
    """Lambda of generalized advantage estimation over the decisions of a seat in a kyoku. 1 = the advantage is the
    reward minus the critic's value; smaller values rely more on the critic's later values: less variance, more bias."""
    max_trace_ratio: Annotated[float, Range(0, 1_000_000)] = 1.0
    """With gae_lambda below 1, later decisions count with their importance ratio, truncated to this value (as in
    V-trace). Several calls that are possible at the same time count as one, with the product of their ratios. 0 = they
    count fully."""
    reward_unit: Positive = 5000.0
    """Rewards are divided by this, so that the points of a kyoku become numbers around 1."""
    max_ratio: Annotated[float, Range(0, 1_000_000)] = 2.0
    """Larger importance ratios are truncated to this value (biased, but lower variance); 0 = no limit."""
    reject_ratio: Annotated[float, Range(0, 1_000_000)] = 0.0
    """Decisions with a larger importance ratio give no gradient of the sampled action; they are counted, and the other
    terms of the loss (entropy, KL, critic) still have them. Above 1; 0 = none is rejected."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.reject_ratio and not self.reject_ratio > 1:
            raise ValueError(f"reject_ratio is {self.reject_ratio}: use a ratio above 1, such as 2, or 0 for none")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRegionConfig(Checked):
    """How close the policy stays to the initial net."""

    kl_coeff: Weight = 0.0
    """Weight in the loss of KL(policy || initial net), the mean over a batch in nats; 0 = no such term. Unlike RLlib's
    ``kl_coeff``, the reference is the initial net, not the previous policy. In the stages of oracle guiding it is the
    net with which their part began: that of ``oracle`` in ``oracle_decay``, the decayed one at keep probability 0."""
    kl_half_life: Steps = 0
    """Updates after which that weight is half of what it was, counted as for ``warmup_updates``; 0 = it is constant."""

    def kl_coeff_after(self, num_updates: int) -> float:
        """Return the weight of the divergence from the initial net after ``num_updates`` updates of the policy."""
        halvings = num_updates / self.kl_half_life if self.kl_half_life else 0.0
        return float(self.kl_coeff * 0.5**halvings)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyConfig:
    """Target and control of the policy's entropy, in nats."""

    target: Annotated[float, Range(0, math.log(34))] = 0.0
    """Target for the mean entropy of the discard net (at most 3.5, for 34 kinds); 0 = a share of the entropy of the
    initial net, which is measured in its first games. Two-output nets always have such a share."""
    first_share: Weight = 1.0
    """Target at the beginning, as a share of the initial entropy. Only without an absolute target."""
    last_share: Weight = 0.4
    """The same after ``anneal_updates``: with time the policy that plays in training becomes like the one that plays
    matches, which takes the most probable action."""
    anneal_updates: Steps = 0
    """Updates that move policies in which the share goes from ``first_share`` to ``last_share``, linearly; 0 = it stays
    at ``first_share``."""
    alpha: Weight = 0.01
    """Initial coefficient of the entropy term."""
    rate: Weight = 0.002
    """Step size of alpha (beta of the paper's equation 3). With ``rate`` and ``gain`` 0, alpha is constant."""
    gain: Weight = 0.1
    """Proportional term: alpha per nat that is missing now, in addition to the sum of equation 3. 0 = equation 3 alone,
    as in the paper, which oscillates."""
    max_alpha: Weight = 0.5
    """Alpha is limited to the range from 0 to this value."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.alpha > self.max_alpha:
            raise ValueError(f"alpha is {self.alpha}: use at most max_alpha, which is {self.max_alpha}")

    def target_of(self, kind: DecisionKind) -> float:
        """Return the absolute target of the net of a kind; 0 if it is a share of the initial entropy."""
        return self.target if kind.is_choice else 0.0

    def share_after(self, num_updates: int) -> float:
        """Return the target after ``num_updates`` updates as a share of the initial entropy."""
        progress = min(1.0, num_updates / self.anneal_updates) if self.anneal_updates else 0.0
        return self.first_share + progress * (self.last_share - self.first_share)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyControl:
    """Alpha of one net, and what it depends on."""

    target: float
    """Absolute; 0: a share of ``initial``."""
    alpha: float
    summed: float | None = None
    """The part of alpha that equation 3 moves; None before the first update, when it is all of alpha."""
    initial: float | None = None
    """Entropy of the initial policy; None before the first batch."""
    num_updates: int = 0
    """Updates that moved policies before the next one, those of earlier stages included: ``anneal_updates`` counts
    them."""

    def measured(self, entropy: float, num_updates: int | None = None) -> EntropyControl:
        """Return the control that knows the initial entropy; the first batch decides.

        ``num_updates``: those of the run, if they can be more than those of this policy.
        """
        initial = entropy if self.initial is None else self.initial
        return replace(self, initial=initial, num_updates=self.num_updates if num_updates is None else num_updates)

    def target_now(self, config: EntropyConfig) -> float | None:
        """Return the target of the next update; None if it is a share of an entropy that is not known yet."""
        if self.target or self.initial is None:
            return self.target or None
        return self.initial * config.share_after(self.num_updates)

    def after(self, entropy: float, config: EntropyConfig) -> EntropyControl:
        """Return the control after an update of the policy whose batch had the mean ``entropy``."""
        own = self.measured(entropy)
        target = own.target_now(config)
        assert target is not None
        summed = self.alpha if self.summed is None else self.summed
        extra = config.gain * (target - entropy)
        is_held = (extra < 0 and summed + extra <= 0) or (extra > 0 and summed + extra >= config.max_alpha)
        if not is_held:  # alpha is not beyond a bound to which the proportional term pushes it
            summed = next_alpha(summed, entropy, target, config)
        alpha = min(max(summed + extra, 0.0), config.max_alpha)
        return replace(own, alpha=alpha, summed=summed, num_updates=self.num_updates + 1)


def next_alpha(alpha: float, entropy: float, target: float, config: EntropyConfig) -> float:
    """Return alpha + beta * (target - entropy), kept in 0 … ``max_alpha`` (paper, equation 3)."""
    return min(max(alpha + config.rate * (target - entropy), 0.0), config.max_alpha)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """How the nets learn from decisions."""

    algorithm: Algorithm = "policy_gradient"
    """policy_gradient: equations 1 and 2 of the paper; the outputs of a net are logits. monte_carlo: the outputs are
    values of the actions in reward units, and learn the rewards of those that were taken (Deep Monte-Carlo); settings
    of the critic, the gradient (but for reward_unit), entropy and trust region then have no effect."""
    learning_rate: LearningRate = 3e-4
    """Learning rate of AdamW for the policies after the warm-up."""
    warmup_updates: Steps = 0
    """Updates in which the learning rate of the policies rises linearly, from the first one that moves a policy; 0 = no
    warm-up."""
    decay_updates: Steps = 0
    """Updates in which the learning rate of the policies falls linearly to ``last_rate_share`` of it: at the end, the
    noise of single batches averages out. They count as for ``warmup_updates``. 0 = it is constant."""
    last_rate_share: PositiveShare = 0.1
    """Learning rate after ``decay_updates``, as a share of ``learning_rate``."""
    critic_learning_rate: LearningRate = 1e-3
    """Learning rate of the critics."""
    weight_decay: Weight = 0.0
    """Weight decay of AdamW."""
    max_grad_norm: Positive = 1.0
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
    """How close the policy stays to the initial nets."""
    num_learners: Processes = 1
    """Devices that learn together, each from its part of every batch. Above 1 they are separate processes (Ray)."""
    threads: Threads = 1
    """Threads of torch per learner; 0 = torch's default."""
    precision: Precision = "auto"
    """fp32; bf16 (autocast); auto: bf16 where the hardware supports it."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.oracle_critic and not self.gradient.use_critic:
            raise ValueError(
                "oracle_critic is true with gradient.use_critic false: there is no critic; set oracle_critic to false, "
                "or use_critic to true"
            )

    @property
    def has_critic(self) -> bool:
        """Tell whether there are critics."""
        return self.gradient.use_critic and self.algorithm == "policy_gradient"

    def rate_share_after(self, num_updates: int) -> float:
        """Return the policies' learning rate after ``num_updates`` updates, as a share of ``learning_rate``."""
        rising = min(1.0, (num_updates + 1) / self.warmup_updates) if self.warmup_updates else 1.0
        progress = min(1.0, num_updates / self.decay_updates) if self.decay_updates else 0.0
        return rising * (1 + progress * (self.last_rate_share - 1))
