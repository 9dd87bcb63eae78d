"""Ends worker processes with the process that started them, and says what to do if one of them has died.

Ctrl-C reaches every process of a terminal: only the first one reports it, its workers end in silence. If the first one
is killed, its workers would wait for work for ever.

A worker takes seconds to import its modules. Until it can choose what Ctrl-C does, the signal is blocked in it, as the
process that starts it blocks the signal at that moment and a new process inherits that.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager


class WorkerDiedError(Exception):
    """A worker process has ended."""


@contextmanager
def worker_deaths(remedy: str) -> Iterator[None]:
    """Raise WorkerDiedError if a process of a ProcessPoolExecutor has died inside the block; ``remedy``: what to do."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkerDiedError(f"a worker process died, most likely for lack of memory: {remedy}") from error


@contextmanager
def starting_workers() -> Iterator[None]:
    """Block Ctrl-C while the block starts processes: they inherit that; a Ctrl-C meanwhile comes at its end."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows: workers may print a traceback
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def become_worker() -> None:
    """Let Ctrl-C end this worker at once and without a traceback, also in the middle of C code; `end_with_parent`."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def end_with_parent() -> None:
    """Let this process end when the one that started it does, even if that was killed; RuntimeError in a first one."""
    parent = multiprocessing.parent_process()
    if parent is None:
        raise RuntimeError("multiprocessing did not start this process: it has no parent to end with")
    threading.Thread(target=_exit_after, args=(parent.join,), daemon=True).start()


def _exit_after(wait: Callable[[], object]) -> None:
    wait()
    os._exit(1)
