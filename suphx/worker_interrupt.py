"""Ctrl-C reaches every process of a terminal: only the first one reports it, its workers end in silence.

A worker takes seconds to import its modules. Until it can choose what Ctrl-C does, the signal is blocked in it, as the
process that starts it blocks the signal at that moment and a new process inherits that.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def starting_workers() -> Iterator[None]:
    """Block Ctrl-C while the block starts processes: they inherit that; a Ctrl-C meanwhile comes at its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_at_interrupt() -> None:
    """Let Ctrl-C end this worker at once and without a traceback, also in the middle of C code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
