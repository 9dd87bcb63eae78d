"""What a run on a cluster stores outside of the cluster: metrics in MLflow, checkpoints in the storage."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from suphx.credentials import is_unclear, without_credentials
from suphx_platform.cluster.runs.run_manifest import results_id, setting
from suphx_platform.cluster.runs.run_status import RunStatus

SHOWN = ("updates", "hanchans", "version", "done_share", "hanchans_per_second", "staleness")
"""Metrics of the newest stage that ``suphx status`` shows."""


def with_progress(status: RunStatus, job: Mapping[str, Any] | None) -> RunStatus:
    """Return the status with progress and the last checkpoint; ``job``: the RayJob of the run.

    A server that cannot be reached from this machine is added to the problems.
    """
    run_id = status.run_id if job is None else results_id(job)
    if run_id is None:
        return status
    problems = list(status.problems)
    progress: Mapping[str, float] = {}
    checkpoint: str | None = None
    try:
        progress = _progress(run_id)
    except Exception as error:  # noqa: BLE001 - whatever a client of MLflow raises, the rest is still worth showing
        address = os.environ["MLFLOW_TRACKING_URI"]
        told = "" if is_unclear(address) else f" {without_credentials(address)}"
        problems.append(f"MLflow{told} cannot be read from here ({_first_line(error)})")
    try:
        checkpoint = last_checkpoint(job)
    except OSError as error:
        address = setting(dict(job or {}), "storage.address")
        problems.append(f"the storage {address} cannot be read from here ({_first_line(error)})")
    return replace(status, progress=progress, last_checkpoint=checkpoint, problems=problems)


def _progress(run_id: str) -> dict[str, float]:
    """Return the newest metrics; none without MLFLOW_TRACKING_URI: the local store has no runs of a cluster."""
    if not os.environ.get("MLFLOW_TRACKING_URI"):
        return {}
    from suphx_platform.tracking.mlflow_store import MlflowStore

    figures = MlflowStore(Path("runs")).newest_metrics(run_id)
    return {name: figures[name] for name in SHOWN if name in figures}


def last_checkpoint(job: Mapping[str, Any] | None) -> str | None:
    """Return the newest version in the storage that the RayJob names, None if there is none; OSError if unreachable."""
    address = setting(dict(job), "storage.address") if job is not None else ""
    run_id = results_id(job) if job is not None else None
    if run_id is None or not address:
        return None
    from suphx_platform.storage.storage import Storage
    from suphx_platform.storage.storage_config import StorageConfig

    return Storage(StorageConfig(address=address, max_attempts=2)).newest_path(run_id)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
