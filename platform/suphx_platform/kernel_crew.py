"""The process that compiles kernels: ``python -m suphx_platform.kernel_crew GROUP…`` with workers, one for each core.

Consumes: nothing. Produces: one JSON line on stdout for each event. It ends, and its workers with it, when its stdin is
closed, so it never outlives whoever started it. ``kernel_warmup.py`` starts it and shows what it does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from numba.core import event

_PRINTING = threading.Lock()
MAX_WORKERS = 8  # more would wait for each other


def main(groups: Sequence[str]) -> None:
    """Compile ``groups`` of training/warmup.py side by side."""
    from suphx.evaluation.worker_processes import run_tasks
    from suphx.training.compiled_groups import mark_compiled

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one stops this one
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    events, to_events = Pipe(duplex=False)
    threading.Thread(target=_forward, args=(events,), daemon=True).start()
    workers = min(MAX_WORKERS, len(os.sched_getaffinity(0)))
    tasks = run_tasks(groups, _start, (to_events,), workers=workers, describe=lambda group: f"the kernels of {group}")
    for place, seconds in tasks:
        mark_compiled(groups[place])
        _print({"event": "group", "name": groups[place], "seconds": seconds})


def _print(event: dict[str, object]) -> None:
    with _PRINTING:  # two threads print; print() alone writes a line and its end apart
        print(json.dumps(event), flush=True)


def _forward(events: Connection) -> None:
    with suppress(EOFError):  # all workers have ended
        while True:
            _print(json.loads(events.recv_bytes()))


def _end_with_stdin() -> None:
    while os.read(sys.stdin.fileno(), 1):  # not through sys.stdin, whose lock would be held when this process ends
        pass
    os._exit(1)


def _start(events: Connection) -> Callable[[str], float]:
    from suphx.riichi import kernel_lock
    from suphx.training.warmup import KERNEL_GROUPS

    def send(kind: str, name: str, seconds: float = 0.0) -> None:
        # Short enough to be written at once, so the lines of several processes do not mix.
        events.send_bytes(json.dumps({"event": kind, "name": name, "seconds": round(seconds, 3)}).encode())

    register: Any = event.register  # numba is untyped
    register("numba:compile", _Listener(send))
    kernel_lock.watchers.append(lambda name: send("waits", name))

    def compile_group(group: str) -> float:
        started = time.perf_counter()
        KERNEL_GROUPS[group]()
        return round(time.perf_counter() - started, 3)

    return compile_group


class _Listener(event.Listener):
    """Reports each kernel that numba compiles, with the CPU seconds that it took without those of its callees."""

    def __init__(self, send: Callable[[str, str, float], None]) -> None:
        self._send = send
        self._open: list[tuple[float, float]] = []  # start, and seconds of callees

    def on_start(self, event: Any) -> None:
        """Note when a kernel begins."""
        self._open.append((time.process_time(), 0.0))
        self._send("begins", _name(event), 0.0)

    def on_end(self, event: Any) -> None:
        """Report what the kernel took."""
        started, of_callees = self._open.pop()
        spent = time.process_time() - started
        if self._open:
            outer_start, outer_callees = self._open[-1]
            self._open[-1] = (outer_start, outer_callees + spent)
        self._send("compiled", _name(event), spent - of_callees)


def _name(event: Any) -> str:
    function = event.data["dispatcher"].py_func
    return f"{function.__module__}.{function.__name__}"


if __name__ == "__main__":
    main(sys.argv[1:])
