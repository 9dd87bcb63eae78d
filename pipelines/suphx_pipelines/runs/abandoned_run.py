"""Runs whose process was killed: MLflow shows them as running until somebody corrects that."""

from __future__ import annotations

import logging
from pathlib import Path

from suphx_pipelines.runs.run_lock import LOCK_FILE, is_locked
from suphx_pipelines.summary.run_page import description
from suphx_pipelines.summary.run_summary import RunSummary
from suphx_platform.tracking.client.mlflow_call import TrackingError
from suphx_platform.tracking.tracking import TrackingStore

_KILLED = "KILLED"
_STATUSES = {"finished": "FINISHED", "failed": "FAILED"}
"""State of a run that had ended, but could not say so any more -> its status in MLflow."""

_logger = logging.getLogger(__name__)


def end_abandoned(runs: Path, store: TrackingStore) -> list[str]:
    """Mark runs that MLflow shows as running, but that have no process, as killed; return their names.

    Those that had ended when they were killed get the status of their end. Only runs of this folder are changed.
    TrackingError if MLflow does not answer.
    """
    abandoned = []
    for name in store.running():
        folder = runs / name
        if not (folder / LOCK_FILE).is_file() or is_locked(folder):
            continue
        try:
            store.send_left(name)
            summary = RunSummary.read(folder)
        except TrackingError:
            raise
        except (ValueError, OSError) as error:  # a damaged run: the others are shown all the same
            _logger.warning("%s: %s", name, error)
            summary = None
        if summary is not None and summary.state == "running":
            summary.state = "interrupted"
        status = _STATUSES.get(summary.state, _KILLED) if summary else _KILLED
        store.kill(name, description(summary, folder) if summary else None, status=status)
        abandoned.append(name)
    return abandoned
