"""Files and their names on the disk itself, so that a power cut does not undo them."""

from __future__ import annotations

import os
from pathlib import Path

from suphx.atomic_file import sync


def make_folder(folder: Path) -> None:
    """Create a folder and those above it that are missing; the disk has the names of those that are new."""
    missing = []
    place = folder
    while not place.is_dir():
        missing.append(place)
        place = place.parent
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(missing):
        sync(each.parent)


def sync_tree(folder: Path) -> None:
    """Return when the disk has all files and folders below ``folder``."""
    for place, _, names in os.walk(folder):
        for name in names:
            sync(Path(place, name))
        sync(Path(place))
