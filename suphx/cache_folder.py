"""The cache folder: compiled kernels and lookup tables, computed once and shared by all processes of this user."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

_DAY = 24 * 3600.0


def cache_root() -> Path:
    """Return ``$SUPHX_CACHE``, else ``$XDG_CACHE_HOME/suphx``, else ``~/.cache/suphx``."""
    if own := os.environ.get("SUPHX_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "suphx"


def is_writable(folder: Path) -> bool:
    """Tell whether ``folder`` can be written, or made: it is, or its nearest parent that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def mark_used(folder: Path) -> None:
    """Make ``folder`` if it is missing and set its time of last use; at most one write a day.

    Raises OSError if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} is not writable")
    if time.time() - folder.stat().st_mtime > _DAY:
        os.utime(folder)


def remove_unused(parent: Path, max_days: float = 30) -> int:
    """Remove the folders in ``parent`` that no process has used for ``max_days``; return how many.

    Safe while other processes read and write there: a folder is renamed before its files are deleted, and a process
    that still wants it computes its content again.
    """
    removed = 0
    for folder in parent.iterdir() if parent.is_dir() else ():
        try:
            if time.time() - folder.stat().st_mtime < max_days * _DAY:
                continue
            doomed = folder if folder.suffix == ".removed" else folder.rename(f"{folder}.{os.getpid()}.removed")
        except OSError:  # another process removes it; Windows: or has a file of it open
            continue
        shutil.rmtree(doomed, ignore_errors=True)
        removed += 1
    return removed
