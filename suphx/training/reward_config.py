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
    """Points of a game for each point of the prediction's target: rewards are about as large as round scores then, and
    nothing else need be set anew. 200 fits placement points of a high dan (75, 30, 0, -150)."""
    last_kyoku: LastKyoku = "predicted"
    """Phi after the last kyoku: predicted as after any other (the paper), or what the place is really paid."""
    predictor: str = ""
    """Path of a ``reward_predictor.safetensors``; empty: the one that this run learns (stage reward_predictor)."""

    def __post_init__(self) -> None:
        if not self.exchange_rate > 0:
            raise ValueError(f"exchange_rate is {self.exchange_rate}: use a positive number, such as 200")
        if self.last_kyoku not in get_args(LastKyoku):
            raise ValueError(f"last_kyoku is {self.last_kyoku!r}: use one of {', '.join(get_args(LastKyoku))}")
