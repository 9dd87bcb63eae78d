"""Which reward self-play learns from, and how predictions become rewards: the settings of reward.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from suphx.models.computation import DeviceName
from suphx.number_range import (
    LearningRate,
    Minutes,
    Positive,
    Range,
    Seconds,
    Seed,
    Share,
    Steps,
    Threads,
    Weight,
    check_ranges,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardLearningConfig:
    """How the predictor is trained. Training ends at the first of its limits."""

    batch_games: Annotated[int, Range(1, 65_536)] = 64
    """Games per optimizer step; each is seen from its four seats."""
    learning_rate: LearningRate = 2e-3
    """Peak learning rate of AdamW, after a linear warm-up and before half a cosine."""
    final_learning_rate_factor: Share = 0.01
    """Learning rate at the end, as a share of the peak."""
    warmup_steps: Steps = 50
    """Maximum steps of linear warm-up, which takes at most a tenth of the training."""
    weight_decay: Weight = 0.1
    """Weight decay of AdamW for matrices; biases have none."""
    max_grad_norm: Annotated[float, Range(0, 1_000_000)] = 1.0
    """Maximum norm of the gradient; 0 = no limit."""
    max_epochs: Annotated[int, Range(1, 1_000_000)] = 20
    """Stop after this many passes over the training games."""
    max_minutes: Minutes = 0.0
    """Stop after this many minutes; 0 = no limit. The result then depends on the machine's speed and cannot be
    reproduced exactly."""
    patience: Annotated[int, Range(0, 1_000_000)] = 6
    """Stop after this many epochs in a row without a lower validation loss; 0 = never."""
    save_seconds: Seconds = 60.0
    """The state is saved at the end of an epoch if the last save is this long ago, and at the end of the training."""
    threads: Threads = 0
    """Threads of torch; 0 = torch's default."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""
    seed: Seed = 1
    """Seed of the initial weights and of the order of games."""

    def __post_init__(self) -> None:
        check_ranges(self)


FREE_KEYS = ("save_seconds", "threads", "device")
"""What may differ when a training goes on: it changes how fast it is, not what it gives, up to rounding."""


RewardName = Literal["round_score", "global_prediction"]

LastKyoku = Literal["predicted", "paid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalRewardConfig:
    """How differences of predictions become rewards."""

    exchange_rate: Positive = 200.0
    """Game points per point of the predicted reward, so that rewards are about as large as round scores and the other
    settings still fit. 200 fits the placement points of a high dan (75, 30, 0, -150)."""
    last_kyoku: LastKyoku = "predicted"
    """Value after the last kyoku. predicted: the prediction, as after any other kyoku (the paper). paid: the actual
    reward of the placement."""
    predictor: str = ""
    """Path of a ``reward_predictor.safetensors``, which predicts the reward that it was trained for, whatever
    ``reward_predictor.target`` is; empty: the one that this run trains (stage reward_predictor)."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.last_kyoku not in get_args(LastKyoku):
            raise ValueError(f"last_kyoku is {self.last_kyoku!r}: use one of {', '.join(get_args(LastKyoku))}")
