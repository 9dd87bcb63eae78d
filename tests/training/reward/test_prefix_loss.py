from __future__ import annotations

import numpy as np
import torch

from suphx.training.reward.prefix_loss import prefix_losses


def twin(predictions: list[list[float]], rewards: list[float]) -> float:
    """Equation 4 word by word: mean over games of the mean over their prefixes of the squared error."""
    by_game = []
    for game, reward in zip(predictions, rewards, strict=True):
        by_game.append(sum((value - reward) ** 2 for value in game) / len(game))
    return sum(by_game) / len(by_game)


def padded(games: list[list[float]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return [n, t], nan behind the end of each game, and the lengths."""
    values = torch.full((len(games), max(map(len, games))), torch.nan)
    for row, game in zip(values, games, strict=True):
        row[: len(game)] = torch.tensor(game)
    return values, torch.tensor([len(game) for game in games])


def test_the_loss_is_equation_4() -> None:
    rng = np.random.default_rng(3)
    games = [rng.normal(size=length).tolist() for length in (11, 2, 7, 25)]
    rewards = rng.normal(size=4).tolist()
    predictions, lengths = padded(games)
    loss = prefix_losses(predictions, lengths, torch.tensor(rewards)).mean()
    np.testing.assert_allclose(float(loss), twin(games, rewards), rtol=1e-5)


def test_in_a_game_of_one_prefix_it_is_one_squared_error() -> None:
    predictions, lengths = padded([[3.0]])
    assert prefix_losses(predictions, lengths, torch.tensor([5.0])).tolist() == [4.0]


def test_a_long_game_counts_as_much_as_a_short_one() -> None:
    predictions, lengths = padded([[1.0], [3.0] * 20])
    assert float(prefix_losses(predictions, lengths, torch.zeros(2)).mean()) == (1 + 9) / 2


def test_what_stands_behind_the_end_of_a_game_has_no_gradient() -> None:
    predictions = torch.randn(2, 5, requires_grad=True)
    torch.autograd.backward(prefix_losses(predictions, torch.tensor([5, 2]), torch.zeros(2)).sum())
    assert predictions.grad is not None
    assert predictions.grad[1, 2:].tolist() == [0.0, 0.0, 0.0]
    assert predictions.grad[1, :2].abs().min() > 0
