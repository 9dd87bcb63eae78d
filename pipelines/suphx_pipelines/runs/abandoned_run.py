"""Runs whose process was killed: MLflow shows them as running until somebody corrects that."""

from __future__ import annotations

from pathlib import Path

from suphx_pipelines.runs.run_lock import LOCK_FILE, is_locked
from suphx_pipelines.summary.run_page import description
from suphx_pipelines.summary.run_summary import RunSummary
from suphx_platform.tracking.tracking import TrackingStore


def end_abandoned(runs: Path, store: TrackingStore) -> list[str]:
    """Mark runs that MLflow shows as running, but that have no process, as killed; return their names.

    Only runs of this folder are changed. TrackingError if MLflow does not answer.
    """
    abandoned = []
    for name in store.running():
        folder = runs / name
        if not (folder / LOCK_FILE).is_file() or is_locked(folder):
            continue
        store.send_left(name)
        summary = RunSummary.read(folder)
        if summary is not None:
            summary.state = "interrupted"
        store.kill(name, description(summary, folder) if summary else None)
        abandoned.append(name)
    return abandoned
