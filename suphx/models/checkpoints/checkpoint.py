"""Checkpoints: the weights of one net and what must be known to use them, in one safetensors file.

>>> save_checkpoint(path, net, CheckpointHeader(head="chow", planes=PlanesVersion.of(encoder.layout(CHOW)), ...))
>>> net, header = load_checkpoint(path, head=CHOW, planes=PlanesVersion.of(encoder.layout(CHOW)))
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from suphx.games.riichi import GAME_PROGRESS_VERSION, HEAD_NAMES, ORACLE, PlaneLayout, head_index
from suphx.models.checkpoints.tensor_file import Header, read_header, read_tensors, write_tensors
from suphx.models.computation import Calibration
from suphx.models.nets.net_config import NetConfig, RewardPredictorConfig
from suphx.models.nets.policy import PolicyNet
from suphx.models.nets.reward_predictor import Points, RewardPredictor

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


@dataclass(frozen=True, slots=True)
class PlanesVersion:
    """Which planes a net sees."""

    name: str
    """Of the layout."""
    version: int
    """Of the layout: goes up whenever a plane changes its meaning or place."""
    num_planes: int
    """Planes of a row."""

    @classmethod
    def of(cls, layout: PlaneLayout) -> Self:
        """Return what a checkpoint keeps of ``layout``."""
        return cls(layout.name, layout.version, layout.num_planes)

    def __str__(self) -> str:
        return f"{self.name} version {self.version} ({self.num_planes})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointHeader:
    """What stands beside the weights."""

    head: str
    """discard, riichi, chow, pong or kong."""
    planes: PlanesVersion
    rules_version: str
    """Rules that the training games followed."""
    net: NetConfig
    step: int
    """Optimizer steps so far."""
    metrics: dict[str, float | None] = field(default_factory=dict)
    """Figures on validation samples."""
    calibration: Calibration | None = None
    """How its probabilities are corrected; None if that was not fitted."""
    oracle_planes: PlanesVersion | None = None
    """Which planes of hidden things it sees; None for a net that plays fairly."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Anything that JSON can hold: the resolved recipe, digests, the git commit."""


def oracle_version(config: NetConfig) -> PlanesVersion | None:
    """Return which oracle planes a net of ``config`` sees here: what belongs into its header."""
    return PlanesVersion.of(ORACLE) if config.num_oracle_planes else None


def save_checkpoint(path: Path, weights: PolicyNet | dict[str, Tensor], header: CheckpointHeader) -> None:
    """Write a net, or its state dict, as ``path``; on failure the old file stays and OSError says what to do."""
    tensors = weights if isinstance(weights, dict) else weights.state_dict()
    write_tensors(path, tensors, {"format_version": FORMAT_VERSION, "kind": "checkpoint", **asdict(header)})


def load_header(path: Path) -> CheckpointHeader:
    """Return the header of the checkpoint ``path``; raises FileNotFoundError, or ValueError if it is not one."""
    return _header(path, read_header(path))


def load_checkpoint(
    path: Path, *, head: int, planes: PlanesVersion, rules_version: str | None = None
) -> tuple[PolicyNet, CheckpointHeader]:
    """Return the net of the checkpoint ``path``, on the CPU and in evaluation mode, and its header.

    ``head``, ``planes`` and, if given, ``rules_version`` are what this run uses. Raises ValueError that names every
    difference from the checkpoint, and FileNotFoundError if there is no such file.
    """
    tensors, raw = read_tensors(path)
    header = _header(path, raw)
    _check_same(path, header, head, planes, rules_version)
    _check_weights(path, tensors, head, planes.num_planes, header.net)
    net = PolicyNet(head, planes.num_planes, header.net)
    net.load_state_dict(tensors)
    return net.eval(), header


def _check_weights(path: Path, tensors: dict[str, Tensor], head: int, num_planes: int, config: NetConfig) -> None:
    """Compare the tensors with those of the header's net before that is built: a damaged one could be of any size."""
    fits = config.resolved().num_blocks < len(tensors)
    if fits:
        with torch.device("meta"):
            expected = PolicyNet(head, num_planes, config).state_dict()
        fits = {name: _form(tensor) for name, tensor in tensors.items()} == {
            name: _form(tensor) for name, tensor in expected.items()
        }
    if not fits:
        raise ValueError(f"{path}: the weights do not fit the net of its own header: train again")
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        raise ValueError(f"{path} has weights that are not finite numbers: restore it or train again")


def _form(tensor: Tensor) -> tuple[torch.Size, torch.dtype]:
    return tensor.shape, tensor.dtype


def _header(path: Path, raw: Header) -> CheckpointHeader:
    if raw.get("kind") != "checkpoint" or raw.get("format_version") != FORMAT_VERSION:
        given = f"{raw.get('kind')} of format {raw.get('format_version')}"
        raise ValueError(f"{path} is a {given}; this program reads checkpoints of format {FORMAT_VERSION}: train again")
    fields = {key: value for key, value in raw.items() if key not in ("kind", "format_version")}
    try:
        fields["planes"] = PlanesVersion(**fields["planes"])
        fields["net"] = NetConfig(**fields["net"])
        if fields.get("oracle_planes") is not None:
            fields["oracle_planes"] = PlanesVersion(**fields["oracle_planes"])
        if fields.get("calibration") is not None:
            fields["calibration"] = Calibration(**fields["calibration"])
        header = CheckpointHeader(**fields)
        head_index(header.head)
        _check_types(header)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} has a damaged header ({error}): restore it or train again") from error
    return header


def _check_types(header: CheckpointHeader) -> None:
    for name, kind in (("rules_version", str), ("step", int), ("metrics", dict), ("extra", dict)):
        if not isinstance(getattr(header, name), kind):
            raise TypeError(f"{name} is {getattr(header, name)!r:.40}")


def _check_same(
    path: Path, header: CheckpointHeader, head: int, planes: PlanesVersion, rules_version: str | None
) -> None:
    differences = []
    if header.head != HEAD_NAMES[head]:
        differences.append(f"it is a {header.head} net, this run needs a {HEAD_NAMES[head]} net")
    if header.planes != planes:
        differences.append(f"this checkpoint was trained on planes {header.planes}, this run uses {planes}")
    expected = oracle_version(header.net)
    if header.oracle_planes != expected:
        differences.append(f"it was trained on the oracle planes {header.oracle_planes}, this program has {expected}")
    if rules_version is not None and header.rules_version != rules_version:
        differences.append(f"it was trained under rules {header.rules_version!r}, this run plays {rules_version!r}")
    if differences:
        raise ValueError(f"{path} does not fit: {'; '.join(differences)}: choose another checkpoint or train again")
