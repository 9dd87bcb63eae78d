"""How many processor cores this process may use: fewer than the machine has, in a container with a limit."""

from __future__ import annotations

import math
import os
from pathlib import Path

_LIMIT_FILE = Path("/sys/fs/cgroup/cpu.max")
"""Of a container's own control group (version 2): microseconds that it may use, or "max", and of how many."""


class MachineError(ValueError):
    """This machine has less than what was asked for; another one may have enough."""


def usable_cores(limit_file: Path = _LIMIT_FILE) -> int:
    """Return the number of cores, at least 1: those that the process may run on, at most as many as its limit allows.

    A limit of 1.5 cores counts as two.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = limit_file.read_text(encoding="ascii").split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no limit, control groups of version 1, or another system than Linux
        return cores
