"""The learner of one stage as the beginning of the next: its critics, optimizers and entropy control are carried over.

The policies are those that the next stage begins with. If these have lost their oracle planes, so have the moments that
the optimizer remembers of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from suphx.models.checkpoints.tensor_file import read_tensors
from suphx.training.reinforcement.update_control import new_stage
from suphx_platform.parts.parameter_server import PolicyVersion, Weights
from suphx_platform.parts.replay_buffer import BufferCounts

if TYPE_CHECKING:
    from suphx_platform.backend.backend import BackendState, LearnerState


def load_learner_state(path: Path) -> LearnerState:
    """Return the learner's part of a state of self-play; ValueError if ``path`` is none."""
    tensors, header = read_tensors(path)
    if "learner" not in header:
        raise ValueError(f"{path} is not a state of self-play: delete the stage's folder to run the stage again")
    prefix = "learner/"
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}, header["learner"]


def first_state(carried: LearnerState, start: Weights) -> BackendState:
    """Return the state of a backend that begins with the policies ``start`` and all else that ``carried`` has.

    ``start``: weights by head name. Updates are counted from 0: learning rates warm up and decay as in a first stage.
    """
    from suphx_platform.backend.backend import BackendState

    tensors, values = carried
    own = {name: tensor for name, tensor in tensors.items() if not name.startswith("gradient.")}
    for head, weights in start.items():
        own |= _with_policy(tensors, head, weights)
    first = PolicyVersion(0, start)
    return BackendState(
        learner=(own, new_stage(values)), latest=first, older=[first], counts=BufferCounts(), next_simulator=0
    )


def _with_policy(tensors: Mapping[str, Tensor], head: str, weights: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    """Return the tensors of a head's policy and of its optimizer that change."""
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        found[f"net.{head}.policy.{name}"] = torch.from_numpy(np.array(weight))
        for slot, value in tensors.items():
            if slot.startswith(f"optimizer.{head}.policy.{name}/") and value.ndim == weight.ndim > 1:
                found[slot] = value[:, : weight.shape[1]].clone()
    return found
