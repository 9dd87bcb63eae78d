"""Output whose reader has gone, as with ``suphx … | head -1`` or a closed terminal: the command ends in silence."""

from __future__ import annotations

import errno
import os
import select
import sys
from typing import TextIO


def is_lost_output(error: BaseException) -> bool:
    """Return whether ``error`` comes from printing to a pipe that nobody reads any more, or to a closed terminal."""
    return isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.EIO) and has_closed_output()


def has_closed_output() -> bool:
    """Return whether stdout or stderr is a pipe that nobody reads any more, or a closed terminal."""
    return any(_is_closed(stream) for stream in (sys.stdout, sys.stderr))


def silence_output() -> None:
    """Send what is still to be printed nowhere, so that Python's last flush does not fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if _is_closed(stream):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _is_closed(stream: TextIO) -> bool:
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # no file behind it, as in tests
        return False
    poll = select.poll()
    poll.register(number, 0)  # errors are reported without being asked for
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
