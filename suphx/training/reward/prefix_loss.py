"""The loss of the reward predictor (paper, equation 4): what it says after each kyoku against how the game ended."""

from __future__ import annotations

import torch
from torch import Tensor


def prefix_losses(predictions: Tensor, lengths: Tensor, rewards: Tensor) -> Tensor:
    """Return [n]: the mean squared error of a game's predictions, all its prefixes counting alike.

    ``predictions`` [n, t], of which the first ``lengths`` [n] count; ``rewards`` [n]: what each was worth in the end.
    Equation 4 is the mean of the result over games.
    """
    errors = (predictions - rewards.unsqueeze(1)).square()
    counts = torch.arange(predictions.shape[1], device=predictions.device) < lengths.unsqueeze(1)
    return torch.where(counts, errors, 0.0).sum(dim=1) / lengths
