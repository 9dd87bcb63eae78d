"""The reward predictor: what a seat's whole game will be worth, told after each of its kyoku (paper, Figure 7).

Two GRU layers and two fully connected layers; the paper gives no sizes. ``recurrent_predictor.py`` computes the same
without torch, a kyoku at a time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from torch import Tensor, nn

from suphx.games.riichi.features.game_progress import GAME_PROGRESS_VERSION, NUM_GAME_PROGRESS_INPUTS
from suphx.models.net_config import RewardPredictorConfig
from suphx.models.recurrent_predictor import NUM_LAYERS, PredictorWeights, predictor_weights
from suphx.models.tensor_file import check_finite, fields_of, read_tensors, write_tensors
from suphx.printable_text import shortened

Points: TypeAlias = tuple[float, float, float, float]
"""What first to fourth place are worth."""


class RewardPredictor(nn.Module):
    """Lines of a game (features/game_progress.py), float32 [n, t, NUM_GAME_PROGRESS_INPUTS], to what it will be worth,
    [n, t].
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


FORMAT_VERSION = 1
REWARD_PREDICTOR_FILE = "reward_predictor.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardHeader:
    """What stands beside the weights."""

    net: RewardPredictorConfig
    points: Points
    """What first to fourth place are worth."""
    rules_version: str
    """Rules that the training games followed."""
    step: int
    game_progress_version: int = GAME_PROGRESS_VERSION
    """Of the lines that it reads (features/game_progress.py)."""
    metrics: dict[str, float] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    """Anything that JSON can hold."""


def save_reward_predictor(path: Path, state: dict[str, Tensor], header: RewardHeader) -> None:
    """Write a state dict as ``path``; on failure the old file stays and OSError says what to do."""
    write_tensors(path, state, {"format_version": FORMAT_VERSION, "kind": "reward predictor", **asdict(header)})


def load_reward_predictor(path: Path, *, rules_version: str | None = None) -> tuple[RewardPredictor, RewardHeader]:
    """Return the predictor of the checkpoint ``path``, in evaluation mode, and its header; ``rules_version``: None =
    any.

    FileNotFoundError if there is no file, ValueError if it is damaged, reads other lines, or has learned other rules.
    """
    tensors, raw = read_tensors(path)
    fields = fields_of(path, raw, "reward predictor", FORMAT_VERSION)
    try:
        net = RewardPredictorConfig(**fields.pop("net"))
        header = RewardHeader(**fields | {"net": net, "points": tuple(fields["points"])})
        predictor = RewardPredictor(header.net, header.points)
        fits = header.game_progress_version == GAME_PROGRESS_VERSION
        if fits:
            predictor.load_state_dict(tensors)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = shortened(str(error), 200)  # torch lists every tensor, one a line
        raise ValueError(f"{path} is damaged ({reason}): restore it or train again") from error
    if not fits:
        raise ValueError(
            f"{path} reads lines of version {header.game_progress_version}, this program makes version "
            f"{GAME_PROGRESS_VERSION}: train again"
        )
    if rules_version is not None and header.rules_version != rules_version:
        raise ValueError(
            f"{path} was trained under rules {header.rules_version!r}, this run plays {rules_version!r}: train again"
        )
    check_finite(path, tensors)
    return predictor.eval(), header
