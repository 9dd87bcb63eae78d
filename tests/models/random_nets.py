"""Nets and rows of random numbers, and what a net answers by itself."""

from __future__ import annotations

import torch
from torch import nn

from suphx.games.mahjong.planes import observation_bytes
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.models.net_config import ChoiceHead, Grid, NetConfig, RewardPredictorConfig
from suphx.models.policy import PolicyNet
from suphx.models.reward_predictor import Points, RewardPredictor, weights_of
from suphx.training.reward import Prediction

EXPERT_8_DAN: Points = (75.0, 30.0, 0.0, -150.0)


def small_predictor(seed: int = 0, points: Points = EXPERT_8_DAN) -> RewardPredictor:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        predictor = RewardPredictor(RewardPredictorConfig(gru_units=12, hidden_units=7), points)
        torch.nn.init.normal_(predictor.output.weight)
    return predictor.eval()


PREDICTOR = small_predictor()
PREDICTION = Prediction(weights=weights_of(PREDICTOR), points=EXPERT_8_DAN, exchange_rate=200.0, last_kyoku="predicted")


NUM_PLANES = 9


def random_net(
    head: int = DISCARD_HEAD, *, size: int = 32, num_planes: int = NUM_PLANES, grid: Grid = "34x1"
) -> PolicyNet:
    """Return a net in evaluation mode; on a grid of 4x9 all its outputs come from fully connected layers."""
    choice_head: ChoiceHead = "connected" if grid == "4x9" else "columns"
    config = NetConfig(size="tiny", channels=size, grid=grid, choice_head=choice_head)
    net = PolicyNet(DECISIONS[head], num_planes, config)
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.1)
    return net.eval()


def random_rows(num_rows: int, num_planes: int = NUM_PLANES) -> torch.Tensor:
    return torch.randint(0, 256, (num_rows, observation_bytes(num_planes)), dtype=torch.uint8)


@torch.inference_mode()
def plain_logits(net: PolicyNet, rows: torch.Tensor) -> torch.Tensor:
    logits: torch.Tensor = net(rows)
    return logits
