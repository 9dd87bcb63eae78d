"""Which reward self-play learns from, and how predictions become rewards: the settings of reward.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

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
