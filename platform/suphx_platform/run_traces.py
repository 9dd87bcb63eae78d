"""What a run on a cluster left outside of it: its figures in MLflow, its checkpoints in the storage."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from suphx_platform.run_manifest import setting
from suphx_platform.run_status import RunStatus

SHOWN = ("updates", "hanchans", "version", "done_share", "hanchans_per_second", "staleness")
"""Figures of the newest stage that ``suphx status`` tells."""


def with_traces(status: RunStatus, job: Mapping[str, Any] | None) -> RunStatus:
    """Return the status with progress and the last checkpoint; what cannot be reached from here is a problem."""
    problems = list(status.problems)
    progress: Mapping[str, float] = {}
    checkpoint: str | None = None
    try:
        progress = _progress(status.run_id)
    except Exception as error:  # noqa: BLE001 - whatever a client of MLflow raises, the rest is still worth telling
        problems.append(f"MLflow {os.environ['MLFLOW_TRACKING_URI']} cannot be read from here ({_first_line(error)})")
    address = setting(dict(job), "storage.address") if job is not None else ""
    try:
        checkpoint = _last_checkpoint(address, status.run_id) if address else None
    except OSError as error:
        problems.append(f"the storage {address} cannot be read from here ({_first_line(error)})")
    return replace(status, progress=progress, last_checkpoint=checkpoint, problems=problems)


def _progress(run_id: str) -> dict[str, float]:
    """Return the newest figures; nothing where no server is named: this machine's own store has no run of a cluster."""
    if not os.environ.get("MLFLOW_TRACKING_URI"):
        return {}
    from suphx_platform.tracking import TrackingStore

    figures = TrackingStore(Path("runs")).newest_metrics(run_id)
    return {name: figures[name] for name in SHOWN if name in figures}


def _last_checkpoint(address: str, run_id: str) -> str | None:
    from suphx_platform.storage import Storage, StorageConfig

    return Storage(StorageConfig(address=address, max_attempts=2)).newest_path(run_id)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
