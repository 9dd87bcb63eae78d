"""What a head pod does before it ends: the run's driver gets SIGTERM, saves, stores and ends, then Ray may go.

The chart has it as the ``preStop`` of heads: without it a drained node would cost what was learned since the last save,
as the pod's first process is a shell, which passes no signal on.

>>> end_driver("laptop-1f2e3d4c5b")  # python -m suphx_platform.cluster.driver_end RUN
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

_POLL_SECONDS = 0.2


def end_driver(run: str) -> None:
    """Send SIGTERM to every ``suphx run … --run-id RUN`` of this machine or pod, and wait until they have ended."""
    found = list(drivers(run))
    for process in found:
        with suppress(psutil.NoSuchProcess):  # it has ended by itself
            process.terminate()
    while any(process in found for process in drivers(run)):  # not psutil.wait_procs, which waits for zombies too
        time.sleep(_POLL_SECONDS)


def drivers(run: str) -> Iterator[psutil.Process]:
    """Yield the processes that are ``suphx run`` with this id."""
    for process in psutil.process_iter(["cmdline"]):
        if _is_driver(process.info["cmdline"] or [], run):  # None: another user's
            yield process


def _is_driver(words: list[str], run: str) -> bool:
    pairs = list(itertools.pairwise(words))
    return ("--run-id", run) in pairs and any(Path(word).name == "suphx" and then == "run" for word, then in pairs)


if __name__ == "__main__":
    end_driver(sys.argv[1])
