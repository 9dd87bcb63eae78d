"""The process that compiles kernels: ``python -m suphx_platform.kernels.compile_pool GROUP…``, one for each group.

Consumes: nothing. Produces: one JSON line on stdout for each event. It ends, and its workers with it, when its stdin is
closed, so it never outlives whoever started it. ``kernel_warmup.py`` starts it and shows what it does.

Workers are forked, so what they import is imported once. There are more of them than cores because a worker that needs
a kernel which another one compiles waits for it. The groups of the first games come first: as long as one of them is
compiled, others begin on cores that are free only. No worker has a low priority, because another command may wait for
what it compiles. The whole takes as long with more workers as with one for each core (docs/experiments.md).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from typing import Any

from numba.core import event

from suphx.usable_cores import usable_cores

EXTRA_WORKERS = 2
"""Workers beyond the number of cores."""
_FORK = get_context("fork")


def main(groups: Sequence[str]) -> None:
    """Compile ``groups`` of training/warmup.py side by side, those of the first games with priority."""
    from suphx.training.warmup import mark_compiled

    pool = _CompilePool(groups)
    try:
        for group in pool.compile():
            mark_compiled(group)
            send("group", group)
    finally:
        pool.stop()


class _CompilePool:
    """The workers. The process that forks them has a single thread."""

    def __init__(self, groups: Sequence[str]) -> None:
        self._waiting = list(groups)
        self._busy: dict[str, ForkProcess] = {}
        self._life = os.dup(sys.stdin.fileno())  # multiprocessing closes stdin in workers

    def compile(self) -> Iterator[str]:
        """Yield each group when it is compiled; SystemExit when stdin is closed or a worker fails."""
        while self._waiting or self._busy:
            while self._waiting and self._is_room() and not wait([self._life], 0):
                self._start(self._waiting.pop(0))
            ready = wait([self._life, *(process.sentinel for process in self._busy.values())])
            if self._life in ready:
                raise SystemExit(1)
            for group in [name for name, process in self._busy.items() if process.sentinel in ready]:
                self._end(group)
                yield group

    def _is_room(self) -> bool:
        """Tell whether the next group may begin."""
        from suphx.training.warmup import FIRST_GAMES

        is_later = self._waiting[0] not in FIRST_GAMES and any(group in FIRST_GAMES for group in self._busy)
        return len(self._busy) < usable_cores() + (0 if is_later else EXTRA_WORKERS)

    def _start(self, group: str) -> None:
        from suphx.training.warmup import import_for

        import_for(group)
        process = _FORK.Process(target=_compile_group, args=(group, self._life))
        process.start()
        self._busy[group] = process

    def _end(self, group: str) -> None:
        process = self._busy.pop(group)
        process.join()
        if process.exitcode:
            how = f"exit code {process.exitcode}" if process.exitcode > 0 else signal.Signals(-process.exitcode).name
            raise SystemExit(f"the process that compiled the kernels of {group} ended with {how}")

    def stop(self) -> None:
        """End the workers."""
        for process in self._busy.values():
            process.kill()
            process.join()


def send(kind: str, name: str, seconds: float = 0.0) -> None:
    """Write one event to stdout, so short that it is written at once: lines of several processes do not mix."""
    line = json.dumps({"event": kind, "name": name, "seconds": round(seconds, 3)})
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


def _compile_group(group: str, stop_pipe: int) -> None:
    from suphx.training.warmup import KERNEL_GROUPS

    threading.Thread(target=_end_with, args=(stop_pipe,), daemon=True).start()
    register: Any = event.register  # numba is untyped
    register("numba:compile", _Listener())
    KERNEL_GROUPS[group]()


def _end_with(stop_pipe: int) -> None:
    """End this process when the pipe ``stop_pipe`` ends, or the process that forked it."""
    pool = parent_process()
    assert pool is not None
    wait([stop_pipe, pool.sentinel])
    os._exit(1)


class _Listener(event.Listener):
    """Reports each kernel that numba compiles, with the CPU seconds that it took without those of its callees."""

    def __init__(self) -> None:
        self._open: list[tuple[float, float]] = []  # start, and seconds of callees

    def on_start(self, event: Any) -> None:
        """Note when a kernel begins."""
        self._open.append((time.process_time(), 0.0))
        send("begins", _name(event))

    def on_end(self, event: Any) -> None:
        """Report what the kernel took."""
        started, of_callees = self._open.pop()
        spent = time.process_time() - started
        if self._open:
            outer_start, outer_callees = self._open[-1]
            self._open[-1] = (outer_start, outer_callees + spent)
        send("compiled", _name(event), spent - of_callees)


def _name(event: Any) -> str:
    function = event.data["dispatcher"].py_func
    return f"{function.__module__}.{function.__name__}"


if __name__ == "__main__":
    main(sys.argv[1:])
