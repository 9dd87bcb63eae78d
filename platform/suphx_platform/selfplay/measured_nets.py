"""The nets of self-play as they were when a match began, until the match has measured them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx_platform.storage.linked_copy import copy_linked

KeepBest = Callable[[int, Path, float], None]
"""Gets updates, a folder of nets and their strength, larger is better; takes the folder as it is at once."""
_FOLDER, _NEWEST = ".measured", "newest"


class MeasuredNets:
    """Consumes: nets in a folder, results of matches. Produces: calls of ``keep`` with nets and their strength.

    The copies are hard links, in a folder that begins with a dot and is no part of the saved state: a match that was
    under way when the process was killed is lost, and so are its copies.
    """

    def __init__(self, folder: Path, keep: KeepBest) -> None:
        self._folder = folder
        self._place = folder / _FOLDER
        self._keep = keep
        self._noted = set[int]()
        shutil.rmtree(self._place, ignore_errors=True)

    def note(self, updates: int) -> None:
        """Copy the nets in the folder, with which matches begin now."""
        copy = self._place / str(updates)
        if not copy.is_dir():
            copy_linked(self._folder, copy, *self._others())
        self._noted.add(updates)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Pass on the nets of a match against the initial nets; ``entry`` as of SelfPlayMatches."""
        measured = self._place / str(entry["updates"])
        if (entry["opponent"], entry["policy"]) != ("start", "argmax") or not measured.is_dir():
            return
        newest = self._place / _NEWEST
        for path in newest.glob("*.safetensors"):  # before they are linked again: uploads still have the files
            path.unlink()
        copy_linked(measured, newest)
        shutil.rmtree(measured)
        self._keep(int(entry["updates"]), newest, -float(entry["difference"]))

    def keep_only(self, updates: Collection[int]) -> None:
        """Remove the copies of all but ``updates``: the matches that would have measured them were lost."""
        for number in self._noted.difference(updates):
            shutil.rmtree(self._place / str(number), ignore_errors=True)
        self._noted.intersection_update(updates)

    def _others(self) -> list[str]:
        """Return what is in the folder besides the nets."""
        nets = checkpoint_names()
        return [path.name for path in self._folder.iterdir() if path.name not in nets]
