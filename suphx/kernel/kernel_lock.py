"""One process compiles a kernel; others that need it wait and load its code from the cache.

The lock is a file beside the code, which has the id of its holder's process. The system releases it when its holder
ends, even if that is killed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

watchers: list[Callable[[str, int], None]] = []
"""Called with the name of a kernel and the id of the process that compiles it (0: unknown) when this process begins to
wait for that one."""

_held: set[Path] = set()  # a recursive kernel asks for itself once more


@contextmanager
def sole_compiler(index: Path, name: str) -> Iterator[None]:
    """Hold the lock of the kernel whose code is listed in the file ``index``, if that file is missing.

    Kernels call each other without cycles, so processes never wait for each other in a circle. The caller must hold
    numba's compiler lock: two threads with a lock each would.
    """
    path = index.with_suffix(".lock")
    if index.exists() or path in _held:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(file)
            for watch in watchers:
                watch(name, holder)
            fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(OSError):  # a full disk is an error of whoever writes the code
            file.truncate(0)
            file.write(str(os.getpid()).encode())
        _held.add(path)
        try:
            yield
        finally:
            _held.discard(path)


def _holder(file: BinaryIO) -> int:
    file.seek(0)
    text = file.read()
    return int(text) if text.isdigit() else 0
