"""Five policy nets that play together, and the folder of checkpoints that they come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from suphx.features.encoder import Encoder
from suphx.features.head import HEAD_NAMES
from suphx.models.calibration import Calibration
from suphx.models.checkpoint import PlanesVersion, checkpoint_name, load_checkpoint
from suphx.models.policy import PolicyNet


@dataclass(frozen=True, slots=True)
class Player:
    """One net and its calibration for each head, in the order of head.py."""

    nets: tuple[PolicyNet, ...]
    calibrations: tuple[Calibration, ...]


def load_player(folder: Path, encoder: Encoder, *, is_weak: bool = False) -> Player:
    """Return the nets in ``folder``, which must see the planes of ``encoder``; ``is_weak``: those of an early step.

    Raises ValueError if a checkpoint is missing or does not fit.
    """
    nets, calibrations = [], []
    for head, name in enumerate(HEAD_NAMES):
        path = find_checkpoint(folder, name, is_weak=is_weak)
        net, header = load_checkpoint(path, head=head, planes=PlanesVersion.of(encoder.layout(head)))
        nets.append(net)
        calibrations.append(header.calibration or Calibration())
    return Player(tuple(nets), tuple(calibrations))


def find_checkpoint(folder: Path, head: str, *, is_weak: bool) -> Path:
    """Return the path of a head's checkpoint, in ``folder`` or in a folder of the head's name; ValueError if none."""
    name = checkpoint_name(head, is_weak=is_weak)
    for path in (folder / name, folder / head / name):
        if path.is_file():
            return path
    raise ValueError(f"{folder} has no checkpoint of the {head} net: expected {name} or {head}/{name} in it")
