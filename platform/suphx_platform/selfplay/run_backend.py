"""The backend that the settings of a run name: all parts in one process, or Ray actors.

>>> controller = Controller(config, play, folder, new_backend=run_backend(config), metrics=run_metrics(config))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from suphx_platform.backend.backend import Backend, BackendState, SelfPlay
from suphx_platform.backend.local_backend import LocalBackend
from suphx_platform.parts.reinforcement_config import ReinforcementConfig

if TYPE_CHECKING:
    from suphx_platform.selfplay.metrics import RunMetrics

NewBackend = Callable[[ReinforcementConfig, SelfPlay, BackendState | None], Backend]
"""Makes a backend that begins, or continues from a state."""


def run_backend(config: ReinforcementConfig) -> NewBackend:
    """Return what makes the backend of ``config``."""
    if not config.cluster.on_ray:
        return LocalBackend
    from suphx_platform.evaluation.match_thread import MatchThread  # only a run over Ray needs these
    from suphx_platform.on_ray.ray_backend import RayBackend

    return partial(RayBackend, new_matches=MatchThread)


def run_metrics(config: ReinforcementConfig, watch: Callable[[], Mapping[str, float]] = dict) -> RunMetrics | None:
    """Return the metrics for Prometheus, which only a run over Ray has; ``watch``: as for ``RunMetrics``."""
    if not config.cluster.on_ray:
        return None
    from suphx_platform.selfplay.metrics import RunMetrics

    return RunMetrics(watch)
