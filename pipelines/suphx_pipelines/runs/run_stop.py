"""Stopping a run that another process of this machine works on: SIGTERM to the holder of the run's lock.

>>> stop_run(Path("runs/laptop-1f2e3d4c5b"), seconds=600)
'saved'

The process saves, stores, writes the state of the run into ``run.json`` and lets the lock go: nothing else is needed to
know how it ended.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from suphx_pipelines.runs.run_lock import LOCK_FILE, holder
from suphx_pipelines.summary.run_summary import RUN_FILE, RunState, RunSummary
from suphx_platform.cluster.stop_report import StopOutcome

_POLL_SECONDS = 0.1
_OUTCOMES: Mapping[RunState, StopOutcome] = {
    "interrupted": "saved",
    "finished": "finished",
    "failed": "failed",
}


def stop_run(folder: Path, *, seconds: float) -> StopOutcome | None:
    """Ask the process that works on the run in ``folder`` to save and end, and wait for that; None if there is none.

    ``seconds``: how long it may take. If it has not saved then, ``unsaved`` is returned and the process goes on; one
    that has saved may still be sending messages to MLflow. ValueError if the process is another user's.
    """
    process = holder(folder)
    if process is None:
        return None
    ends_at = time.monotonic() + seconds
    try:
        os.kill(process, signal.SIGTERM)
    except ProcessLookupError:  # it has ended by itself
        pass
    except PermissionError as error:
        raise ValueError(
            f"{folder.name} is run by process {process} of another user: stop it as that user, or as root"
        ) from error
    while holder(folder) == process:
        if time.monotonic() >= ends_at:
            return _outcome(folder, "unsaved", before_work="unsaved")
        time.sleep(_POLL_SECONDS)
    return _outcome(folder, "killed", before_work="saved")


def held_runs(runs: Path) -> list[Path]:
    """Return the folders of the runs in ``runs`` on which processes of this machine, or of this pod, work."""
    folders = sorted(path.parent for path in runs.glob(f"*/{LOCK_FILE}"))
    return [folder for folder in folders if holder(folder) is not None]


def _outcome(folder: Path, still_running: StopOutcome, *, before_work: StopOutcome) -> StopOutcome:
    """Return what the run's state says.

    ``still_running``: what it means that nobody has written how the run ended; ``before_work``: that the state is that
    of an earlier command, as the process still waits for MLflow and has done nothing.
    """
    summary = RunSummary.read(folder)
    if summary is None:
        return before_work
    if (folder / RUN_FILE).stat().st_mtime_ns < (folder / LOCK_FILE).stat().st_mtime_ns:  # written when it is taken
        return before_work
    return _OUTCOMES.get(summary.state, still_running)
