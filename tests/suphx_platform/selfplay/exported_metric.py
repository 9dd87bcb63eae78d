"""The metrics that a run exports at Ray's port, and a run that exports all of them."""

from __future__ import annotations

from dataclasses import replace

from suphx.selfplay.layout import RayLayoutConfig
from suphx_platform.selfplay.metrics import COUNTERS
from tests.suphx_platform.selfplay.small_trainer import CONFIG

ON_RAY = replace(
    CONFIG, max_updates=0, max_minutes=3.0, evaluate_every=30, save_seconds=1.0, cluster=RayLayoutConfig(on_ray=True)
)


def exported(name: str) -> str:
    return f"{name}_total" if name in COUNTERS else name


class AllSeenError(Exception):
    """Ends a run whose metrics have all been seen."""
