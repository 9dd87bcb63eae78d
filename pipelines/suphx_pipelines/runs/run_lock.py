"""The lock of a run's folder: one process works on a run at a time.

A POSIX lock, not flock: worker processes that outlive a killed run must not keep it.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from filelock import lock_descriptor

if sys.platform != "win32":
    import fcntl

LOCK_FILE = "lock"
# struct flock: type, whence, start, length, process; elsewhere than on Linux start, length, process, type, whence.
_FLOCK, _TYPE, _PROCESS = ("hhqqi4x", 0, 4) if sys.platform == "linux" else ("qqihh", 3, 2)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the run in ``folder`` for this process; ValueError if another one has it, or if it cannot be locked."""
    with (folder / LOCK_FILE).open("a+", encoding="ascii") as file:
        try:
            is_taken = _take(file)
        except OSError as error:
            raise ValueError(
                f"{folder} cannot be locked ({error.strerror}): with --runs, name a folder on a file system that has "
                "POSIX locks"
            ) from error
        if not is_taken:
            raise _held(folder)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _take(file: IO[Any]) -> bool:
    """Lock a file unless another process has."""
    if sys.platform == "win32":
        return lock_descriptor(file.fileno(), blocking=False)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise
        return False
    return True


def check_free(folder: Path) -> None:
    """Raise ValueError if another process works on the run in ``folder``; as ``is_locked``, never for an own run."""
    is_free = True
    with suppress(OSError):  # such as of a file system without locks: ``locked`` says so
        is_free = not is_locked(folder)
    if not is_free:
        raise _held(folder)


def _held(folder: Path) -> ValueError:
    owner = "unknown"
    with suppress(OSError):  # Windows lets nobody else read what is locked
        owner = (folder / LOCK_FILE).read_text(encoding="ascii").strip() or owner
    return ValueError(
        f"{folder} is being run by process {owner}: wait for it, or stop it with suphx runs stop {folder.name}"
    )


def is_locked(folder: Path) -> bool:
    """Tell whether another process works on the run in ``folder``, without taking its lock.

    Never call it for a run that this process holds: closing the file would release the lock (POSIX).
    """
    return _lock_of(folder) is not None


def holder(folder: Path) -> int | None:
    """Return the number of the process of this machine, or of this pod, that works on the run in ``folder``.

    None if there is none: a process of another machine or pod, which the file system also knows, has no number here.
    """
    process = _lock_of(folder)
    return process if process is not None and process > 0 else None


def _lock_of(folder: Path) -> int | None:
    """Return what the kernel says of who has the lock: a process, or a number below 1; None if nobody has it."""
    try:
        with (folder / LOCK_FILE).open("r+b" if sys.platform == "win32" else "rb") as file:
            if sys.platform == "win32":
                return None if _take(file) else 0
            fields = [0] * 5
            fields[_TYPE] = fcntl.F_RDLCK
            answer = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_FLOCK, *fields)))
    except FileNotFoundError:
        return None
    return None if answer[_TYPE] == fcntl.F_UNLCK else int(answer[_PROCESS])
