"""One process compiles a kernel; others that need it wait and load its code from the cache.

The lock is a file beside the code. The system releases it when its holder ends, even if that is killed.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

watchers: list[Callable[[str], None]] = []
"""Called with the name of a kernel when this process begins to wait for another one that compiles it."""

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
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            for watch in watchers:
                watch(name)
            fcntl.flock(file, fcntl.LOCK_EX)
        _held.add(path)
        try:
            yield
        finally:
            _held.discard(path)
