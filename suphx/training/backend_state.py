"""Trainers whose work a backend does, and the saved state of one: tensors and plain values of a state file.

It has the learner's nets and optimizers, the versions of the weights and all counters; in one process or over Ray in
lockstep also every table, the replay buffer, and decisions that wait for room in it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suphx.experience.decisions import Decisions
from suphx.models.tensor_file import read_tensors
from suphx.selfplay.backend import Backend, BackendState, LearnerState
from suphx.selfplay.buffer import BufferCounts
from suphx.selfplay.weights import PolicyVersion, Weights
from suphx.training.learner import new_stage
from suphx.training.trainer import P, R, Trainer, TrainingProgress
from suphx.training.training_state import below, damage, read_state, write_state


class BackendTrainer(Trainer[P, R]):
    """A trainer whose games and updates are made by a backend, for as long as the loop runs."""

    state_path: Path
    make_backend: Callable[[BackendState | None], Backend]
    """Makes a backend that begins, or continues from a state."""
    _backend: Backend | None = None
    _state: BackendState | None = None

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return all that must be the same for the training to resume, as JSON can hold it."""

    @property
    def parts(self) -> Backend:
        """The backend, once the training is open."""
        assert self._backend is not None
        return self._backend

    def open(self) -> None:
        """Start the backend."""
        with damage(self.state_path) if self._state else nullcontext():
            self._backend = self.make_backend(self._state)
        self._state = None  # large
        self._backend.watch_stop(self.watch.is_stopping)

    def close(self) -> None:
        """End it."""
        if self._backend is not None:
            self._backend.close()

    def read_state(self, kind: type[P]) -> tuple[P, dict[str, Tensor]]:
        """Return the progress of the saved state, and its tensors; ValueError as of ``training_state.read_state``."""
        tensors, progress, header = read_state(self.state_path, self.identity(), kind)
        with damage(self.state_path, ValueError):
            self._state = unpacked(tensors, header["backend"])
        return progress, tensors

    def write_backend(self, state: BackendState, progress: TrainingProgress, **more: Tensor) -> None:
        """Write the state of the backend and the ``progress``; ``more``: other tensors by name."""
        tensors, header = packed(state)
        write_state(self.state_path, tensors | more, progress, self.identity(), backend=header)


def load_learner_state(path: Path) -> LearnerState:
    """Return the learner's part of a state of self-play; ValueError if ``path`` is none."""
    tensors, header = read_tensors(path)
    if "backend" not in header:
        raise ValueError(f"{path} is not a state of self-play: delete the stage's folder to run the stage again")
    return below(tensors, "learner/"), header["backend"]["learner"]


def first_state(carried: LearnerState, start: Weights) -> BackendState:
    """Return the state of a backend that begins with the policies ``start`` (weights by head name) and all else that
    ``carried`` has. Updates are counted from 0.
    """
    tensors, values = carried
    own = {name: tensor for name, tensor in tensors.items() if not name.startswith("gradient.")}
    for head, weights in start.items():
        for name, weight in weights.items():
            own[f"net.{head}.policy.{name}"] = torch.from_numpy(np.array(weight))
            for slot, value in tensors.items():
                if slot.startswith(f"optimizer.{head}.policy.{name}.") and value.ndim == weight.ndim > 1:
                    own[slot] = value[:, : weight.shape[1]].clone()
    return BackendState(learner=(own, new_stage(values)), versions=[PolicyVersion(0, start)])


def packed(state: BackendState) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors of a state, and a header that JSON can hold, for ``unpacked``."""
    learner_tensors, learner = state.learner
    tensors = {f"learner/{name}": tensor for name, tensor in learner_tensors.items()}
    for number, arrays in enumerate(state.simulators):
        tensors |= from_arrays(f"simulator/{number}", arrays)
    for number, (arrays, _) in enumerate(state.buffers):
        tensors |= from_arrays(f"buffer/{number}", arrays)
    for number, parts in enumerate(state.held):
        for part in parts:
            tensors |= from_arrays(f"held/{number}/{part.decision}", part.arrays())
    for version in state.versions:
        for net, weights in version.weights.items():
            tensors |= from_arrays(f"version/{version.number}/{net}", weights)
    header = {
        "learner": learner,
        "buffers": [values for _, values in state.buffers],
        "held": [[part.decision for part in parts] for parts in state.held],
        "next_simulator": state.next_simulator,
        "counts": asdict(state.counts),
        "versions": [version.number for version in state.versions],
    }
    return tensors, header


def unpacked(tensors: Mapping[str, Tensor], header: Mapping[str, Any]) -> BackendState:
    """Return what ``packed`` took apart; KeyError, TypeError and the like for damaged parts. ``tensors`` may have
    others.
    """
    num_simulators, found = len(header["held"]), {n.split("/")[1] for n in tensors if n.startswith("simulator/")}
    if found and len(found) != num_simulators:  # those of rounds have no arrays
        raise KeyError(f"{num_simulators} simulators instead of {len(found)}")
    return BackendState(
        learner=(below(tensors, "learner/"), header["learner"]),
        versions=[_version(tensors, number) for number in header["versions"]],
        counts=BufferCounts(**header["counts"]),
        next_simulator=header["next_simulator"],
        simulators=[to_arrays(below(tensors, f"simulator/{number}/")) for number in range(num_simulators)],
        buffers=[(to_arrays(below(tensors, f"buffer/{n}/")), values) for n, values in enumerate(header["buffers"])],
        held=[
            [Decisions.from_arrays(kind, to_arrays(below(tensors, f"held/{number}/{kind}/"))) for kind in kinds]
            for number, kinds in enumerate(header["held"])
        ],
    )


def from_arrays(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    """Return arrays as tensors that share their memory, named ``prefix/name``."""
    return {
        f"{prefix}/{name}": torch.from_numpy(np.require(array, requirements=("C", "W")))
        for name, array in arrays.items()
    }


def to_arrays(tensors: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """Return tensors as arrays that share their memory."""
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def _version(tensors: Mapping[str, Tensor], number: int) -> PolicyVersion:
    weights: dict[str, dict[str, np.ndarray]] = {}
    for name, array in to_arrays(below(tensors, f"version/{number}/")).items():
        net, _, rest = name.partition("/")
        weights.setdefault(net, {})[rest] = array
    if not weights:
        raise KeyError(f"version {number}")
    result: Weights = weights
    return PolicyVersion(number, result)
