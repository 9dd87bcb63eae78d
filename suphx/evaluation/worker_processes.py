"""Tasks for processes of which some may die: results as they come, and who had which task when it died.

>>> for place, result in run_tasks(tasks, load_agents, (addresses,), workers=2, describe=lambda task: task.title):
...     keep(place, result)

``concurrent.futures`` tells neither which task a dead process had nor how it ended, and throws away what the others
have finished meanwhile.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from traceback import format_exc
from typing import Any, Generic, TypeVar

from suphx.worker_interrupt import starting_workers

T = TypeVar("T")
R = TypeVar("R")
Start = Callable[..., Callable[[T], R]]
"""Called once in each process; returns what does a task. A function of a module, as processes load it anew."""

_SPAWN = get_context("spawn")
_PATIENCE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class _Tick:
    amount: float


_pipe: Connection | None = None  # set in worker processes only


def tick(amount: float) -> None:
    """Report a part of the task in hand as done; for what ``start`` returned, in a worker process."""
    assert _pipe is not None
    _pipe.send(_Tick(amount))


def run_tasks(
    tasks: Sequence[T],
    start: Start[T, R],
    arguments: tuple[Any, ...],
    *,
    workers: int,
    describe: Callable[[T], str] = repr,
    progress: Callable[[int, float], None] | None = None,
) -> Generator[tuple[int, R], None, None]:
    """Yield the place of each task and its result as ``workers`` processes finish them.

    Each process calls ``start(*arguments)`` once. When one dies or a task raises, nothing new is begun, the others
    finish what they have in hand, which is yielded too, and then: ChildProcessError says how the process ended and what
    it was doing (``describe``), or the task's error is raised here, with the process's traceback as a note.
    ``progress`` gets the place of a task and what a process has reported of it (``tick``).
    """
    waiting = deque(enumerate(tasks))
    crew = [_Worker(start, arguments) for _ in range(min(workers, len(tasks)))]
    failure: Exception | None = None
    try:
        for worker in crew:
            worker.give(*waiting.popleft())
        while busy := [worker for worker in crew if worker.place is not None]:
            ready = wait([worker.pipe for worker in busy])
            for worker in (worker for worker in busy if worker.pipe in ready):
                place, answer = worker.take(lambda place: describe(tasks[place]))
                if isinstance(answer, _Tick):
                    if progress is not None:
                        progress(place, answer.amount)
                    continue
                if isinstance(answer, Exception):
                    failure = failure or answer
                    continue
                if waiting and failure is None:
                    worker.give(*waiting.popleft())
                yield place, answer
    finally:
        for worker in crew:
            worker.stop()
    if failure is not None:
        raise failure


class _Worker(Generic[T, R]):
    """One process, and the task that it has in hand."""

    def __init__(self, start: Start[T, R], arguments: tuple[Any, ...]) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self.place: int | None = None
        """Of the task in hand; None while there is none."""
        self._process = _SPAWN.Process(target=_serve, args=(theirs, start, arguments), daemon=True)
        with starting_workers():
            self._process.start()
        theirs.close()  # so that the pipe ends when the process does

    def give(self, place: int, task: T) -> None:
        self.place = place
        with suppress(OSError):  # it is dead, which take() finds
            self.pipe.send(task)

    def take(self, describe: Callable[[int], str]) -> tuple[int, R | Exception | _Tick]:
        """Return the place of the task in hand and what became of it, or a part of it that is done."""
        place = self.place
        assert place is not None
        try:
            answer: R | Exception | _Tick = self.pipe.recv()
        except (EOFError, OSError):
            answer = ChildProcessError(f"{self._how_it_ended()} while it played {describe(place)}")
        if not isinstance(answer, _Tick):
            self.place = None
        return place, answer

    def _how_it_ended(self) -> str:
        self._process.join(_PATIENCE_SECONDS)
        name, code = f"worker process {self._process.pid}", self._process.exitcode
        if code is None:
            return f"{name} no longer answers"
        if code >= 0:
            return f"{name} ended with exit code {code}"
        hint = ", perhaps for want of memory (use fewer workers)" if -code == signal.SIGKILL else ""
        return f"{name} was ended by {signal.Signals(-code).name}{hint}"

    def stop(self) -> None:
        self.pipe.close()  # an idle process ends by itself
        if self.place is not None:
            self._process.terminate()
        self._process.join(_PATIENCE_SECONDS)
        self._process.kill()
        self._process.join()
        self._process.close()


def _serve(pipe: Connection, start: Start[Any, Any], arguments: tuple[Any, ...]) -> None:
    """Do tasks until the pipe ends."""
    global _pipe
    _pipe = pipe
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one stops the others
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        work = start(*arguments)
        while True:
            try:
                task = pipe.recv()
            except EOFError:
                return
            pipe.send(work(task))
    except Exception as error:  # noqa: BLE001 - raised again in the first process
        pipe.send(_portable(error))


def _end_with_parent() -> None:
    """End this process when the first one does, even if that was killed: nobody waits for the result any more."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent, with the traceback of this process as a note."""
    text = format_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever its class does
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(text)
    return error
