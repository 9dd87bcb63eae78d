"""The runs in a folder of runs: listed from what they leave there, stopped by a signal to their process, and deleted.

>>> for entry in list_runs(Path("runs")):
...     print(entry.run_id, entry.state, entry.verdict)
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from suphx.suggestion import did_you_mean
from suphx_pipelines.recipe.recipe_file import flatten, read_toml
from suphx_pipelines.runs.run_lock import LOCK_FILE, holder, is_locked, locked
from suphx_pipelines.runs.run_origin import ORIGIN_FOLDER, PROVENANCE_FILE, RECIPE_FILE
from suphx_pipelines.runs.run_summary import RUN_FILE, RunState, RunSummary
from suphx_pipelines.runs.stage_folder import DONE, REPORT_NAME
from suphx_platform.cluster.run_attempts import StopOutcome

EntryState = RunState | Literal["damaged"]
REPORT_FOLDER = "report"
_POLL_SECONDS = 0.1
_OUTCOMES: Mapping[RunState, StopOutcome] = {"interrupted": "saved", "finished": "finished", "failed": "failed"}
_MARKS = (RUN_FILE, f"{ORIGIN_FOLDER}/{PROVENANCE_FILE}")
"""Files that only the program writes: a run has at least one of them, and its lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """A run, as its folder shows it."""

    folder: Path
    state: EntryState
    """``running`` only while a process holds the run's lock; ``damaged`` if a file of the run cannot be read."""
    summary: RunSummary
    """``run.json``. Of a damaged run: since when, and which file is damaged."""

    @property
    def run_id(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def report(self) -> Path | None:
        """The report; None if the run has not written one."""
        path = self.folder / REPORT_FOLDER / REPORT_NAME
        return path if path.is_file() else None

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read."""
        shown = {key: getattr(self.summary, key) for key in ("verdict", "started", "seconds", "error")}
        return {"run_id": self.run_id, "recipe": self.summary.recipe, "state": self.state, **shown}

    def settings(self) -> dict[str, Any]:
        """Return all keys of the run's recipe, ``a.b``; ValueError if its file is damaged."""
        try:
            return flatten(read_toml(self.folder / RECIPE_FILE))
        except ValueError as error:
            raise ValueError(f"the run is damaged: {error}") from error

    def metrics(self) -> dict[str, dict[str, float]]:
        """Return the metrics of the finished stages, stage name -> metric -> value, in the order of the stages."""
        return {name: stage.metrics for name, stage in self.summary.stages.items() if stage.metrics}


def list_runs(runs: Path) -> list[RunEntry]:
    """Return all runs in the folder ``runs``, also damaged ones, newest first; ValueError without the folder."""
    if not runs.is_dir():
        raise ValueError(f"{runs}: no such folder of runs: name yours with --runs DIR, or start one with `suphx run`")
    entries = []
    for folder in filter(_is_run, sorted(runs.iterdir())):
        with suppress(FileNotFoundError):  # it is deleted at this very moment
            entries.append(run_entry(folder))

    def start(entry: RunEntry) -> datetime:
        started = datetime.min  # also of a time that nobody can read
        with suppress(ValueError):
            started = datetime.fromisoformat(entry.summary.started)
        return started if started.tzinfo else started.replace(tzinfo=UTC)

    return sorted(entries, key=start, reverse=True)


def run_ids(runs: Path) -> list[str]:
    """Return the ids of all runs in the folder ``runs``, by name, without reading them; none without such a folder."""
    return [folder.name for folder in filter(_is_run, sorted(runs.iterdir()))] if runs.is_dir() else []


def find_run(runs: Path, name: str) -> RunEntry:
    """Return the run called ``name``, or the one in the folder ``name``; ValueError if it is missing or damaged."""
    return read_run(find_run_folder(runs, name))


def find_run_folder(runs: Path, name: str) -> Path:
    """Return the folder of the run called ``name``, or ``name``; ValueError with the closest name if it is no run."""
    places = (runs / name, Path(name)) if name else ()
    for folder in filter(_is_run, places):
        return folder if folder.name not in ("", "..") else folder.resolve()
    entries = [entry.run_id for entry in list_runs(runs)]
    there = next(filter(Path.is_dir, places), None)
    if there is None:
        what = f"{name}: no such run in {runs}"
    elif (there / LOCK_FILE).is_file():
        what = f"{there} is not a run yet, as its command ended too early (you can remove the folder)"
    else:
        what = f"{there} is not a run, as no command of suphx wrote it"
    hint = did_you_mean(name, entries)
    raise ValueError(f"{what}{f': {hint}' if hint else '; '}`suphx runs list` shows all")


def run_entry(folder: Path) -> RunEntry:
    """Return the run in ``folder``, with the state ``damaged`` and what is wrong if it cannot be read."""
    try:
        return read_run(folder)
    except (ValueError, OSError) as error:
        return RunEntry(folder=folder, state="damaged", summary=_unwritten(folder, folder, error=str(error)))


def read_run(folder: Path) -> RunEntry:
    """Return the run in ``folder``; ValueError names a file in it that is damaged."""
    summary, is_running = RunSummary.read(folder), is_locked(folder)
    if summary is None:
        path = folder / RECIPE_FILE
        summary = _unwritten(folder, path, recipe=str(read_toml(path).get("name", folder.name)))
    was_killed = summary.state == "running" and not is_running
    state: EntryState = "running" if is_running else "interrupted" if was_killed else summary.state
    return RunEntry(folder=folder, state=state, summary=summary)


def _unwritten(folder: Path, oldest: Path, recipe: str = "", error: str | None = None) -> RunSummary:
    """Return the summary of a run that has none, begun when the file ``oldest`` was written."""
    started = datetime.fromtimestamp(oldest.stat().st_mtime).astimezone().isoformat(timespec="seconds")
    return RunSummary(run_id=folder.name, recipe=recipe, command=[], state="running", started=started, error=error)


def _is_run(folder: Path) -> bool:
    """Tell whether the program wrote into the folder; a recipe alone is a file that users have too.

    A folder that may not be read, such as ``lost+found``, is none.
    """
    marks = (LOCK_FILE, f"{ORIGIN_FOLDER}/{PROVENANCE_FILE}")
    try:
        has_recipe = (folder / RECIPE_FILE).is_file()
        return (folder / RUN_FILE).is_file() or (has_recipe and any((folder / mark).is_file() for mark in marks))
    except PermissionError:
        return False


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
    """Remove the run in ``folder``, also if that is a link; ValueError if it is no run, or a process works on it.

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
