"""What a run on a cluster keeps outside of its pods: how its attempts ended and why, metrics, checkpoints.

The driver of an attempt writes two small JSON files below the run, in the storage and in MLflow:
``RUN/attempts/N.started.json`` and, when it ends, ``RUN/attempts/N.json`` (suphx_pipelines/runs/attempt_writer.py).
``suphx status`` reads them: the pods of an attempt that has failed are deleted at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

from suphx.credentials import is_unclear, without_credentials
from suphx.json_text import parse_json
from suphx.printable_text import first_line
from suphx_platform.cluster.run_manifest import environment, results_id, setting
from suphx_platform.cluster.run_status import Attempt, Outcome, RunStatus, is_stop_requested
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.mlflow_client import FILES, FIRST, SERVER
from suphx_platform.tracking.mlflow_store import MlflowStore

ATTEMPTS = "attempts"
"""Folder of a run with the records of its attempts."""
_STARTED = ".started"
SHOWN = ("updates", "hanchans", "version", "done_share", "hanchans_per_second", "staleness")
"""Metrics of the newest stage that ``suphx status`` shows."""
_RELEASE_NOTE = "meta.helm.sh/release-name"
StopOutcome = Literal["saved", "finished", "failed", "killed", "unsaved"]
"""How the process of a run answered a request to stop. saved: it has stored its state; finished: the run was over
before; failed: it ended with an error; killed: it ended without a word; unsaved: it had not ended when the time was
up."""
MESSAGE_FILE = Path("/dev/termination-log")
"""Where Kubernetes reads the termination message of a container."""


class MlflowNotes:
    """Small files as artifacts of a run in MLflow, which must have begun."""

    def __init__(self, store: MlflowStore) -> None:
        self._store = store

    def put_note(self, key: str, data: bytes) -> None:
        """Keep a small file; FileNotFoundError if MLflow has no such run."""
        run_id, _, path = key.partition("/")
        run = self._store.find(run_id)
        if run is None:
            raise FileNotFoundError(f"MLflow ({self._store.uri}) has no run {run_id} yet")
        with self._store.call(FILES):
            self._store.client.log_text(run.info.run_id, data.decode(), path)

    def notes(self, prefix: str) -> Mapping[str, bytes]:
        """Return the small files in a folder of a run."""
        run_id, _, folder = prefix.strip("/").partition("/")
        run = self._store.find(run_id)
        if run is None:
            return {}
        with self._store.call(FIRST):
            if not self._store.client.list_artifacts(run.info.run_id, folder):
                return {}
        with TemporaryDirectory() as space:
            target = Path(space) / "notes"
            self._store.download(f"runs:/{run.info.run_id}/{folder}", target)
            return {f"{prefix}{path.name}": path.read_bytes() for path in target.iterdir() if path.is_file()}


Notes = Storage | MlflowNotes
"""Where small files of runs are kept; their names begin with the id of the run. Both verbs may raise OSError."""


def places(config: StorageConfig | None, runs: Path) -> dict[str, Notes]:
    """Return where records are kept outside of the pods, by what a person calls it: the storage and MLflow.

    MLflow counts only if MLFLOW_TRACKING_URI names it: otherwise it is a file in the folder ``runs``.
    """
    found: dict[str, Notes] = {}
    if config is not None and config.address:
        found[f"the storage {config.address}"] = Storage(config)
    if os.environ.get(SERVER):
        found["MLflow"] = MlflowNotes(MlflowStore(runs))
    return found


def write_attempt(notes: Notes, run_id: str, attempt: Attempt) -> None:
    """Keep that an attempt has begun, or how it has ended; OSError if it cannot, FileExistsError if an end is kept."""
    name = f"{attempt.number}{_STARTED if attempt.outcome is None else ''}.json"
    data = json.dumps(asdict(attempt), indent=1, ensure_ascii=False).encode(errors="replace")
    notes.put_note(f"{run_id}/{ATTEMPTS}/{name}", data)


def read_attempts(notes: Notes, run_id: str) -> dict[int, Attempt]:
    """Return number -> attempt of what is kept of a run, ascending; OSError if it cannot be read."""
    found: dict[int, Attempt] = {}
    for _, data in sorted(notes.notes(f"{run_id}/{ATTEMPTS}/").items(), key=lambda note: _STARTED not in note[0]):
        attempt = from_bytes(data)
        if attempt is not None:
            found[attempt.number] = attempt  # the end replaces the beginning
    return dict(sorted(found.items()))


def from_bytes(data: bytes) -> Attempt | None:
    """Return the attempt of a record; None if it is damaged."""
    try:
        values = parse_json(data)
        known = {field.name: values[field.name] for field in fields(Attempt) if field.name in values}
        attempt = Attempt(**known)
    except (ValueError, TypeError):
        return None
    return attempt if type(attempt.number) is int and attempt.outcome in (None, *get_args(Outcome)) else None


def write_report(outcomes: Mapping[str, StopOutcome], file: Path = MESSAGE_FILE) -> None:
    """Write how each run of this pod was stopped; ``outcomes``: id of the run -> outcome, empty if there was none."""
    file.write_text(json.dumps({"stopped": dict(outcomes)}), encoding="ascii")


def read_report(pod: Mapping[str, Any]) -> dict[str, StopOutcome] | None:
    """Return what the status of a pod shows of its runs; None if there is no report in it."""
    for container in (pod.get("status") or {}).get("containerStatuses") or ():
        message = ((container.get("state") or {}).get("terminated") or {}).get("message")
        with suppress(ValueError, KeyError, TypeError, AttributeError):  # another program's message
            stopped = parse_json(str(message or ""))["stopped"]
            return {str(run): outcome for run, outcome in stopped.items() if outcome in get_args(StopOutcome)}
    return None


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


def _read_attempts(run_id: str, config: StorageConfig | None) -> dict[int, Attempt]:
    """Return number -> attempt of what the drivers of a run have kept; OSError with the places if none can be read.

    The storage is read; MLflow only if there is none, or if it cannot be read from here.
    """
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
