"""A reward predictor with random weights everywhere, its last layer included, and what self-play takes of it."""

from __future__ import annotations

import torch

from suphx.models.nets.net_config import RewardPredictorConfig
from suphx.models.nets.reward_predictor import Points, RewardPredictor, weights_of
from suphx.training.reward.global_reward import Prediction

EXPERT_8_DAN: Points = (75.0, 30.0, 0.0, -150.0)


def small_predictor(seed: int = 0, points: Points = EXPERT_8_DAN) -> RewardPredictor:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        predictor = RewardPredictor(RewardPredictorConfig(gru_units=12, hidden_units=7), points)
        torch.nn.init.normal_(predictor.output.weight)
    return predictor.eval()


PREDICTOR = small_predictor()
PREDICTION = Prediction(weights=weights_of(PREDICTOR), points=EXPERT_8_DAN, exchange_rate=200.0, last_kyoku="predicted")
