"""The lock of a run's folder: one process works on a run at a time.

A POSIX lock, not flock: worker processes that outlive a killed run must not keep it.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK_FILE = "lock"
_FLOCK = "hhqqi4x"  # struct flock of Linux: type, whence, start, length, process


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the run in ``folder`` for this process; ValueError if another one has it."""
    with (folder / LOCK_FILE).open("a+", encoding="ascii") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise ValueError(f"{folder} is being run by process {owner}: wait for it, or stop it") from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def is_locked(folder: Path) -> bool:
    """Tell whether another process works on the run in ``folder``, without taking its lock."""
    try:
        with (folder / LOCK_FILE).open("rb") as file:
            asked = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
            answer = fcntl.fcntl(file, fcntl.F_GETLK, asked)
    except FileNotFoundError:
        return False
    return int(struct.unpack(_FLOCK, answer)[0]) != fcntl.F_UNLCK
