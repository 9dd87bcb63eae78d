"""Removing the folder of a run; files that other runs share with it through hard links stay whole there."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from suphx_pipelines.engine.stage_folder import DONE
from suphx_pipelines.runs.run_lock import LOCK_FILE, locked
from suphx_pipelines.runs.run_origin import ORIGIN_FOLDER, PROVENANCE_FILE
from suphx_pipelines.summary.run_summary import RUN_FILE

_MARKS = (RUN_FILE, f"{ORIGIN_FOLDER}/{PROVENANCE_FILE}")
"""Files that only the program writes: a run has at least one of them, and its lock."""


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
