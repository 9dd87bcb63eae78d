"""Tasks for worker processes that wait for each other at a FIFO, end their process or are killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from suphx.evaluation.worker_pool import Work

Task = tuple[str, Path]


def start(word: str = "did") -> Work:
    """Return what does tasks, one after another; in each process."""

    def work(task: Task) -> str:
        deed, place = task
        if deed == "refuse":
            raise ValueError(f"no {place}")
        if deed == "exit":
            os._exit(3)
        if deed == "wait":
            place.read_bytes()  # until another task has opened it and is over
        elif deed == "die":
            with place.open("wb"):  # as soon as the other one waits
                os.kill(os.getpid(), signal.SIGKILL)
        elif deed == "stay":
            with place.open("wb", buffering=0) as pipe:
                pipe.write(b"here ")
                signal.pause()
        return f"{word} {deed}"

    return lambda tasks, progress: ((place, work(task)) for place, task in tasks)
