"""Tasks for processes of which some may die: results as they come, and which tasks a process had when it died.

>>> for index, result in run_tasks(tasks, load_agents, (addresses,), workers=2, describe=lambda task: task.title):
...     keep(index, result)

A process may work on several tasks at a time: it takes the next one whenever it has room for it.
``concurrent.futures`` reports neither which tasks a dead process had nor how it ended, and discards what the others
have finished meanwhile.
"""

from __future__ import annotations

import pickle
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from traceback import format_exc
from typing import Any, Generic, TypeVar

from suphx.worker_interrupt import end_with_parent, starting_workers

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Iterator[tuple[int, T]]], Iterator[tuple[int, R]]]
"""Takes tasks with their indices as it has room for them; yields the index of each finished task and its result."""
Start = Callable[..., Work[T, R]]
"""Called once in each process. A function of a module, because a new process imports it."""

_SPAWN = get_context("spawn")
_PATIENCE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class _Tick:
    amount: float


@dataclass(frozen=True, slots=True)
class _Wish:
    """A process has room for another task."""


_pipe: Connection | None = None  # set in worker processes only


def tick(amount: float) -> None:
    """Report a part of the work as done; for what ``start`` returned, in a worker process."""
    assert _pipe is not None
    _pipe.send(_Tick(amount))


def run_tasks(
    tasks: Sequence[T],
    start: Start[T, R],
    arguments: tuple[Any, ...],
    *,
    workers: int,
    describe: Callable[[T], str] = repr,
    progress: Callable[[float], None] | None = None,
) -> Generator[tuple[int, R], None, None]:
    """Yield the index of each task and its result as ``workers`` processes finish them.

    Each process calls ``start(*arguments)`` once. When one dies or a task raises an error, no other task is begun, the
    other processes finish those that they have, which are yielded too, and then: ChildProcessError says how the process
    ended and what it was doing (``describe``), or the task's error is raised here, with the process's traceback as a
    note. ``progress`` gets what processes report (``tick``).
    """
    waiting = deque(enumerate(tasks))
    pool: list[_Worker[T, R]] = [_Worker(start, arguments) for _ in range(min(workers, len(tasks)))]
    failure: Exception | None = None
    try:
        while busy := [worker for worker in pool if not worker.is_done]:
            ready = wait([worker.pipe for worker in busy])
            for worker in (worker for worker in busy if worker.pipe in ready):
                answer = worker.take(lambda index: describe(tasks[index]))
                if isinstance(answer, _Wish):
                    worker.give(waiting.popleft() if waiting and failure is None else None)
                elif isinstance(answer, _Tick):
                    if progress is not None:
                        progress(answer.amount)
                elif isinstance(answer, Exception):
                    failure = failure or answer
                else:
                    yield answer
    finally:
        for worker in pool:
            worker.stop()
    if failure is not None:
        raise failure


class _Worker(Generic[T, R]):
    """One process, and the tasks that it has."""

    def __init__(self, start: Start[T, R], arguments: tuple[Any, ...]) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self._places: list[int] = []
        """Of the tasks that it has."""
        self._gets_more = True
        self._process = _SPAWN.Process(target=_serve, args=(theirs, start, arguments), daemon=True)
        with starting_workers():
            self._process.start()
        theirs.close()  # so that the pipe ends when the process does

    @property
    def is_done(self) -> bool:
        """Whether no answer is to come: it has no task and gets no other, or is dead."""
        return not self._gets_more and not self._places

    def give(self, task: tuple[int, T] | None) -> None:
        """Give it a task with its index; None: there is none any more."""
        if task is None:
            self._gets_more = False
        else:
            self._places.append(task[0])
        with suppress(OSError):  # it is dead, which take() finds
            self.pipe.send(task)

    def take(self, describe: Callable[[int], str]) -> tuple[int, R] | Exception | _Tick | _Wish:
        """Return the next answer: the index of a finished task and its result, or something else of these."""
        try:
            answer: tuple[int, R] | Exception | _Tick | _Wish = self.pipe.recv()
        except (EOFError, OSError):
            answer = ChildProcessError(f"{self._how_it_ended()} {self._what_it_did(describe)}")
        if isinstance(answer, Exception):
            self._gets_more = False
            self._places.clear()
        elif isinstance(answer, tuple):
            self._places.remove(answer[0])
        return answer

    def _what_it_did(self, describe: Callable[[int], str]) -> str:
        if not self._places:
            return "before it played anything"
        others = len(self._places) - 1
        more = f" and {others} other {'part' if others == 1 else 'parts'}" if others else ""
        return f"while it played {describe(self._places[0])}{more}"

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
        if not self.is_done:
            self._process.terminate()
        self._process.join(_PATIENCE_SECONDS)
        self._process.kill()
        self._process.join()
        self._process.close()


def _serve(pipe: Connection, start: Start[Any, Any], arguments: tuple[Any, ...]) -> None:
    """Do tasks until there is none any more."""
    global _pipe
    _pipe = pipe
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one stops the others
    end_with_parent()
    try:
        for result in start(*arguments)(_incoming(pipe)):
            pipe.send(result)
    except Exception as error:  # noqa: BLE001 - raised again in the first process
        pipe.send(_portable(error))


def _incoming(pipe: Connection) -> Iterator[tuple[int, Any]]:
    """Ask for tasks and yield them."""
    while True:
        pipe.send(_Wish())
        try:
            task = pipe.recv()
        except EOFError:  # nobody takes results any more
            return
        if task is None:
            return
        yield task


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent, with the traceback of this process as a note."""
    text = format_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever its class does
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(text)
    return error
