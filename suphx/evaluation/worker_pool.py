"""Tasks for worker processes of which some may die, on this machine (here) or elsewhere (suphx_platform/evaluation).

>>> with closing(ProcessPool(2)) as pool:
...     for index, result in pool.run(tasks, start, (addresses,), describe=lambda task: task.title):
...         keep(index, result)

A worker may be at several tasks at a time: it takes the next one whenever it has room. ``concurrent.futures`` reports
neither which tasks a dead process had nor how it ended, and discards what the others have finished meanwhile.
"""

from __future__ import annotations

import math
import pickle
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from traceback import format_exc
from typing import Any, ClassVar, TypeAlias

from suphx.worker_interrupt import end_with_parent, starting_workers

Progress: TypeAlias = Callable[[float], None]
"""Gets parts of the work as they are done."""
Work: TypeAlias = Callable[[Iterator[tuple[int, Any]], Progress], Iterator[tuple[int, Any]]]
"""Takes tasks with their indices as it has room for them; yields the index of each finished task and its result."""
Start: TypeAlias = Callable[..., Work]
"""Called once in each worker. A function of a module, because a new process imports it."""

_SPAWN = get_context("spawn")
_PATIENCE_SECONDS = 10.0
_LOOK_SECONDS = 1.0
_SAY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a worker answers."""

    finished: list[tuple[int, Any]]
    """Index and result of the tasks that were finished since the last answer."""
    progress: float
    """Parts of the work since then."""
    has_room: bool
    """Whether it waits for another task, or for the message that there is none."""


class Player:
    """What a worker does: a thread works on tasks, and takes the next one when it has room.

    When the last task is given, it finishes what it has; it may be given others after that.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._changed = threading.Condition()
        self._waiting: deque[tuple[int, Any] | None] = deque()
        """Tasks that it has not begun; None: there is none for the time being."""
        self._finished: list[tuple[int, Any]] = []
        self._progress = 0.0
        self._has_room = False
        self._error: Exception | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="tasks")
        self._thread.start()

    def exchange(self, tasks: Sequence[tuple[int, Any]], is_last: bool, seconds: float) -> Exchange:
        """Take ``tasks`` and return what is finished, at the latest after ``seconds``.

        ``is_last``: no task follows for the time being. Returns early if there is a finished task, or room for another
        one. Raises the error of a task, after what was finished before.
        """
        with self._changed:
            self._waiting.extend(tasks)
            if is_last:
                self._waiting.append(None)
            if self._waiting:
                self._has_room = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._finished or self._has_room or self._error, seconds)
            if self._error is not None and not self._finished:
                raise self._error
            answer = Exchange(self._finished, self._progress, self._has_room)
            self._finished, self._progress = [], 0.0
            return answer

    def close(self) -> None:
        """End the thread, which must have no task."""
        with self._changed:
            self._is_closed = True
            self._waiting.append(None)
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._is_closed:
                first = self._take()
                if first is not None:
                    for result in self._work(chain([first], iter(self._take, None)), self._note):
                        with self._changed:
                            self._finished.append(result)
                            self._changed.notify_all()
        except Exception as error:  # noqa: BLE001 - raised again in whoever asks
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _note(self, progress: float) -> None:
        with self._changed:
            self._progress += progress

    def _take(self) -> tuple[int, Any] | None:
        """Return the next task, or None if there is none for the time being; wait for either."""
        with self._changed:
            if not self._waiting:
                self._has_room = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting)
            return self._waiting.popleft()


class Worker(ABC):
    """A process with a ``Player``, and what it has to do. Its calls are made one after another."""

    def __init__(self) -> None:
        self.name = ""
        self.place = ""
        """Where the process runs; empty: it has not begun."""
        self.tasks: list[int] = []
        self.progress = 0.0
        """Parts of these tasks that it has reported."""
        self.has_room = False
        self.lost_starts = 0
        """Processes before it that were lost before they had begun."""
        self.call: Future[Any] | None = None
        self.since = 0.0

    @abstractmethod
    def begin(self, start: Start, arguments: tuple[Any, ...]) -> Future[str]:
        """Make a player of what ``start`` returns; return where the process runs."""

    @abstractmethod
    def exchange(self, tasks: Sequence[tuple[int, Any]], is_last: bool, seconds: float) -> Future[Exchange]:
        """Return what ``Player.exchange`` does."""

    @abstractmethod
    def dismiss(self) -> None:
        """Have the process, which has nothing to do, end by itself; ``end`` waits for it."""

    @abstractmethod
    def end(self) -> None:
        """End the process, whatever it does."""

    def __str__(self) -> str:
        return self.name + (f" ({self.place})" if self.place else "")


class WorkerPool(ABC):
    """Consumes: answers of workers. Produces: finished tasks. Waits for: the first answer.

    A worker that has something to do has one call under way.
    """

    max_losses: ClassVar[int]
    """Times that a task may be lost with its worker before the work ends."""
    max_lost_starts: ClassVar[int]
    """Times that a worker may be lost before it has begun."""
    exchange_seconds: ClassVar[float] = 5.0
    """A worker answers at least so often, also if nothing is finished."""
    waits_for: str = ""
    """What is said while no worker has begun."""

    def __init__(
        self,
        number: int,
        *,
        say: Callable[[str], None] = lambda text: None,
        hang_seconds: float = math.inf,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """``say`` gets a line when a worker is lost; one that has not answered for ``hang_seconds`` is. ``is_stopped``
        is asked every second; True ends the work.
        """
        self.number, self._say, self._hang_seconds, self._is_stopped = number, say, hang_seconds, is_stopped
        self._idle: list[Worker] = []
        """Workers that have finished all that they had: the next tasks need no new processes."""

    @abstractmethod
    def new_worker(self) -> Worker:
        """Return another worker."""

    @abstractmethod
    def loss_of(self, error: Exception) -> str | None:
        """Return how a worker ended if ``error``, of a call, says that it did; None: it is the error of a task."""

    def run(
        self,
        tasks: Sequence[Any],
        start: Start,
        arguments: tuple[Any, ...],
        *,
        describe: Callable[[Any], str] = repr,
        size: Callable[[Any], float] = lambda task: 0.0,
        progress: Progress = lambda amount: None,
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the index of each task and its result, whatever ends first; one run at a time.

        Each worker calls ``start(*arguments)`` once. What a dead worker had is given to others, and its progress is
        taken back; ``size``: the progress that a whole task reports. If a task was lost too often, or raises an error,
        no other task is begun, those under way are yielded before, and then:
        ChildProcessError says how the last process ended and what it was doing (``describe``), or the error is raised
        here, with the traceback of its process as a note. InterruptedError at once if ``is_stopped``.
        """
        self._tasks, self._begins_with, self._describe, self._size = tasks, (start, arguments), describe, size
        self._waiting, self._num_left = deque(range(len(tasks))), len(tasks)
        self._losses: Counter[int] = Counter()
        self._answered: SimpleQueue[tuple[Worker, Future[Any]]] = SimpleQueue()
        self._failure: Exception | None = None
        self._said_at = time.monotonic()
        self._workers: list[Worker] = []
        try:
            for number in range(1, min(self.number, len(tasks)) + 1):
                self._add(f"worker {number}", self._idle.pop() if self._idle else self.new_worker())
            while self._num_left > 0 if self._failure is None else any(worker.tasks for worker in self._workers):
                if self._is_stopped():
                    raise InterruptedError("the match was stopped")
                for worker in self._workers:
                    if worker.has_room and self._waiting and self._failure is None:
                        index = self._waiting.popleft()
                        worker.tasks.append(index)
                        self._exchange(worker, [(index, self._tasks[index])])
                    elif worker.has_room and worker.tasks:
                        self._exchange(worker, is_last=True)
                yield from self._handle_answer(progress)
                self._look(progress)
            ends = time.monotonic() + _PATIENCE_SECONDS  # workers that have finished say at once that they have room
            while any(worker.place and worker.call for worker in self._workers) and time.monotonic() < ends:
                list(self._handle_answer(lambda amount: None))
        finally:
            for worker in self._workers:
                if worker.has_room and not worker.tasks:
                    self._idle.append(worker)
                else:
                    worker.end()
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End the workers that wait for tasks, all at the same time."""
        for worker in self._idle:
            worker.dismiss()
        while self._idle:
            self._idle.pop().end()

    def _add(self, name: str, worker: Worker, lost_starts: int = 0) -> None:
        worker.name, worker.lost_starts, worker.place, worker.has_room = name, lost_starts, "", False
        worker.progress = 0.0
        self._workers.append(worker)
        self._call(worker, worker.begin(*self._begins_with))

    def _exchange(self, worker: Worker, tasks: Sequence[tuple[int, Any]] = (), *, is_last: bool = False) -> None:
        """``is_last``: there is no other task. A worker without any is not told: it may get one that is lost."""
        worker.has_room = False
        self._call(worker, worker.exchange(tasks, is_last, self.exchange_seconds))

    def _call(self, worker: Worker, call: Future[Any]) -> None:
        worker.call, worker.since = call, time.monotonic()
        answered = self._answered  # of this run: a worker that is ended at its end may answer during the next one
        call.add_done_callback(lambda call: answered.put((worker, call)))

    def _handle_answer(self, progress: Progress) -> Iterator[tuple[int, Any]]:
        """Wait a while for an answer; yield what it says to be finished."""
        try:
            worker, call = self._answered.get(timeout=_LOOK_SECONDS)
        except Empty:
            return
        if worker.call is not call:  # it was given up
            return
        worker.call = None
        error = call.exception()
        if isinstance(error, Exception):
            loss = self.loss_of(error)
            if loss is None:  # it would come again elsewhere
                worker.tasks.clear()
                self._failure = self._failure or error
            else:
                self._lose(worker, loss, progress)
            return
        answer: str | Exchange = call.result()
        if isinstance(answer, str):
            worker.place, worker.has_room = answer, True
            return
        if answer.progress:
            worker.progress += answer.progress
            progress(answer.progress)
        for index, result in answer.finished:
            worker.tasks.remove(index)
            worker.progress -= self._size(self._tasks[index])
            worker.lost_starts = 0
            self._num_left -= 1
            yield index, result
        worker.has_room = answer.has_room
        if not worker.has_room:
            self._exchange(worker)

    def _lose(self, worker: Worker, loss: str, progress: Progress) -> None:
        """Give the tasks of a dead worker to others, and put another one in its place if something is left to do."""
        lost, worker.tasks, worker.has_room = sorted(worker.tasks), [], False
        if lost and worker.progress > 0:
            progress(-worker.progress)
        self._losses.update(lost)
        self._waiting.extendleft(reversed(lost))
        times = max((self._losses[index] for index in lost), default=0)
        lost_starts = worker.lost_starts + (not worker.place)
        what = "with nothing to do" if worker.place else "before it had begun"
        if lost:
            more = f" and {len(lost) - 1} other {'part' if len(lost) == 2 else 'parts'}" if len(lost) > 1 else ""
            what = f"while it played {self._describe(self._tasks[lost[0]])}{more}"
        if times > self.max_losses or lost_starts > self.max_lost_starts:
            times = max(times, lost_starts)
            self._failure = self._failure or ChildProcessError(
                f"{loss} {what}"
                if times == 1
                else f"{times} workers were lost {what}; the last one: {loss}: see the logs of Ray's workers; perhaps "
                "nodes have too little memory, then use fewer workers"
            )
            return
        self._say(f"{worker} was lost {what}{', which is played again' if lost else ''} ({loss})")
        worker.end()
        self._workers.remove(worker)
        if self._waiting:
            self._add(worker.name, self.new_worker(), lost_starts)

    def _look(self, progress: Progress) -> None:
        """Give up workers that hang, and say so if none has begun for a long time."""
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.call is not None and worker.place and now > worker.since + self._hang_seconds:
                worker.call = None
                self._lose(worker, f"it has not answered for {now - worker.since:.0f} s", progress)
        if self.waits_for and now > self._said_at + _SAY_SECONDS and not any(each.place for each in self._workers):
            self._said_at = now
            self._say(self.waits_for)


class ProcessPool(WorkerPool):
    """Processes of this machine. One that dies ends the work: most likely memory ran out, which it would again."""

    max_losses = max_lost_starts = 0
    exchange_seconds = 0.5

    def new_worker(self) -> Worker:
        """Return another process."""
        return _ProcessWorker()

    def loss_of(self, error: Exception) -> str | None:
        """Return how a process ended."""
        return str(error) if isinstance(error, _EndedError) else None


class _EndedError(Exception):
    """How a process has ended."""


class _ProcessWorker(Worker):
    """A process, and a thread that waits for its answers."""

    def __init__(self) -> None:
        super().__init__()
        self._pipe, theirs = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(theirs,), daemon=True)
        with starting_workers():
            self._process.start()
        theirs.close()  # so that the pipe ends when the process does
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="worker")

    def begin(self, start: Start, arguments: tuple[Any, ...]) -> Future[str]:
        """Make its player."""
        return self._asking.submit(self._ask, start, arguments)

    def exchange(self, tasks: Sequence[tuple[int, Any]], is_last: bool, seconds: float) -> Future[Exchange]:
        """Return what ``Player.exchange`` does."""
        return self._asking.submit(self._ask, tasks, is_last, seconds)

    def _ask(self, *message: Any) -> Any:
        try:
            self._pipe.send(message)
            answer = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(_PATIENCE_SECONDS)
            code = self._process.exitcode
            how = "no longer answers" if code is None else f"ended with exit code {code}"
            if code is not None and code < 0:
                name = signal.Signals(-code).name
                hint = ", possibly because memory ran out (use fewer workers)" if name == "SIGKILL" else ""
                how = f"was ended by {name}{hint}"
            raise _EndedError(f"worker process {self._process.pid} {how}") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def dismiss(self) -> None:
        """Have it end by itself, as its pipe does."""
        self._pipe.close()

    def end(self) -> None:
        """End the process."""
        if not self._pipe.closed:
            self._process.terminate()
        self._process.join(_PATIENCE_SECONDS)
        self._process.kill()
        self._asking.shutdown()  # an open call has ended with the process
        self._pipe.close()
        self._process.join()
        self._process.close()


def _serve(pipe: Connection) -> None:
    """Answer as long as somebody asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one stops the others
    end_with_parent()
    player: Player | None = None
    while True:
        try:
            message = pipe.recv()
        except (EOFError, ConnectionError):  # whoever asked has ended, or was killed
            return
        try:
            if len(message) == 2:
                start, arguments = message
                if player is not None:
                    player.close()
                player = Player(start(*arguments))
                answer: Any = f"process {_SPAWN.current_process().pid}"
            else:
                assert player is not None
                answer = player.exchange(*message)
        except Exception as error:  # noqa: BLE001 - raised again in the first process
            answer, traceback = error, format_exc()
            try:
                pickle.loads(pickle.dumps(error))
            except Exception:  # noqa: BLE001 - whatever its class does
                answer = RuntimeError(f"{type(error).__name__}: {error}")
            answer.add_note(traceback)
        with suppress(ConnectionError):
            pipe.send(answer)
