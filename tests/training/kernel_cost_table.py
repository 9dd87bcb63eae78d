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
from typing import Any

from numba.core import event
from numba.core.dispatcher import Dispatcher

from suphx.riichi import jit
from suphx.training.kernel_cost import COSTS_FILE
from suphx.training.warmup import KERNEL_GROUPS


class _Recorder(event.Listener):
    """What one process compiles: seconds by kernel, the kernels that each one calls, and those that were asked for."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, set[str]] = {}
        self.asked: set[str] = set()
        self._open: list[tuple[str, float]] = []

    def ask(self, name: str) -> None:
        """Note that a kernel is needed, by the one that is being compiled or by Python."""
        if self._open:
            self.calls.setdefault(self._open[-1][0], set()).add(name)
        else:
            self.asked.add(name)

    def on_start(self, event: Any) -> None:
        """Note when a kernel begins."""
        self._open.append((_name(event.data["dispatcher"]), time.process_time()))

    def on_end(self, event: Any) -> None:
        """Count the time for the kernel, and subtract it from that of its caller."""
        name, started = self._open.pop()
        spent = time.process_time() - started
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        if self._open:
            caller = self._open[-1][0]
            self.seconds[caller] = self.seconds.get(caller, 0.0) - spent


def record(group: str) -> dict[str, Any]:
    """Run ``group`` in this process and return what it compiled."""
    recorder = _Recorder()
    register: Any = event.register  # numba is untyped
    register("numba:compile", recorder)
    lock, template = jit._cache_lock, Dispatcher.get_call_template

    def ask_lock(dispatcher: Any) -> Any:
        recorder.ask(_name(dispatcher))
        return lock(dispatcher)

    def ask_template(dispatcher: Any, args: Any, kws: Any) -> Any:
        recorder.ask(_name(dispatcher))
        return template(dispatcher, args, kws)

    setattr(jit, "_cache_lock", ask_lock)  # noqa: B010
    setattr(Dispatcher, "get_call_template", ask_template)  # noqa: B010
    KERNEL_GROUPS[group]()
    calls = {name: sorted(found) for name, found in recorder.calls.items()}
    return {"seconds": recorder.seconds, "calls": calls, "asked": sorted(recorder.asked)}


def measure() -> list[str]:
    """Return the lines of the table."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "tests.training.kernel_cost_table"]
        environment = {**os.environ, "SUPHX_CACHE": cache}
        found = {}
        for group in KERNEL_GROUPS:
            done = subprocess.run([*command, group], env=environment, stdout=subprocess.PIPE, check=True, text=True)
            found[group] = json.loads(done.stdout.splitlines()[-1])
    seconds: dict[str, float] = {}
    calls: dict[str, list[str]] = {}
    for part in found.values():
        calls.update(part["calls"])
        seconds.update(part["seconds"])
    needed = {group: _reached(part["asked"], calls) for group, part in found.items()}
    lines = ["kernel,seconds,groups"]
    for name in sorted(name for name in seconds if name.startswith("suphx.")):
        groups = "|".join(group for group in KERNEL_GROUPS if name in needed[group])
        lines.append(f"{name},{max(seconds[name], 0.001):.3f},{groups}")
    return lines


def _reached(roots: list[str], calls: dict[str, list[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += calls.get(name, [])
    return reached


def _name(dispatcher: Any) -> str:
    return f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}"


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(record(sys.argv[1])))
    else:
        COSTS_FILE.write_text("\n".join(measure()) + "\n", encoding="utf-8")
