"""What a run stores outside of its cluster: metrics, checkpoints, how its attempts ended; what a deletion leaves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from suphx.credentials import is_unclear, without_credentials
from suphx.printable_text import first_line
from suphx_platform.cluster.run_attempts import ATTEMPTS, Attempt, places, read_attempts
from suphx_platform.cluster.run_manifest import environment, results_id, setting
from suphx_platform.cluster.run_status import RunStatus, is_stop_requested
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.mlflow_client import SERVER
from suphx_platform.tracking.mlflow_store import MlflowStore

SHOWN = ("updates", "hanchans", "version", "done_share", "hanchans_per_second", "staleness")
"""Metrics of the newest stage that ``suphx status`` shows."""


def with_progress(status: RunStatus, job: Mapping[str, Any] | None) -> RunStatus:
    """Return the status with progress, failed attempts and the last checkpoint; ``job``: the RayJob of the run.

    A server that cannot be reached from this machine is added to the problems.
    """
    run_id = status.run_id if job is None else results_id(job)
    problems = list(status.problems)
    progress: Mapping[str, float] = {}
    checkpoint: str | None = None
    attempts: dict[int, Attempt] = {}
    config = _storage_config(job)
    try:
        if os.environ.get(SERVER):  # the local store has no runs of a cluster
            figures = MlflowStore(Path("runs")).newest_metrics(run_id)
            progress = {name: figures[name] for name in SHOWN if name in figures}
    except Exception as error:  # noqa: BLE001 - whatever a client of MLflow raises, the rest is still worth showing
        address = os.environ[SERVER]
        told = "" if is_unclear(address) else f" {without_credentials(address)}"
        problems.append(f"MLflow{told} cannot be read from here ({first_line(error)})")
    try:
        if config is not None:
            checkpoint = Storage(config).newest_path(run_id)
    except OSError as error:
        address = setting(dict(job or {}), "storage.address")
        problems.append(f"the storage {address} cannot be read from here ({first_line(error)})")
        config = None
    try:
        attempts = _read_attempts(run_id, config)
    except OSError as error:
        if status.attempts is not None and status.attempts.failed:
            problems.append(str(error))
    failed = [attempt for attempt in attempts.values() if has_failed(attempt, job)]
    return replace(status, progress=progress, last_checkpoint=checkpoint, problems=problems, failed_attempts=failed)


def has_failed(attempt: Attempt, job: Mapping[str, Any] | None) -> bool:
    """Return whether an attempt has used up a retry; ``job``: the RayJob of the run now.

    One that was asked to stop has, unless that was ``suphx stop``, which deletes the RayJob.
    """
    born = (job or {}).get("metadata", {}).get("creationTimestamp")
    if attempt.outcome != "stopped" or not born or is_stop_requested(job):
        return attempt.outcome in ("failed", "lost")
    return datetime.fromisoformat(attempt.started) >= datetime.fromisoformat(str(born))


def kept_attempts(run: str, job: Mapping[str, Any] | None) -> dict[int, Attempt]:
    """Return number -> attempt of what the drivers of a run have kept; OSError with the places if none can be read.

    The storage is read; MLflow only if there is none, or if it cannot be read from here.
    """
    return _read_attempts(run if job is None else results_id(job), _storage_config(job))


def _read_attempts(run_id: str, config: StorageConfig | None) -> dict[int, Attempt]:
    errors: list[str] = []
    try:
        found = places(config, Path("runs"))
    except ValueError as error:  # an address that is wrong on this machine
        found, errors = {}, [first_line(error)]
    for name, notes in found.items():
        try:
            return read_attempts(notes, run_id)
        except Exception as error:  # noqa: BLE001 - as above
            errors.append(f"{name} ({first_line(error)})")
    told = f": {', '.join(errors)}" if errors else ""
    raise OSError(
        f"the records of the attempts of {run_id} cannot be read from here{told}. They are in "
        f"the folder {run_id}/{ATTEMPTS} of storage.address, and among the artifacts of the run in MLflow: set "
        "MLFLOW_TRACKING_URI, or the keys of the storage"
    )


def _storage_config(job: Mapping[str, Any] | None) -> StorageConfig | None:
    address = setting(dict(job), "storage.address") if job is not None else ""
    return StorageConfig(address=address, max_attempts=2) if address else None


_RELEASE_NOTE = "meta.helm.sh/release-name"


def places_of(job: dict[str, Any] | None) -> list[str]:
    """Return where a run stores results, which a deletion leaves; ``job``: its RayJob, or what creates it again."""
    if job is None:
        return []
    results, server = results_id(job), os.environ.get(SERVER) or environment(job, SERVER)
    address = setting(job, "storage.address").rstrip("/")
    found = [f"checkpoints and results in {address}/{results}"] if address else []
    if server:
        shown = "" if is_unclear(server) else f" ({without_credentials(server)})"
        found.append(f"metrics and reports of {results} in MLflow{shown}")
    if _RELEASE_NOTE in (job["metadata"].get("annotations") or {}):
        found.append("run.name in the chart's values: the next helm upgrade creates the run again unless it is empty")
    return found
