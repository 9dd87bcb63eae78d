"""What self-play writes into its folder: nets, the state from which a killed run resumes, metrics, a diverged
batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from suphx.evaluation.measures import measure_of
from suphx.games.registry import decision_names
from suphx.models.net_config import Calibration
from suphx.models.tensor_file import write_tensors
from suphx.selfplay.agents.net_agent import LEARNED_HEADS
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set
from suphx.selfplay.weights import Weights
from suphx.training.learner import DivergedBatchError
from suphx.training.local_backend import SelfPlay
from suphx.training.reinforcement_config import FREE_KEYS, ReinforcementConfig
from suphx_platform.selfplay.self_play_match import START_FOLDER

Measured = Callable[[Mapping[str, Any], Path], None]
"""Gets the entry of a match against the initial nets, and a folder of the nets that it has measured; takes the folder
as it is at once."""
MEASURED_FOLDER = ".measured"
DIVERGED_FILE = "diverged_batch.safetensors"


class RunFolder:
    """The folder of one self-play. Every file is written whole or not at all."""

    def __init__(self, path: Path, config: ReinforcementConfig, play: SelfPlay) -> None:
        """Create the folder ``path`` if it is missing."""
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._config, self._play = config, play

    def write_start(self) -> None:
        """Write the nets that matches are against: the first ones, and the weak ones.

        Of heads that learn, they are as uncalibrated as the nets that have learned: that is how self-play sampled.
        """
        for policy_set, is_weak in ((self._play.opponent or self._play.start, False), (self._play.weak, True)):
            self._write(self.path / START_FOLDER, self._uncalibrated(policy_set), 0, is_weak=is_weak)

    def write_nets(self, weights: Weights, updates: int) -> None:
        """Write the nets after ``updates`` updates: the folder is an agent then."""
        self._write(self.path, self._policy_set(weights), updates)

    def write_nets_of_step(self, weights: Weights, updates: int) -> None:
        """Keep the nets at the end of a step of the keep probability, which ``updates`` ends."""
        oracle = self._config.oracle
        step = updates // oracle.updates_per_step
        folder = keep_folder(step, oracle.keep_probability_of_update(updates))
        self._write(self.path / folder, self._policy_set(weights), updates)

    def write_measured(self, weights: Weights, updates: int) -> Path:
        """Write nets that a match has measured into a folder that is not a part of the saved state; return it."""
        folder = self.path / MEASURED_FOLDER
        self._write(folder, self._policy_set(weights), updates)
        return folder

    def write_diverged(self, error: DivergedBatchError, updates: int) -> Path:
        """Write the batch of the update after ``updates``, whose loss or gradient is not finite; return its file."""
        names = decision_names(self._config.game)
        tensors = {
            f"{names[head]}.{name}": torch.from_numpy(np.require(column, requirements=("C", "W")))
            for head, part in error.parts.items()
            for name, column in (part.columns() | {"planes": part.planes.dense()}).items()
        }
        path = self.path / DIVERGED_FILE
        write_tensors(path, tensors, {"kind": "diverged batch", "updates": updates})
        return path

    def _policy_set(self, weights: Weights) -> PolicySet:
        """Return the nets that learn with ``weights``, and all others as they were at first."""
        return self._uncalibrated(self._play.start.with_weights(weights))

    def _uncalibrated(self, policy_set: PolicySet) -> PolicySet:
        """Return the same nets, those that learn without a calibration."""
        calibrations = [
            Calibration() if head in self._config.head_numbers else calibration
            for head, calibration in enumerate(policy_set.calibrations)
        ]
        return replace(policy_set, calibrations=tuple(calibrations))

    def _write(self, folder: Path, policy_set: PolicySet, step: int, *, is_weak: bool = False) -> None:
        heads = [decision_names(self._config.game)[head] for head in self._config.head_numbers]
        guided = self._config.oracle.figures_of_update(step)
        save_policy_set(
            folder,
            policy_set,
            self._play.encoder,
            rules=self._play.rules_version,
            step=step,
            extra=self._play.extra | {"encoder": self._play.encoder, LEARNED_HEADS: heads} | guided,
            is_weak=is_weak,
        )

    def identity(self) -> dict[str, Any]:
        """Return the settings that must not change when a run resumes, as JSON values."""
        config = _flat_config(asdict(self._config))
        ends = ("max_updates", "max_minutes", "game")  # a longer run may resume a shorter one; nets name their game
        kept = {name: value for name, value in config.items() if name not in (*FREE_KEYS, *ends)}
        prediction = self._play.prediction
        kept["global_reward.predictor"] = prediction.digest if prediction else ""  # not where it lay, but what it is
        nets = {net.kind.name: asdict(net.config) for net in self._play.start.nets}
        start = self._play.start.digest()
        return {
            **kept,
            "seed": self._play.seed,
            "encoder": self._play.encoder,
            "nets": nets,
            "weights of the start": start,
        }


class MeasuredNets:
    """Consumes: nets with which matches begin, results of matches. Produces: calls of ``keep`` with both.

    The nets of matches that are still played wait in memory: training continues meanwhile.
    """

    def __init__(self, files: RunFolder, keep: Measured) -> None:
        self._files, self._keep = files, keep
        self._waiting: dict[int, Weights] = {}

    def note(self, updates: int, weights: Weights) -> None:
        """Copy the weights with which matches begin now: over Ray they are in shared memory, which others need."""
        self._waiting[updates] = {
            net: {name: np.array(value) for name, value in own.items()} for net, own in weights.items()
        }

    def add(self, entry: Mapping[str, Any]) -> None:
        """Pass on the nets of a match against the initial nets; ``entry`` as of SelfPlayMatches."""
        updates = int(entry["updates"])
        if (entry["opponent"], entry["policy"]) == ("start", "argmax") and updates in self._waiting:
            folder = self._files.write_measured(self._waiting.pop(updates), updates)
            self._keep(entry, folder)

    def keep_only(self, updates: Collection[int]) -> None:
        """Forget the nets of all but ``updates``: the matches that would have measured them were lost."""
        self._waiting = {number: weights for number, weights in self._waiting.items() if number in updates}


def strength(entry: Mapping[str, Any]) -> float:
    """Return how strong a match has found nets, larger is better; ``entry`` as of SelfPlayMatches."""
    return measure_of(entry).sign * float(entry["difference"])


def keep_folder(step: int, keep_probability: float) -> str:
    """Return the folder of the checkpoints at the end of the ``step`` (1, 2, …) of the keep probability."""
    return f"keep-{step}-{keep_probability:.3f}"


def _flat_config(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested tables as ``{"a.b": value}``, tuples as lists."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat_config(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = list(value) if isinstance(value, tuple) else value
    return flat
