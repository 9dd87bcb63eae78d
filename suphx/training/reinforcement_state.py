"""The saved state of a self-play run: one safetensors file, from which the run resumes.

It holds the learner's nets and optimizers, the versions of the parameter server, all counters and random states; and,
in one process or over Ray in lockstep, every table with the decisions that wait for the end of their kyoku, the replay
buffer, and decisions for which it had no room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suphx.experience.decisions import Decisions
from suphx.games.registry import decision_names
from suphx.models.tensor_file import read_tensors, write_tensors
from suphx.selfplay.backend import BackendState, LearnerState
from suphx.selfplay.buffer import BufferCounts
from suphx.selfplay.weights import PolicyVersion, Weights
from suphx.training.learning_step import tensors_below
from suphx.training.training_state import check_types
from suphx.training.update_control import new_stage


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
    tensors, values = carried
    own = {name: tensor for name, tensor in tensors.items() if not name.startswith("gradient.")}
    for head, weights in start.items():
        own |= _with_policy(tensors, head, weights)
    first = PolicyVersion(0, start)
    return BackendState(learner=(own, new_stage(values)), latest=first, older=[first])


def _with_policy(tensors: Mapping[str, Tensor], head: str, weights: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    """Return the tensors of a head's policy and of its optimizer that change."""
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        found[f"net.{head}.policy.{name}"] = torch.from_numpy(np.array(weight))
        for slot, value in tensors.items():
            if slot.startswith(f"optimizer.{head}.policy.{name}/") and value.ndim == weight.ndim > 1:
                found[slot] = value[:, : weight.shape[1]].clone()
    return found


FORMAT_VERSION = 6
START_WEIGHTS = "weights of the start"
"""The setting that states of earlier versions do not have."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where a run stands."""

    updates: int = 0
    hanchans: int = 0
    kyokus: int = 0
    decisions: int = 0
    """Of all seats."""
    rejected: int = 0
    """Decisions without a gradient of the sampled action, since their importance ratio was above
    learner.gradient.reject_ratio."""
    seconds: float = 0.0
    """Time spent, over all starts."""
    playing_seconds: float = 0.0
    """Of all simulators together."""
    waiting_seconds: float = 0.0
    """Part of the playing in which a simulator had no policy outputs."""
    learning_seconds: float = 0.0
    match_seconds: float = 0.0
    """Spent on matches for which the updates waited."""
    faults: dict[str, int] = field(default_factory=dict)
    """What broke how often: ``engine_died`` and the like."""
    history: list[dict[str, Any]] = field(default_factory=list)
    """A point of the curves for each report."""
    matches: list[dict[str, Any]] = field(default_factory=list)
    """Matches during the run."""
    since_report: list[dict[str, float]] = field(default_factory=list)
    """Figures of the updates since the last point of the curves."""


def save_state(path: Path, state: BackendState, progress: Progress, run: Mapping[str, Any]) -> None:
    """Write everything that a run needs to go on; whole or not at all (OSError says what to do).

    ``run``: what must be the same when it goes on, as JSON can hold it.
    """
    learner_tensors, learner = state.learner
    tensors = {f"learner/{name}": tensor for name, tensor in learner_tensors.items()}
    for number, arrays in enumerate(state.simulators):
        tensors |= _tensors(f"simulator/{number}", arrays)
    for number, (arrays, _) in enumerate(state.buffers):
        tensors |= _tensors(f"buffer/{number}", arrays)
    for number, parts in enumerate(state.held):
        for part in parts:
            tensors |= _tensors(f"held/{number}/{decision_names()[part.head]}", part.arrays())
    for version in (*state.older, state.latest):
        for head, weights in version.weights.items():
            tensors |= _tensors(f"version/{version.number}/{head}", weights)
    header = {
        "kind": "self-play state",
        "format_version": FORMAT_VERSION,
        "run": run,
        "progress": asdict(progress),
        "learner": learner,
        "buffers": [values for _, values in state.buffers],
        "num_simulators": len(state.simulators),
        "held": [[decision_names()[part.head] for part in parts] for parts in state.held],
        "next_simulator": state.next_simulator,
        "counts": asdict(state.counts),
        "latest": state.latest.number,
        "older": [version.number for version in state.older],
    }
    write_tensors(path, tensors, header)


def load_state(path: Path, run: Mapping[str, Any]) -> tuple[BackendState, Progress]:
    """Return what ``save_state`` wrote.

    Raises ValueError that names every difference if the state was made by another run than ``run``, or is damaged.
    """
    tensors, header = read_tensors(path)
    if header.get("kind") != "self-play state" or header.get("format_version") != FORMAT_VERSION:
        raise ValueError(f"{path} is not a self-play state of format {FORMAT_VERSION}: delete it to start over")
    then = header.get("run", {})
    if not isinstance(then, dict):
        raise damaged(path, TypeError("its settings are not an object"))
    names = then.keys() | run.keys()
    if START_WEIGHTS not in then:
        names -= {START_WEIGHTS}
    differences = [f"{n} was {then.get(n)}, now {run.get(n)}" for n in sorted(names) if then.get(n) != run.get(n)]
    if differences:
        raise ValueError(
            f"{path} belongs to another run ({'; '.join(differences)}): "
            "restore these settings to continue it, or delete the file to start over"
        )
    try:
        progress = Progress(**header["progress"])
        check_types(progress)
        _check_matches(progress.matches)
        _check_count("simulator/", header["num_simulators"], tensors)
        state = BackendState(
            learner=(tensors_below(tensors, "learner/"), header["learner"]),
            latest=_version(tensors, header["latest"]),
            older=[_version(tensors, number) for number in header["older"]],
            counts=BufferCounts(**header["counts"]),
            next_simulator=header["next_simulator"],
            simulators=[_arrays(tensors, f"simulator/{number}") for number in range(header["num_simulators"])],
            buffers=[(_arrays(tensors, f"buffer/{number}"), values) for number, values in enumerate(header["buffers"])],
            held=[
                [
                    Decisions.from_arrays(decision_names().index(name), _arrays(tensors, f"held/{number}/{name}"))
                    for name in names
                ]
                for number, names in enumerate(header["held"])
            ],
        )
        return state, progress
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise damaged(path, error) from error


def damaged(path: Path, error: Exception) -> ValueError:
    """Return the error of a state whose parts are not what they should be."""
    return ValueError(f"{path} is damaged ({error!r}): delete it to start over")


def _check_matches(matches: Sequence[Mapping[str, Any]]) -> None:
    """Raise TypeError or KeyError for a match without its number of hanchans."""
    for match in matches:
        if type(match["hanchans"]) is not int:
            raise TypeError(f"a match has {match['hanchans']!r:.80} hanchans")


def _check_count(prefix: str, count: object, tensors: Mapping[str, Tensor]) -> None:
    """Raise ValueError unless there are tensors of so many parts below ``prefix``."""
    found = {name.split("/")[1] for name in tensors if name.startswith(prefix)}
    if count != len(found):
        raise ValueError(f"{count!r:.80} instead of {len(found)} parts {prefix}")


def _tensors(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    return {
        f"{prefix}/{name}": torch.from_numpy(np.require(array, requirements=("C", "W")))
        for name, array in arrays.items()
    }


def _arrays(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in tensors_below(tensors, f"{prefix}/").items()}


def _version(tensors: Mapping[str, Tensor], number: int) -> PolicyVersion:
    weights: dict[str, dict[str, np.ndarray]] = {}
    for name, array in _arrays(tensors, f"version/{number}").items():
        head, _, rest = name.partition("/")
        weights.setdefault(head, {})[rest] = array
    if not weights:
        raise KeyError(f"version {number}")
    result: Weights = weights
    return PolicyVersion(number, result)
