"""The reward predictor: what a seat's whole game will be worth, told after each of its kyoku (paper, Figure 7).

Two GRU layers and two fully connected layers; the paper gives no sizes. ``recurrent_predictor.py`` computes the same
without torch, a kyoku at a time.
"""

from __future__ import annotations

from typing import TypeAlias, cast

import numpy as np
from torch import Tensor, nn

from suphx.games.riichi import NUM_GAME_PROGRESS_INPUTS
from suphx.models.nets.net_config import RewardPredictorConfig
from suphx.models.nets.recurrent_predictor import NUM_LAYERS, PredictorWeights, predictor_weights

Points: TypeAlias = tuple[float, float, float, float]
"""What first to fourth place are worth."""


class RewardPredictor(nn.Module):
    """Lines of a game (features/game_progress.py) to what it will be worth.

    >>> predictor = RewardPredictor(RewardPredictorConfig(), (90, 45, 0, -135))
    >>> predictor(lines).shape  # float32 [512, 11, NUM_GAME_PROGRESS_INPUTS]: 512 seats, 10 kyoku
    torch.Size([512, 11])
    """

    def __init__(self, config: RewardPredictorConfig, points: Points) -> None:
        """``points``: see ``point_scale``, which raises ValueError for what cannot be predicted."""
        super().__init__()
        self.config, self.points = config, points
        self.mean, self.spread = point_scale(points)
        self.gru = nn.GRU(NUM_GAME_PROGRESS_INPUTS, config.gru_units, num_layers=NUM_LAYERS, batch_first=True)
        self.hidden = nn.Linear(config.gru_units, config.hidden_units)
        self.output = nn.Linear(config.hidden_units, 1)
        nn.init.zeros_(self.output.weight)  # it begins by expecting the mean of all places
        nn.init.zeros_(self.output.bias)

    def forward(self, lines: Tensor) -> Tensor:
        """Return [n, t], in units of ``points``: the prediction after each of t lines; later ones change nothing."""
        units, _ = self.gru(lines)
        predictions = self.output(self.hidden(units).relu()).squeeze(2)
        return cast(Tensor, self.mean + self.spread * predictions)


def weights_of(predictor: RewardPredictor) -> PredictorWeights:
    """Return the weights of ``predictor`` for ``recurrent_predictor.predict_next``."""
    state = {name: tensor.detach().cpu().float().numpy() for name, tensor in predictor.state_dict().items()}
    return predictor_weights(state, predictor.mean, predictor.spread)


def point_scale(points: Points) -> tuple[float, float]:
    """Return mean and standard deviation of four ``points``; ValueError unless they are four numbers, not all equal."""
    if len(points) != 4 or not np.isfinite(points).all():
        raise ValueError(f"points are {list(points)}: give four numbers, for first to fourth place")
    spread = float(np.std(points))
    if spread == 0:
        raise ValueError(f"points are {list(points)}: all places are worth the same, there is nothing to predict")
    return float(np.mean(points)), spread
