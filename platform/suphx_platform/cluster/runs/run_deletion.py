"""The result of ``suphx delete``: what was removed, and what is still there of the run outside of the cluster.

Only what this machine has found is called kept. Where it cannot look, it names the place and claims nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from suphx.credentials import is_unclear, without_credentials
from suphx.printable_text import first_line
from suphx_platform.cluster.cluster_api import Object
from suphx_platform.cluster.runs import run_progress
from suphx_platform.cluster.runs.run_manifest import environment, results_id, setting
from suphx_platform.cluster.stop_report import StopOutcome

_RELEASE_NOTE = "meta.helm.sh/release-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What the deletion of a run leaves."""

    found: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    """Where there may be more that this machine cannot see, and why not."""
    last_checkpoint: str | None = None

    def sentences(self) -> str:
        """Return both for a question."""
        parts = [f"Kept: {'; '.join(self.found)}."] if self.found else []
        parts += [f"Not checked: {'; '.join(self.unchecked)}."] if self.unchecked else []
        return " ".join(parts) or "Nothing of it is stored outside of the cluster."


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What ``delete`` removed, and what it kept."""

    run_id: str
    removed: list[str]
    kept: Kept
    outcome: StopOutcome | None = None
    """How the driver ended that was asked to save; None if none was."""

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        status: dict[str, object] = {
            "state": "deleted",
            "pods": {},
            "last_checkpoint": self.kept.last_checkpoint,
            "problems": [],
        }
        outcome = {"outcome": self.outcome} if self.outcome else {}
        lists = {"removed": self.removed, "kept": self.kept.found, "unchecked": self.kept.unchecked}
        return {"run_id": self.run_id, **status, **outcome, **lists}

    def to_text(self) -> dict[str, object]:
        """Return the same for a person, without empty entries."""
        return {name: value for name, value in self.to_json().items() if value}


def kept_of(run: str, job: Object | None) -> Kept:
    """Return what is stored of a run; ``job``: its RayJob, or that from which it would be created again."""
    if job is None:
        return Kept()
    kept = Kept()
    results = results_id(job)
    checkpoint = _look_in_storage(kept, job, results)
    _look_in_mlflow(kept, job, results)
    if _RELEASE_NOTE in (job["metadata"].get("annotations") or {}):
        kept.found.append(
            "run.name in the chart's values: the next helm upgrade creates the run again unless it is empty"
        )
    return Kept(found=kept.found, unchecked=kept.unchecked, last_checkpoint=checkpoint)


def _look_in_storage(kept: Kept, job: Object, results: str | None) -> str | None:
    """Add the checkpoints of the run, and return the newest one."""
    address = setting(job, "storage.address").rstrip("/")
    if not address:
        return None
    if results is None:
        kept.unchecked.append(f"checkpoints and results in {address}: their id is not known")
        return None
    place = f"{address}/{results}"
    try:
        checkpoint = run_progress.last_checkpoint(job)
    except (OSError, ValueError) as error:
        kept.unchecked.append(f"checkpoints and results in {place}, if there are any ({first_line(error)})")
        return None
    if checkpoint is not None:
        kept.found.append(f"checkpoints and results in {place} (the newest: {checkpoint})")
    return checkpoint


def _look_in_mlflow(kept: Kept, job: Object, results: str | None) -> None:
    """Add the metrics of the run, if its head has an MLflow server."""
    of_run = environment(job, "MLFLOW_TRACKING_URI")
    here = os.environ.get("MLFLOW_TRACKING_URI", "")
    if not of_run and not here:
        return
    address = here or of_run
    told = "" if is_unclear(address) else f" ({without_credentials(address)})"
    what = f"metrics and reports of {results or 'the tournament'} in MLflow{told}"
    if results is None:
        kept.unchecked.append(f"{what}: their id is not known")
    elif not here:
        kept.unchecked.append(f"{what}, if there are any (MLFLOW_TRACKING_URI is not set here)")
    else:
        from suphx_platform.tracking.mlflow_store import MlflowStore

        try:
            is_there = MlflowStore(Path("runs")).find(results) is not None
        except Exception as error:  # noqa: BLE001 - whatever a client of MLflow raises, the rest is still worth showing
            kept.unchecked.append(f"{what}, if there are any ({first_line(error)})")
            return
        if is_there:
            kept.found.append(what)
