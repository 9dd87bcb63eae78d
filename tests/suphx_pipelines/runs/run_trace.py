"""What a run leaves behind: its work, its files, and its runs in the tracking store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from suphx_platform.tracking.mlflow_store import EXPERIMENT
from suphx_platform.tracking.tracking import TrackingStore


def work(folder: Path) -> Counter[str]:
    """Return how often each piece of work was done, as the stages of small_run.py note it."""
    return Counter((folder / "work.log").read_text().splitlines())


def tracked_runs(runs: Path) -> list[tuple[str, str, bool]]:
    """Return name, status and whether it is nested, of every run in the store."""
    client = TrackingStore(runs).client
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id])
    return sorted((run.info.run_name, run.info.status, "mlflow.parentRunId" in run.data.tags) for run in found)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file but the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
