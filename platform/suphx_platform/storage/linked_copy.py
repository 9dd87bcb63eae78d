"""Copies of folders that cost no room: hard links where the disk allows.

Safe for files that are replaced as a whole (written under another name, then renamed), as all of ours are; a file that
is changed in place changes in the copy too.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def copy_linked(source: Path, target: Path, *leave_out: str) -> None:
    """Give ``target``, which may exist, the files and folders of ``source`` except those that match a pattern."""
    ignore = shutil.ignore_patterns(*leave_out)
    shutil.copytree(source, target, copy_function=_link_or_copy, ignore=ignore, dirs_exist_ok=True)


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        shutil.copy2(source, target)
    return target
