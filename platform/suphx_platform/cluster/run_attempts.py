"""Attempts of a run on a cluster, as they are kept outside of its pods: when each began, how it ended and why.

The driver of an attempt writes two small JSON files below the run, in the storage and in MLflow:
``RUN/attempts/N.started.json`` and, when it ends, ``RUN/attempts/N.json`` (suphx_pipelines/runs/attempt_writer.py).
``suphx status`` and ``suphx logs --attempt N`` read them: the pods of an attempt that has failed are deleted at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

from suphx.json_text import parse_json
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.mlflow_client import FILES, FIRST, SERVER
from suphx_platform.tracking.mlflow_store import MlflowStore

ATTEMPTS = "attempts"
"""Folder of a run with the records of its attempts."""
Outcome = Literal["finished", "stopped", "failed", "lost"]
"""lost: it ended without a report, as when its head pod is lost."""
_STARTED = ".started"
StopOutcome = Literal["saved", "finished", "failed", "killed", "unsaved"]
"""How the process of a run answered a request to stop. saved: it has stored its state; finished: the run was over
before; failed: it ended with an error; killed: it ended without a word; unsaved: it had not ended when the time was
up."""
MESSAGE_FILE = Path("/dev/termination-log")
"""Where Kubernetes reads the termination message of a container."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt; the numbers of a run's attempts go on when it is resumed."""

    number: int
    started: str = ""
    """ISO 8601 with the time zone, as is ``ended``."""
    ended: str | None = None
    """None: it has not ended, or nobody knows when."""
    outcome: Outcome | None = None
    reason: str = ""
    """One line; empty if it has finished."""
    last_lines: tuple[str, ...] = ()
    ray_cluster: str = ""
    ray_job: str = ""
    """Ray's id of the driver, which is ``jobId`` in the status of the RayJob."""
    log: str = ""
    """Where the log of the driver is on its node."""
    version: str = ""

    @property
    def line(self) -> str:
        """When it ended, and why."""
        return f"{self.ended or f'started {self.started}, end unknown'}: {self.reason}"


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
        known["last_lines"] = tuple(map(str, known.get("last_lines", ())))
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
