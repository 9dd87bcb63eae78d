"""The checkpoint of a reward predictor: its weights and what must be known to use them, in one safetensors file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from suphx.games.riichi import GAME_PROGRESS_VERSION
from suphx.models.checkpoints.tensor_file import read_tensors, write_tensors
from suphx.models.nets.reward_predictor import Points, RewardPredictor
from suphx.models.nets.reward_predictor_config import RewardPredictorConfig

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
    """Optimizer steps so far."""
    game_progress_version: int = GAME_PROGRESS_VERSION
    """Of the lines that it reads (features/game_progress.py)."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Figures on validation games."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Anything that JSON can hold."""


def save_reward_predictor(path: Path, state: dict[str, Tensor], header: RewardHeader) -> None:
    """Write a state dict as ``path``; on failure the old file stays and OSError says what to do."""
    write_tensors(path, state, {"format_version": FORMAT_VERSION, "kind": "reward predictor", **asdict(header)})


def load_reward_predictor(path: Path, *, rules_version: str | None = None) -> tuple[RewardPredictor, RewardHeader]:
    """Return the predictor of the checkpoint ``path``, in evaluation mode, and its header.

    ``rules_version``: rules of the games that it is for; None = any. Raises FileNotFoundError if there is no file,
    ValueError if it is something else, damaged, reads other lines, or has learned other rules.
    """
    tensors, raw = read_tensors(path)
    if raw.get("kind") != "reward predictor" or raw.get("format_version") != FORMAT_VERSION:
        given = f"{raw.get('kind')} of format {raw.get('format_version')}"
        raise ValueError(f"{path} is a {given}; this program reads reward predictors of format {FORMAT_VERSION}")
    fields = {key: value for key, value in raw.items() if key not in ("kind", "format_version")}
    try:
        net = RewardPredictorConfig(**fields.pop("net"))
        header = RewardHeader(**fields | {"net": net, "points": tuple(fields["points"])})
        predictor = RewardPredictor(header.net, header.points)
        fits = header.game_progress_version == GAME_PROGRESS_VERSION
        if fits:
            predictor.load_state_dict(tensors)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]  # torch lists every tensor, one a line
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
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        raise ValueError(f"{path} has weights that are not finite numbers: restore it or train again")
    return predictor.eval(), header
