"""Measures what kernels cost to compile: ``python -m tests.training.kernel_cost_table`` writes kernel_costs.csv.

Takes some minutes of a quiet machine: all kernels are compiled into an empty cache, group by group.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from numba.core import event
from numba.core.dispatcher import Dispatcher

from suphx.riichi import jit
from suphx.training.kernel_cost import COSTS_FILE
from suphx.training.warmup import KERNEL_GROUPS


class _Timer(event.Listener):
    """CPU seconds by kernel, without those of the kernels that it calls."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._open: list[tuple[str, float]] = []

    def on_start(self, event: Any) -> None:
        """Note when a kernel begins."""
        self._open.append((_name(event.data["dispatcher"]), time.process_time()))

    def on_end(self, event: Any) -> None:
        """Count the time for the kernel, and subtract it from that of its caller."""
        name, started = self._open.pop()
        spent = time.process_time() - started
        self.seconds[name] += spent
        if self._open:
            self.seconds[self._open[-1][0]] -= spent


def record(group: str) -> dict[str, Any]:
    """Run ``group`` in this process; return the seconds of what it compiles and the names of all that it needs."""
    timer = _Timer()
    register: Any = event.register  # numba is untyped
    register("numba:compile", timer)
    asked: dict[str, Any] = {}
    lock = jit._cache_lock

    def ask(dispatcher: Any) -> Any:
        asked[_name(dispatcher)] = dispatcher
        return lock(dispatcher)

    setattr(jit, "_cache_lock", ask)  # noqa: B010
    KERNEL_GROUPS[group]()
    return {"seconds": timer.seconds, "needed": sorted(_with_callees(asked))}


def _with_callees(kernels: dict[str, Any]) -> set[str]:
    """Return the names of ``kernels`` and of those that their code names, directly or through others."""
    found: set[str] = set()
    waiting = list(kernels.values())
    while waiting:
        kernel = waiting.pop()
        if _name(kernel) not in found:
            found.add(_name(kernel))
            function = kernel.py_func
            values = (function.__globals__.get(name) for name in function.__code__.co_names)
            waiting += [value for value in values if isinstance(value, Dispatcher)]
    return found


def measure() -> list[str]:
    """Return the lines of the table."""
    seconds: Counter[str] = Counter()
    groups: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "tests.training.kernel_cost_table"]
        for group in KERNEL_GROUPS:
            environment = {**os.environ, "SUPHX_CACHE": cache}
            done = subprocess.run([*command, group], env=environment, stdout=subprocess.PIPE, check=True, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            seconds.update(found["seconds"])
            for name in found["needed"]:
                groups.setdefault(name, []).append(group)
    names = sorted(name for name in seconds if name in groups)
    rows = [f"{name},{max(seconds[name], 0.001):.3f},{'|'.join(groups[name])}" for name in names]
    return ["kernel,seconds,groups", *rows]


def _name(dispatcher: Any) -> str:
    return f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}"


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(record(sys.argv[1])))
    else:
        Path(COSTS_FILE).write_text("\n".join(measure()) + "\n", encoding="utf-8")
