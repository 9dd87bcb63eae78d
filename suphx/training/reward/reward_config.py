"""Which reward self-play learns from, and how predictions become rewards: the settings of reward.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from suphx.models.computation import DeviceName


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardLearningConfig:
    """How the predictor is trained. Training ends at the first of its limits."""

    batch_games: int = 64
    """Games per optimizer step; each is seen from its four seats."""
    learning_rate: float = 2e-3
    """Peak learning rate of AdamW, after a linear warm-up and before half a cosine."""
    final_learning_rate_factor: float = 0.01
    """Learning rate at the end, as a share of the peak."""
    warmup_steps: int = 50
    """Maximum steps of linear warm-up, which takes at most a tenth of the training."""
    weight_decay: float = 0.1
    """Weight decay of AdamW for matrices; biases have none."""
    max_grad_norm: float = 1.0
    """Maximum norm of the gradient; 0 = no limit."""
    max_epochs: int = 20
    """Stop after this many passes over the training games."""
    max_minutes: float = 0.0
    """Stop after this many minutes; 0 = no limit. The result then depends on the machine's speed and cannot be
    reproduced exactly."""
    patience: int = 6
    """Stop after this many epochs in a row without a lower validation loss; 0 = never."""
    save_seconds: float = 60.0
    """The state is saved at the end of an epoch if the last save is this long ago, and at the end of the training."""
    threads: int = 0
    """Threads of torch; 0 = torch's default."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""
    seed: int = 1
    """Seed of the initial weights and of the order of games."""

    def __post_init__(self) -> None:
        for name in ("batch_games", "max_epochs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least 1")
        limits = ("max_minutes", "patience", "save_seconds", "threads", "seed")
        for name in ("warmup_steps", "weight_decay", "max_grad_norm", *limits):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use 0 or more")
        if not 0 < self.learning_rate < 1:
            raise ValueError(f"learning_rate is {self.learning_rate}: use a number between 0 and 1, such as 0.002")
        if not 0 <= self.final_learning_rate_factor <= 1:
            raise ValueError(f"final_learning_rate_factor is {self.final_learning_rate_factor}: use 0 to 1")


FREE_KEYS = ("save_seconds", "threads", "device")
"""What may differ when a training goes on: it changes how fast it is, not what it gives, up to rounding."""


RewardName = Literal["round_score", "global_prediction"]

LastKyoku = Literal["predicted", "paid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalRewardConfig:
    """How differences of predictions become rewards."""

    exchange_rate: float = 200.0
    """Game points per point of the predicted reward, so that rewards are about as large as round scores and the other
    settings still fit. 200 fits the placement points of a high dan (75, 30, 0, -150)."""
    last_kyoku: LastKyoku = "predicted"
    """Value after the last kyoku. predicted: the prediction, as after any other kyoku (the paper). paid: the actual
    reward of the placement."""
    predictor: str = ""
    """Path of a ``reward_predictor.safetensors``, which predicts the reward that it was trained for, whatever
    ``reward_predictor.target`` is; empty: the one that this run trains (stage reward_predictor)."""

    def __post_init__(self) -> None:
        if not self.exchange_rate > 0:
            raise ValueError(f"exchange_rate is {self.exchange_rate}: use a positive number, such as 200")
        if self.last_kyoku not in get_args(LastKyoku):
            raise ValueError(f"last_kyoku is {self.last_kyoku!r}: use one of {', '.join(get_args(LastKyoku))}")
