"""The runs in a folder of runs: listed from what they leave there, stopped by a signal to their process, and deleted.

>>> for run in list_runs(Path("runs")):
...     print(run.run_id, run.state, run.verdict)
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from suphx.suggestion import did_you_mean
from suphx_pipelines.recipe.recipe_file import read_toml
from suphx_pipelines.runs.run_lock import LOCK_FILE, holder, is_locked, locked
from suphx_pipelines.runs.run_origin import ORIGIN_FOLDER, PROVENANCE_FILE, RECIPE_FILE
from suphx_pipelines.runs.run_summary import RUN_FILE, RunState, RunSummary
from suphx_pipelines.runs.stage_folder import DONE
from suphx_platform.cluster.run_attempts import StopOutcome

SWEEP_FILE = "sweep.json"
"""In the folder of a sweep (sweep.py), which is beside those of its runs."""
_POLL_SECONDS = 0.1
_OUTCOMES: Mapping[RunState, StopOutcome] = {"interrupted": "saved", "finished": "finished", "failed": "failed"}
_MARKS = (RUN_FILE, f"{ORIGIN_FOLDER}/{PROVENANCE_FILE}")
"""Files that only the program writes: a run has at least one of them, and its lock."""


def list_runs(runs: Path) -> list[RunSummary]:
    """Return all runs in the folder ``runs``, also damaged ones, newest first; ValueError without the folder."""
    if not runs.is_dir():
        raise ValueError(f"{runs}: no such folder of runs: name yours with --runs DIR, or start one with `suphx run`")
    found = []
    for folder in filter(_is_run, sorted(runs.iterdir())):
        with suppress(FileNotFoundError):  # it is deleted at this very moment
            found.append(run_entry(folder))

    def start(run: RunSummary) -> datetime:
        started = datetime.min  # also of a time that nobody can read
        with suppress(ValueError):
            started = datetime.fromisoformat(run.started)
        return started if started.tzinfo else started.replace(tzinfo=UTC)

    return sorted(found, key=start, reverse=True)


def run_ids(runs: Path) -> list[str]:
    """Return the ids of all runs in the folder ``runs``, by name, without reading them; none without such a folder."""
    return [folder.name for folder in filter(_is_run, sorted(runs.iterdir()))] if runs.is_dir() else []


def find_run(runs: Path, name: str) -> RunSummary:
    """Return the run called ``name``, or the one in the folder ``name``; ValueError if it is missing or damaged."""
    return read_run(find_run_folder(runs, name))


def find_run_folder(runs: Path, name: str) -> Path:
    """Return the folder of the run called ``name``, or ``name``; ValueError with the closest name if there is none."""
    places = (runs / name, Path(name)) if name else ()
    for folder in filter(_is_run, places):
        return folder if folder.name not in ("", "..") else folder.resolve()
    entries = [entry.run_id for entry in list_runs(runs)]
    there = next(filter(Path.is_dir, places), None)
    if there is None:
        what = f"{name}: no such run in {runs}"
    elif (there / SWEEP_FILE).is_file():
        what = f"{there} is a sweep, and not one of its runs"
    elif (there / LOCK_FILE).is_file():
        what = f"{there} is not a run yet, as its command ended too early (you can remove the folder)"
    else:
        what = f"{there} is not a run, as no command of suphx wrote it"
    hint = did_you_mean(name, entries)
    raise ValueError(f"{what}{f': {hint}' if hint else '; '}`suphx runs list` shows all")


def run_entry(folder: Path) -> RunSummary:
    """Return the run in ``folder``, with the state ``damaged`` and what is wrong if it cannot be read."""
    try:
        return read_run(folder)
    except (ValueError, OSError) as error:
        return _unwritten(folder, folder, state="damaged", error=str(error))


def read_run(folder: Path) -> RunSummary:
    """Return the run in ``folder``; ValueError names a file in it that is damaged.

    Its state is ``running`` only while a process holds its lock.
    """
    run = RunSummary.read(folder)
    if run is None:
        path = folder / RECIPE_FILE
        run = _unwritten(folder, path, recipe=str(read_toml(path).get("name", folder.name)))
    run.run_id = folder.name
    if is_locked(folder):
        run.state = "running"
    elif run.state == "running":  # it was killed
        run.state = "interrupted"
    return run


def _unwritten(folder: Path, oldest: Path, **known: Any) -> RunSummary:
    """Return the summary of a run that has none, begun when the file ``oldest`` was written."""
    started = datetime.fromtimestamp(oldest.stat().st_mtime).astimezone().isoformat(timespec="seconds")
    values = {"recipe": "", "state": "running", **known}
    return RunSummary(folder=folder, run_id=folder.name, command=[], started=started, **values)


def _is_run(folder: Path) -> bool:
    """Tell whether the program wrote into the folder; a recipe alone is a file that users have too.

    A folder that may not be read, such as ``lost+found``, is none.
    """
    try:
        has = {mark: (folder / mark).is_file() for mark in (RECIPE_FILE, LOCK_FILE, *_MARKS)}
    except PermissionError:
        return False
    return has[RUN_FILE] or (has[RECIPE_FILE] and (has[LOCK_FILE] or has[_MARKS[1]]))


def stop_run(folder: Path, *, seconds: float) -> StopOutcome | None:
    """Ask the process that works on the run in ``folder`` to save and end, and wait for that; None if there is none.

    ``seconds``: how long it may take. If it has not saved then, ``unsaved`` is returned and the process continues; one
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

    ``still_running``: if nobody has written how the run ended; ``before_work``: if the state is that of an earlier
    command, as the process still waits for MLflow and has done nothing.
    """
    summary = RunSummary.read(folder)
    # run.json is written after the lock is taken
    if summary is None or (folder / RUN_FILE).stat().st_mtime_ns < (folder / LOCK_FILE).stat().st_mtime_ns:
        return before_work
    return _OUTCOMES.get(summary.state, still_running)


def freed_bytes(folder: Path) -> int:
    """Return how much disk space removing ``folder`` frees: files with links elsewhere do not count."""
    sizes = []
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # it is removed at this very moment
                status = Path(place, name).lstat()
                sizes.append(status.st_size if status.st_nlink == 1 else 0)
    return sum(sizes)


def check_is_run(folder: Path) -> None:
    """Raise ValueError unless ``folder`` has what the program writes into the folder of a run."""
    if not (folder / LOCK_FILE).is_file() or not any((folder / mark).is_file() for mark in _MARKS):
        raise ValueError(
            f"{folder} is not a run: it has no {LOCK_FILE} with {' or '.join(_MARKS)}, which `suphx run` writes; "
            "remove the folder yourself if you do not need it; nothing was deleted"
        )


def delete_run(folder: Path) -> None:
    """Remove the run in ``folder``, also if that is a link; ValueError if it is not a run, or a process works on it.

    The marks of finished stages go first, so that no other run takes the result of a stage that is half removed.
    """
    check_is_run(folder)
    target = folder.resolve()
    with locked(target):
        for done in list(target.rglob(DONE)):
            done.unlink()
        shutil.rmtree(target)
    if folder.is_symlink():
        folder.unlink()
