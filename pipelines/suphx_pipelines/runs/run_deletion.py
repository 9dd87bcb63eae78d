"""Removing the folder of a run; files that other runs share with it through hard links stay whole there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from suphx_pipelines.engine.stage_folder import DONE
from suphx_pipelines.runs.run_lock import locked


def freed_bytes(folder: Path) -> int:
    """Return how much disk space removing ``folder`` frees: files with links elsewhere do not count."""
    return sum(status.st_size for status in map(Path.lstat, _files(folder)) if status.st_nlink == 1)


def delete_run(folder: Path) -> None:
    """Remove the run in ``folder``; ValueError if a process works on it.

    The marks of finished stages go first, so that no other run takes the result of a stage that is half removed.
    """
    with locked(folder):
        for done in list(folder.rglob(DONE)):
            done.unlink()
        shutil.rmtree(folder)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())
