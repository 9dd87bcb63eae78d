"""A point of the curves of self-play: what happened since the point before it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from suphx_platform.backend.backend import Backend
from suphx_platform.backend.reinforcement_state import Progress
from suphx_platform.parts.reinforcement_config import ReinforcementConfig

COUNTS = ("updates", "hanchans", "kyokus", "decisions", "rejected", "seconds", "playing_seconds", "waiting_seconds",
          "learning_seconds")  # fmt: skip
"""Counters of ``Progress`` that points and metrics.json have."""


def new_point(progress: Progress, config: ReinforcementConfig, backend: Backend) -> dict[str, Any]:
    """Return the point after the updates of ``progress.since_report``: figures by name."""
    last = progress.history[-1] if progress.history else {}
    names = sorted({name for figures in progress.since_report for name in figures})
    point = {name: _of_updates(name, [own[name] for own in progress.since_report if name in own]) for name in names}
    seconds = max(progress.seconds - last.get("seconds", 0.0), 1e-9)
    playing = max(progress.playing_seconds - last.get("playing_seconds", 0.0), 1e-9)
    counts = {name: getattr(progress, name) for name in COUNTS}
    point |= counts | {f"{name}_decisions": count for name, count in asdict(backend.counts).items()}
    point |= {f"{name}_faults": count for name, count in progress.faults.items()}
    point |= {
        "version": backend.version,
        "hanchans_per_second": (progress.hanchans - last.get("hanchans", 0)) / seconds,
        "decisions_per_second": (progress.decisions - last.get("decisions", 0)) / seconds,
        "simulator_waiting_share": (progress.waiting_seconds - last.get("waiting_seconds", 0.0)) / playing,
        "learning_share": (progress.learning_seconds - last.get("learning_seconds", 0.0)) / seconds,
        "done_share": config.share_done(progress.updates, progress.seconds),
        **config.oracle.figures_of_update(progress.updates),
        **backend.gauges,
    }
    point["learner_waiting_share"] = max(0.0, 1 - point["learning_share"])
    return point


def thin_out(history: list[dict[str, Any]]) -> None:
    """Remove one of at least three points: where the others are closest, so that the distances stay about equal.

    The first and the last one stay.
    """
    updates = [point["updates"] for point in history]
    gaps = [after - before for before, after in zip(updates, updates[2:], strict=False)]
    del history[1 + gaps.index(min(gaps))]


def _of_updates(name: str, values: list[float]) -> float:
    """Return the value of a figure in several updates: their mean, or the maximum of a maximum."""
    return max(values) if name.endswith("_max") else sum(values) / len(values)
