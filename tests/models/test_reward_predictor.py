from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.game_progress import NUM_GAME_PROGRESS_INPUTS
from suphx.models.net_config import RewardPredictorConfig
from suphx.models.recurrent_predictor import predict_next
from suphx.models.reward_predictor import Points, RewardPredictor, weights_of
from tests.models import gru_twin
from tests.models.random_nets import small_predictor


def random_lines(games: int, length: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(games, length, NUM_GAME_PROGRESS_INPUTS)).astype(np.float32)


def test_the_net_and_the_kernel_give_what_the_formulas_say() -> None:
    predictor, lines = small_predictor(), random_lines(3, 9)
    state = {name: tensor.numpy() for name, tensor in predictor.state_dict().items()}
    with torch.no_grad():
        by_net = predictor(torch.from_numpy(lines)).numpy()
    weights = weights_of(predictor)
    for game, expected in enumerate(by_net):
        twin = gru_twin.predictions(state, lines[game].astype(np.float64), predictor.mean, predictor.spread)
        units = np.zeros((2, 12), np.float32)
        by_kernel = [predict_next(weights, line, units) for line in lines[game]]
        np.testing.assert_allclose(expected, twin, atol=2e-4)
        np.testing.assert_allclose(by_kernel, twin, atol=2e-4)


def test_later_kyoku_change_no_earlier_prediction() -> None:
    predictor, lines = small_predictor(), torch.from_numpy(random_lines(2, 9))
    with torch.no_grad():
        torch.testing.assert_close(predictor(lines)[:, :4], predictor(lines[:, :4]))


def test_an_untrained_predictor_expects_the_mean_of_all_places() -> None:
    predictor = RewardPredictor(RewardPredictorConfig(), (90.0, 45.0, 0.0, -135.0))
    with torch.no_grad():
        assert predictor(torch.from_numpy(random_lines(2, 3))).unique().tolist() == [0.0]


@pytest.mark.parametrize(
    ("points", "said"),
    [((1.0, 1.0, 1.0, 1.0), "nothing to predict"), ((1.0, float("nan"), 0.0, 0.0), "give four numbers")],
)
def test_points_that_cannot_be_predicted_are_refused(points: Points, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        RewardPredictor(RewardPredictorConfig(), points)
