"""The process that compiles kernels: ``python -m suphx_platform.kernels.compile_pool GROUP…``, one for each group.

Without a GROUP: all that need no torch, also while it is being installed (infra/setup/install.sh).
Consumes: nothing. Produces: a line on stdout with the name of each group that is compiled. It ends, and its workers
with it, when its stdin is closed, so it never outlives whoever started it. ``kernel_warmup.py`` starts it.

On Linux, workers are forked, so what they import is imported once. There are more of them than cores because a worker
that needs a kernel which another one compiles waits for it. The groups of the first games come first: as long as one of
them is compiled, others begin on cores that are free only. No worker has a low priority, because another command may
wait for what it compiles. The whole takes as long with more workers as with one for each core (docs/log).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from suphx.usable_cores import usable_cores
from suphx.worker_interrupt import end_with_parent

EXTRA_WORKERS = 2  # beyond the number of cores
_FORKS = sys.platform == "linux"  # elsewhere a fork may hang in libraries of the system, or does not exist
_PROCESSES: Any = get_context("fork" if _FORKS else "spawn")


def main(groups: Sequence[str]) -> None:
    """Compile ``groups`` of training/warmup.py side by side, those of the first games with priority.

    SystemExit when stdin is closed or a worker fails. The process that forks the workers has a single thread.
    """
    from suphx.training.warmup import FIRST_GAMES, WITHOUT_TORCH, import_for, mark_compiled, missing_groups

    if not groups:
        groups = missing_groups(WITHOUT_TORCH)
        print(*(group for group in WITHOUT_TORCH if group not in groups), sep="\n", flush=True)
    waiting, busy = list(groups), dict[str, BaseProcess]()
    life = [sys.stdin.fileno()] if _FORKS else []
    if not _FORKS:
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    try:
        while waiting or busy:
            while waiting and not wait(life, 0):
                is_later = waiting[0] not in FIRST_GAMES and any(group in FIRST_GAMES for group in busy)
                if len(busy) >= usable_cores() + (0 if is_later else EXTRA_WORKERS):
                    break
                group = waiting.pop(0)
                if _FORKS:
                    import_for(group)
                busy[group] = _PROCESSES.Process(target=_compile_group, args=(group,))
                busy[group].start()
            ready = wait([*life, *(process.sentinel for process in busy.values())])
            if set(life).intersection(ready):
                raise SystemExit(1)
            for group in [name for name, process in busy.items() if process.sentinel in ready]:
                process = busy.pop(group)
                process.join()
                if code := process.exitcode:
                    how = f"exit code {code}" if code > 0 else signal.Signals(-code).name
                    raise SystemExit(f"the process that compiled the kernels of {group} ended with {how}")
                mark_compiled(group)
                print(group, flush=True)
    finally:
        for process in busy.values():
            process.kill()
            process.join()


def _compile_group(group: str) -> None:
    from suphx.training.warmup import KERNEL_GROUPS

    end_with_parent()
    KERNEL_GROUPS[group]()


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
