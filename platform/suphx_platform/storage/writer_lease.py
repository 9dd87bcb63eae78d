"""One writer at a time: of the processes that store versions of one name, the one whose first save came last may go on.

Each writer takes the next **epoch** with a small object that must not exist yet: ``<name>/.writers/000007``. A
writer that finds a higher one than its own has been replaced, as an old head of a cluster that still lives while a new
one works.
"""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from contextlib import suppress

from suphx_platform.storage.objects.object_store import ObjectStore

_FOLDER = ".writers"
_DIGITS = 6


class WriterLease:
    """The epochs that one process has taken, by name."""

    def __init__(self, store: ObjectStore, address: str) -> None:
        self._store = store
        self._address = address
        self._epochs: dict[str, int] = {}
        self._mine: dict[str, bytes] = {}
        """What this process has written into its objects, by name."""

    def take(self, name: str) -> None:
        """Become the writer of ``name``; FileExistsError if this process was it and another one has become it since."""
        if name in self._epochs:
            self.check(name)
            return
        me = {"host": socket.gethostname(), "process": os.getpid(), "time": time.time(), "id": uuid.uuid4().hex}
        text = json.dumps(me).encode()
        while True:
            before = self._taken(name)
            epoch = 1 + max(map(_epoch, before), default=0)
            try:
                self._store.put_new(self._key(name, epoch), text)
            except FileExistsError:  # another one was faster: come after it
                continue
            self._epochs[name], self._mine[name] = epoch, text
            with suppress(PermissionError):  # marks of earlier writers do no harm: the highest epoch counts
                self._store.delete(before)
            return

    def check(self, name: str) -> None:
        """FileExistsError if another process has become the writer of ``name`` since.

        Its epoch may be ours again, if ``forget`` has removed our mark before.
        """
        taken, mine = self._taken(name), self._key(name, self._epochs[name])
        is_last = mine in taken and max(map(_epoch, taken)) == self._epochs[name]
        if not is_last or self._content(mine) != self._mine[name]:
            raise FileExistsError(
                f"{self._address}/{name} has another writer since this one began: let only one of them work on {name}"
            )

    def forget(self, name: str) -> None:
        """Remove all marks of a name whose versions are removed."""
        self._store.delete(self._taken(name))
        self._epochs.pop(name, None)
        self._mine.pop(name, None)

    def _content(self, key: str) -> bytes | None:
        """Return what is in a mark; None if a later writer has just removed it."""
        try:
            return self._store.get(key)
        except FileNotFoundError:
            return None

    def _key(self, name: str, epoch: int) -> str:
        return f"{name}/{_FOLDER}/{epoch:0{_DIGITS}}"

    def _taken(self, name: str) -> list[str]:
        return self._store.keys(f"{name}/{_FOLDER}/")


def _epoch(key: str) -> int:
    text = key.rpartition("/")[2]
    return int(text) if text.isascii() and text.isdigit() else 0
