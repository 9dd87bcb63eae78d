"""One writer at a time: of the processes that store versions of one name, the one whose first save came last continues.

Each writer takes the next **epoch** with a small object that must not exist yet: ``<name>/.writers/000007``. A writer
that finds a higher epoch than its own has been replaced, such as an old head of a cluster that is still alive while a
new one works.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress

from suphx.growing_pause import GrowingPause
from suphx_platform.storage.objects import ObjectStore

_MAX_ATTEMPTS, _FIRST_PAUSE, _LONGEST_PAUSE = 20, 0.05, 2.0
"""To take an epoch, and the seconds between two attempts."""


class WriterLease:
    """The epochs that one process has taken, by name."""

    def __init__(self, store: ObjectStore, address: str) -> None:
        self._store = store
        self._address = address
        self._mine: dict[str, tuple[int, bytes]] = {}
        """Epoch, and what this process has written into its mark, by name."""

    def take(self, name: str) -> None:
        """Become the writer of ``name``; FileExistsError if another process has replaced this one as its writer."""
        if name in self._mine:
            self.check(name)
            return
        content, pause = uuid.uuid4().hex.encode(), GrowingPause(_FIRST_PAUSE, _LONGEST_PAUSE)
        for _ in range(_MAX_ATTEMPTS):
            before = self._marks(name)
            epoch = 1 + max(map(_epoch, before), default=0)
            try:
                self._store.put_new(_mark(name, epoch), content)
            except FileExistsError:  # another process was faster: come after it
                time.sleep(pause.next())
                continue
            self._mine[name] = epoch, content
            with suppress(PermissionError):  # marks of earlier writers do no harm: the highest epoch counts
                self._store.delete(before)
            return
        raise OSError(f"{self._address}/{name}: other writers were faster {_MAX_ATTEMPTS} times")

    def check(self, name: str) -> None:
        """FileExistsError if another process has become the writer of ``name`` since.

        The other process may have our epoch, if our mark was removed before.
        """
        epoch, content = self._mine[name]
        last = max(map(_epoch, self._marks(name)), default=0)
        found = None
        with suppress(FileNotFoundError):  # a later writer has removed it
            found = self._store.get(_mark(name, epoch))
        if last > epoch or found != content:
            raise FileExistsError(
                f"{self._address}/{name} has another writer since this one began: let only one of them work on {name}"
            )

    def forget(self, name: str) -> None:
        """Remove all marks of a name whose versions are removed."""
        self._store.delete(self._marks(name))
        self._mine.pop(name, None)

    def _marks(self, name: str) -> list[str]:
        return self._store.keys(f"{name}/.writers/")


def _mark(name: str, epoch: int) -> str:
    return f"{name}/.writers/{epoch:06}"


def _epoch(mark: str) -> int:
    text = mark.rpartition("/")[2]
    return int(text) if text.isascii() and text.isdigit() else 0
