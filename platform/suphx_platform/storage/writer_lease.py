"""One writer at a time: of the processes that store versions of one name, the one whose first save came last goes on.

Each writer takes the next **epoch** with a small object that must not exist yet: ``<name>/.writers/000007``. A writer
that finds a higher epoch than its own has been replaced, such as an old head of a cluster that is still alive while a
new one works.
"""

from __future__ import annotations

import re
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from suphx.growing_pause import GrowingPause
from suphx_platform.storage.objects import DamagedObjectError, read_parsed

if TYPE_CHECKING:
    from suphx_platform.storage.bucket import ObjectStore

_MAX_ATTEMPTS, _FIRST_PAUSE, _LONGEST_PAUSE = 20, 0.05, 2.0
"""To take an epoch, and the seconds between two attempts."""
_CONTENT = re.compile(rb"[0-9a-f]{32}")


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
        content, epoch, pause = uuid.uuid4().hex.encode(), 0, GrowingPause(_FIRST_PAUSE, _LONGEST_PAUSE)
        for _ in range(_MAX_ATTEMPTS):
            before = self._marks(name)
            epoch = 1 + max((epoch, *map(_epoch, before)))  # a listing may lack the one that was in the way
            try:
                self._store.put_new(_mark(name, epoch), content)
            except FileExistsError:  # another process was faster: come after it
                time.sleep(pause.next())
                continue
            if epoch > self._mine.get(name, (0, b""))[0]:  # a save that was given up may come late
                self._mine[name] = epoch, content
            with suppress(PermissionError):  # marks of earlier writers do no harm: the highest epoch counts
                self._store.delete(before)
            return
        raise OSError(
            f"{self._address}/{_mark(name, epoch)}: the storage says that this new mark and {_MAX_ATTEMPTS - 1} "
            "others exist already: check the server, and caches before it"
        )

    def check(self, name: str) -> None:
        """FileExistsError if another process has become the writer of ``name`` since.

        The other process may have our epoch, if our mark was removed before. OSError if our mark cannot be read: only
        a whole mark says that there is another writer.
        """
        epoch, content = self._mine[name]
        last = max(map(_epoch, self._marks(name)), default=0)  # a listing may lack our own mark
        key, found = _mark(name, epoch), None
        try:
            found = read_parsed(self._store.get, key, _whole)
        except FileNotFoundError:  # a later writer has removed it
            pass
        except (ValueError, DamagedObjectError) as error:
            reason = "the mark of the writer cannot be read; check the server's log, and proxies before it"
            raise OSError(f"{self._address}/{key}: {reason}") from error
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


def _whole(content: bytes) -> bytes:
    """Return the content of a mark; ValueError for anything else, such as a part of one or the page of a proxy."""
    if not _CONTENT.fullmatch(content):
        raise ValueError("this is no mark of a writer")
    return content
