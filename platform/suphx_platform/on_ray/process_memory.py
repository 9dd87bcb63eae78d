"""How much memory and CPU time a process has taken, as the Linux kernel counts it."""

from __future__ import annotations

import os
from pathlib import Path


def peak_bytes(pid: int | None = None) -> int:
    """Return the most that was ever resident in a process (default: this one), files mapped from disk included."""
    return _field(Path(f"/proc/{pid or 'self'}/status"), "VmHWM")


def private_bytes(pid: int | None = None) -> int:
    """Return the memory of a process (default: this one) that its end would free: no files, no shared memory."""
    return _field(Path(f"/proc/{pid or 'self'}/status"), "RssAnon")


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process since it began, to a hundredth of a second."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _field(path: Path, name: str) -> int:
    return int(path.read_text().partition(f"{name}:")[2].split()[0]) * 1024
