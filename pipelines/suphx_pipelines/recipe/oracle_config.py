"""The settings of the stages of oracle guiding (paper, section 3.3); all else is as under [reinforcement]."""

from __future__ import annotations

from dataclasses import dataclass

from suphx.training.reinforcement.learner_config import DistillationConfig
from suphx.training.reinforcement.oracle_guiding import OracleConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleStageConfig:
    """Self-play of nets that see everything (keep probability 1)."""

    max_updates: int = 0
    """Updates of self-play at keep probability 1; 0 = no oracle guiding."""

    def __post_init__(self) -> None:
        if self.max_updates < 0:
            raise ValueError(f"max_updates is {self.max_updates}: use 0 (no oracle guiding) or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleDecayConfig:
    """Hidden tiles disappear step by step; after that the nets continue without them."""

    steps: int = 0
    """Number of steps in which the keep probability falls from 1 to 0. The last one, at 0, already learns as
    ``continued_updates`` do. 0 = it stays 1, and the nets of the oracle stage are the last ones."""
    ratio: float = 0.0
    """Each step multiplies the keep probability by this, the last sets it to 0; 0 = equal steps, as in the paper."""
    updates_per_step: int = 100
    """Updates at each keep probability, a multiple of reinforcement.weight_sync_interval."""
    continued_updates: int = 100
    """Updates after the last step, in addition to those of that step: all of them without oracle planes."""
    learning_rate_share: float = 0.1
    """Learning rate from the first update at keep probability 0 on, as a share of the usual one (the paper: a
    tenth)."""
    reject_ratio: float = 2.0
    """From that update on, decisions with a larger importance ratio give no gradient of the sampled action; they are
    counted (the paper gives no value)."""

    def __post_init__(self) -> None:
        OracleConfig(steps=self.steps, ratio=self.ratio, updates_per_step=self.updates_per_step)
        if self.continued_updates < 1:
            raise ValueError(f"continued_updates is {self.continued_updates}: use at least 1")
        if not 0 < self.learning_rate_share <= 1:
            raise ValueError(f"learning_rate_share is {self.learning_rate_share}: use a share above 0, such as 0.1")
        if not self.reject_ratio > 1:
            raise ValueError(f"reject_ratio is {self.reject_ratio}: use a ratio above 1, such as 2")

    @property
    def falling_updates(self) -> int:
        """Updates at keep probabilities between 1 and 0: all steps but the last."""
        return max(0, self.steps - 1) * self.updates_per_step

    @property
    def num_updates(self) -> int:
        """Updates of the whole stage."""
        return self.steps * self.updates_per_step + self.continued_updates


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleDistillationConfig:
    """The paper's second method: nets without hidden tiles stay close to those of the oracle stage while they learn."""

    max_updates: int = 0
    """Updates of self-play with the oracle as teacher; 0 = no distillation."""
    weight: float = 1.0
    """Weight in the loss of the distance above the bound (suphx/training/reinforcement/policy_gradient.py); 0 = no
    teacher."""
    bound: float = 0.05
    """Mean KL(oracle || policy) in nats below which there is no loss."""

    def __post_init__(self) -> None:
        DistillationConfig(weight=self.weight, bound=self.bound)
        if self.max_updates < 0:
            raise ValueError(f"max_updates is {self.max_updates}: use 0 (no distillation) or more")
