"""How much memory and CPU time a process has taken."""

from __future__ import annotations

from pathlib import Path

import psutil


def peak_bytes(pid: int | None = None) -> int:
    """Return the most that was ever resident in a process (default: this one), files mapped from disk included."""
    status = Path(f"/proc/{pid or 'self'}/status").read_text()  # psutil has no peaks on Linux
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def private_bytes(pid: int | None = None) -> int:
    """Return the memory of a process (default: this one) that its end would free: no files, no shared memory."""
    memory = psutil.Process(pid).memory_info()
    return int(memory.rss - memory.shared)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process since it began, to a hundredth of a second."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)
