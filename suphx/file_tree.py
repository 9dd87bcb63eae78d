"""The files of a folder and of all folders in it, also of those that are links."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def files_below(folder: Path) -> list[Path]:
    """Return the files of ``folder`` and its subfolders, in order; each begins with ``folder``.

    Files and folders whose names begin with a dot do not count: desktops and editors leave them. A folder that is
    reached twice, through links, counts once.
    """
    return sorted(_walk(folder))


def has_files_below(folder: Path) -> bool:
    """Tell whether `files_below` finds any, without looking for the others."""
    return any(_walk(folder))


def _walk(folder: Path) -> Iterator[Path]:
    reached: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in reached:
            folders.clear()
            continue
        reached.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = (Path(place, name) for name in names if not name.startswith("."))
        yield from (file for file in files if file.is_file())
