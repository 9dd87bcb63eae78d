"""Trainers of small self-play runs, and what their runs leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from suphx.experience.observation import OpponentConfig
from suphx.games.registry import find_learning
from suphx.models.tensor_file import read_tensors
from suphx.selfplay.config import ReplayBufferConfig, SimulatorConfig
from suphx.training.learner_config import LearnerConfig
from suphx.training.local_backend import SelfPlay
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.selfplay.policy_trainer import PolicyTrainer, run_backend, run_metrics
from tests.models.random_nets import PREDICTION
from tests.selfplay.small_policy_set import ENCODERS, SMALL_PLAIN, small_policy_set

CONFIG = ReinforcementConfig(
    max_updates=12,
    weight_sync_interval=2,
    rollout_fragment_length=8,
    report_every=3,
    evaluation_hanchans=8,
    simulator=SimulatorConfig(num_tables=16, opponents=OpponentConfig(latest=0.5, older=0.3, weak=0.2)),
    buffer=ReplayBufferConfig(batch_size=200),
    learner=LearnerConfig(critic=SMALL_PLAIN),
)
TIMES = ("seconds", "per_second", "share")


def exported(name: str) -> str:
    """Return what Ray's metrics port calls a metric, without ``ray_``."""
    from suphx_platform.selfplay.metrics import COUNTERS  # imports Ray

    return f"{name}_total" if name in COUNTERS else name


class KilledError(Exception):
    """Stands for a kill: nothing is done after it."""


def new_play(config: ReinforcementConfig = CONFIG) -> SelfPlay:
    return SelfPlay(
        start=small_policy_set(1, game=config.game),
        weak=small_policy_set(2, game=config.game),
        encoder=ENCODERS[config.game],
        rules_version=find_learning(config.game).rules_version,
        seed=5,
        prediction=PREDICTION if config.reward == "global_prediction" else None,
    )


def new_trainer(
    folder: Path,
    config: ReinforcementConfig = CONFIG,
    *,
    watch: Callable[[], Mapping[str, float]] = dict,
    **arguments: Any,
) -> PolicyTrainer:
    backend, metrics = run_backend(config), run_metrics(config, watch)
    return PolicyTrainer(config, new_play(config), folder, new_backend=backend, metrics=metrics, **arguments)


def without_times(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in point.items() if not name.endswith(TIMES)}


def numbers(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [without_times(point) for point in (*metrics["history"], *metrics["matches"])]


def weights(folder: Path, head: str = "discard") -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in read_tensors(folder / f"{head}.safetensors")[0].items()}


@dataclass(frozen=True)
class Run:
    """A run that has ended."""

    folder: Path
    metrics: Mapping[str, Any]
    points: list[Mapping[str, float]]
