"""What a head pod does before it ends: the run's driver gets SIGTERM, saves, stores and ends, then Ray may go.

The chart has it as the ``preStop`` of heads: without it a drained node would cost what was learned since the last save,
as the pod's first process is a shell, which passes no signal on.

>>> end_driver("laptop-1f2e3d4c5b")  # python -m suphx_platform.cluster.driver_end RUN
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_POLL_SECONDS = 0.2


def end_driver(run: str) -> None:
    """Send SIGTERM to every ``suphx run … --run-id RUN`` of this machine or pod, and wait until they have ended."""
    found = list(drivers(run))
    for process in found:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(process, signal.SIGTERM)
    while any(process in found for process in drivers(run)):
        time.sleep(_POLL_SECONDS)


def drivers(run: str) -> Iterator[int]:
    """Yield the numbers of the processes that are ``suphx run`` with this id."""
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile, or is another user's
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if _is_driver(words, run):
                    yield int(folder.name)


def _is_driver(words: list[str], run: str) -> bool:
    pairs = list(itertools.pairwise(words))
    return ("--run-id", run) in pairs and any(Path(word).name == "suphx" and then == "run" for word, then in pairs)


if __name__ == "__main__":
    end_driver(sys.argv[1])
