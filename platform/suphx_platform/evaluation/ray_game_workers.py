"""Games of matches and tournaments on the nodes of a Ray cluster.

>>> with ray_game_workers(64, say=print) as workers:
...     runner = GameRunner(workers=workers, load=load_any_agent)
...     play_match(MatchSetup("runs/a/supervised", "ukeire", seed=0), 4000, runner=runner)

Nets go through Ray's object store, so nodes share no disk. What a dead worker had begun is given to the others, while
Ray starts the worker again; games follow from their walls and agents, so nobody sees in the results who played them.
"""

from __future__ import annotations

import fcntl
import logging
import os
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import ray

from suphx.atomic_file import write_atomically
from suphx.cache_folder import cache_root, is_writable
from suphx.evaluation.game_runner import GamePlan, GameTask, Summary
from suphx.selfplay.layout import BESIDE
from suphx_platform.console.console import Console
from suphx_platform.console.table_text import count_text
from suphx_platform.evaluation.game_workers import Exchange, FinishedTask, GamePlayer, NumberedTask, PackedAgents
from suphx_platform.kernels.kernel_warmup import compile_kernels
from suphx_platform.ray.session import ray_session
from suphx_platform.ray.supervisor import cause_of, first_line

_LOCK = "match-kernels.lock"


class RestartedError(RuntimeError):
    """The process has ended and another one is in its place, which has no agents: tell it to begin."""


@dataclass(frozen=True, slots=True)
class ProcessLocation:
    """Where a process runs."""

    node: str
    """Address of the machine."""
    process: int

    def __str__(self) -> str:
        return f"process {self.process} on {self.node}"


class GameActor:
    """Plays tasks once it has been told by which plan."""

    def __init__(self) -> None:
        self._player: GamePlayer | None = None

    @ray.method(max_task_retries=1)
    def begin(self, plan: GamePlan, packed: PackedAgents) -> ProcessLocation:
        """Load the agents of a plan, whatever it had before; the first process of a node compiles the kernels.

        ValueError names the node.
        """
        location = ProcessLocation(ray.util.get_node_ip_address(), os.getpid())
        _compile_once(plan)
        try:
            with packed.unpacked() as addresses:
                agents = replace(plan, addresses=addresses).load_agents()
        except ValueError as error:
            raise ValueError(f"on node {location.node} of the Ray cluster: {error}") from error
        if self._player is not None:
            self._player.close()
        self._player = GamePlayer(plan, agents)
        return location

    def exchange(self, tasks: Sequence[NumberedTask], is_last: bool, seconds: float) -> Exchange:
        """Take ``tasks`` and return what is finished, as ``GamePlayer.exchange``."""
        if self._player is None:
            raise RestartedError("its process was started again")
        return self._player.exchange(tasks, is_last=is_last, seconds=seconds)


def new_game_actor(needs: Mapping[str, Any]) -> Any:
    """Return an actor on any node that has what it ``needs``, far from others; Ray starts it again whenever it dies."""
    options: dict[str, Any] = {**needs, "max_restarts": -1, "scheduling_strategy": "SPREAD"}
    return ray.remote(GameActor).options(**options).remote()


def _compile_once(plan: GamePlan) -> None:
    """Compile what games need; the processes of a node do so one after another, the first for all."""
    if not is_writable(cache_root()):  # then every process compiles what it needs
        return
    cache_root().mkdir(parents=True, exist_ok=True)
    with (cache_root() / _LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        plan.compile_kernels(partial(compile_kernels, Console(verbosity="quiet")))


MAX_LOSSES = 3
"""Times that a task may be lost with its worker."""
_MAX_LOST_STARTS = 5
"""Times that a worker may be lost before it has begun: until Ray notices that a node is gone, it may name it again."""
_EXCHANGE_SECONDS = 5.0
"""A worker answers at least so often, also if nothing is finished."""
_LOOK_SECONDS = 1.0
_END_SECONDS = 10.0
"""An actor that has not ended by itself after so long is killed."""
_SAY_SECONDS = 30.0
Say = Callable[[str], None]
Result = tuple[int, Summary]


@contextmanager
def ray_game_workers(number: int, *, say: Say) -> Iterator[RayGameWorkers]:
    """Be connected to Ray inside the block, and yield ``number`` workers, each on a logical CPU.

    ``say`` gets a line when a worker is lost, or while Ray has no place for them. Errors as for ``ray_session``.
    """
    with ray_session(num_cpus=number + 1):
        workers = RayGameWorkers(number, say=say)
        try:
            yield workers
        finally:
            workers.close()


@dataclass(slots=True)
class RayGameWorkers:
    """Plays tasks in ``number`` processes of Ray: ``GameWorkers`` of suphx.evaluation."""

    number: int
    say: Say = lambda text: None
    hang_seconds: float = 120.0
    """A worker that has not answered for so long is killed."""
    needs: Mapping[str, Any] = field(default_factory=lambda: {"num_cpus": 1})
    """What a worker needs of Ray."""
    is_stopped: Callable[[], bool] = lambda: False
    """Asked every second; True ends the work."""
    idle: list[Any] = field(default_factory=list)
    """Actors that have played all that they had: the next tasks need no new processes."""

    def play(
        self, plan: GamePlan, tasks: Sequence[GameTask], progress: Callable[[float], None]
    ) -> Generator[Result, None, None]:
        """Yield the index of each task and its summary, whatever ends first.

        ``progress`` gets the number of games of a finished task. ValueError if an agent cannot be loaded on a node, and
        any error of a task: no other task is begun, those under way are yielded before. ChildProcessError if the
        workers of a task were lost more than ``MAX_LOSSES`` times. InterruptedError at once if ``is_stopped``.
        """
        pool = _WorkerPool(self, plan, tasks)
        try:
            while pool.is_busy():
                if self.is_stopped():
                    raise InterruptedError("the match was stopped")
                for finished in pool.advance():
                    task = tasks[finished.index]
                    if plan.records is not None and finished.records is not None:
                        plan.records.mkdir(parents=True, exist_ok=True)
                        write_atomically(plan.records_path(task), [finished.records])
                    yield finished.index, finished.summary
                    progress(task.num_games)
        finally:
            pool.stop()
        if pool.failure is not None:
            raise pool.failure

    def close(self) -> None:
        """End the actors that wait for tasks; they remove their temporary files before."""
        if self.idle:
            ended = [actor.__ray_terminate__.remote() for actor in self.idle]
            ray.wait(ended, num_returns=len(ended), timeout=_END_SECONDS)
        while self.idle:
            ray.kill(self.idle.pop())


@dataclass(slots=True)
class _Worker:
    """An actor, and what it has to do."""

    number: int
    actor: Any
    location: ProcessLocation | None = None
    """None: it has not begun."""
    tasks: list[int] = field(default_factory=list)
    """That it has, by index."""
    has_room: bool = False
    lost_starts: int = 0

    def __str__(self) -> str:
        return f"worker {self.number}" + ("" if self.location is None else f" ({self.location})")


class _WorkerPool:
    """Consumes: answers of the actors. Produces: finished tasks. Waits for: the first answer.

    An actor that works has one call under way.
    """

    def __init__(self, settings: RayGameWorkers, plan: GamePlan, tasks: Sequence[GameTask]) -> None:
        self._settings, self._tasks = settings, tasks
        self._waiting = deque(range(len(tasks)))
        self._num_left = len(tasks)
        self._losses: Counter[int] = Counter()
        self._calls: dict[Any, tuple[_Worker, float]] = {}
        """Reference of a call -> whom it asks, and since when."""
        self.failure: Exception | None = None
        """What ends the work; tasks that were begun before are finished."""
        self._plan, self._packed = ray.put(plan), ray.put(PackedAgents.pack(plan))
        numbers = range(1, min(settings.number, len(tasks)) + 1)
        self._workers = [_Worker(number, self._new_actor()) for number in numbers]
        self._said_at = time.monotonic()
        for worker in self._workers:
            self._begin(worker)

    def _new_actor(self) -> Any:
        return self._settings.idle.pop() if self._settings.idle else new_game_actor(self._settings.needs)

    def is_busy(self) -> bool:
        """Whether results are to come."""
        return self._num_left > 0 if self.failure is None else any(worker.tasks for worker in self._workers)

    def advance(self) -> list[FinishedTask]:
        """Give tasks to those who have room, and return what is finished, perhaps nothing."""
        for worker in self._workers:
            if worker.has_room:
                self._give(worker)
        ready, _ = ray.wait(list(self._calls), timeout=_LOOK_SECONDS)
        finished = [each for reference in ready for each in self._handle(reference)]
        self._look()
        return finished

    def stop(self) -> None:
        """End all actors but those that have nothing to do."""
        if self._num_left == 0:
            self._await_room()
        for worker in self._workers:
            if worker.has_room and not worker.tasks:
                self._settings.idle.append(worker.actor)
            else:
                ray.kill(worker.actor)

    def _await_room(self) -> None:
        """Wait for the last answers of workers that have finished: they come at once."""
        calls = [reference for reference, (worker, _) in self._calls.items() if worker.location is not None]
        if calls:
            ready, _ = ray.wait(calls, num_returns=len(calls), timeout=_EXCHANGE_SECONDS)
            for reference in ready:
                self._handle(reference)

    def _begin(self, worker: _Worker) -> None:
        worker.location, worker.has_room = None, False
        self._call(worker, worker.actor.begin.remote(self._plan, self._packed))

    def _give(self, worker: _Worker) -> None:
        """Give a task, or say that there is none: unless it does nothing anyway, and may get one that is lost."""
        if self._waiting and self.failure is None:
            index = self._waiting.popleft()
            worker.tasks.append(index)
            self._exchange(worker, index)
        elif worker.tasks:
            self._exchange(worker, is_last=True)

    def _exchange(self, worker: _Worker, *indices: int, is_last: bool = False) -> None:
        worker.has_room = False
        tasks = [(index, self._tasks[index]) for index in indices]
        self._call(worker, worker.actor.exchange.remote(tasks, is_last, _EXCHANGE_SECONDS))

    def _call(self, worker: _Worker, reference: Any) -> None:
        self._calls[reference] = (worker, time.monotonic())

    def _handle(self, reference: Any) -> list[FinishedTask]:
        worker, _ = self._calls.pop(reference)
        try:
            answer: ProcessLocation | Exchange = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            if isinstance(cause_of(error), RestartedError):
                self._lose(worker, error)
            else:
                self._fail(worker, error)
            return []
        except ray.exceptions.RayError as error:  # its process or its node is gone
            self._lose(worker, error)
            return []
        if isinstance(answer, ProcessLocation):
            worker.location, worker.has_room = answer, True
            return []
        for finished in answer.finished:
            worker.tasks.remove(finished.index)
            worker.lost_starts = 0
            self._num_left -= 1
        worker.has_room = answer.has_room
        if not worker.has_room:
            self._exchange(worker)
        return answer.finished

    def _fail(self, worker: _Worker, error: ray.exceptions.RayTaskError) -> None:
        """Note an error that would come again elsewhere."""
        cause = cause_of(error)
        cause.add_note(str(error))  # with the traceback of that process
        worker.tasks.clear()
        self.failure = self.failure or cause

    def _lose(self, worker: _Worker, error: Exception) -> None:
        """Give the tasks of a dead worker to others, and have it begin again when Ray has started it."""
        lost, worker.tasks = sorted(worker.tasks), []
        self._losses.update(lost)
        self._waiting.extendleft(reversed(lost))
        if worker.location is None:
            worker.lost_starts += 1
            ray.kill(worker.actor)
            worker.actor = new_game_actor(self._settings.needs)
        again = f": {count_text(len(lost), 'part')} that it had begun {_are(len(lost))} played again" if lost else ""
        self._settings.say(f"{worker} was lost{again} ({first_line(error)})")
        if worker.lost_starts > _MAX_LOST_STARTS:
            self._end(f"{worker} was lost {worker.lost_starts} times before it played anything", error)
        elif failed := [index for index in lost if self._losses[index] > MAX_LOSSES]:
            self._end(f"{MAX_LOSSES + 1} workers were lost while they played {self._tasks[failed[0]].title}", error)
        else:
            self._begin(worker)

    def _end(self, what: str, error: Exception) -> None:
        hint = "see the logs of Ray's workers; perhaps nodes have too little memory, then use fewer workers"
        self.failure = self.failure or ChildProcessError(f"{what}; the last one: {first_line(error)}: {hint}")

    def _look(self) -> None:
        """Kill workers that hang, and say so if Ray has no place for any."""
        now = time.monotonic()
        for reference, (worker, since) in self._calls.items():
            if worker.location is not None and now > since + self._settings.hang_seconds:
                self._settings.say(f"{worker} has not answered for {now - since:.0f} s: it is killed")
                self._calls[reference] = (worker, now)
                ray.kill(worker.actor, no_restart=False)
        if now > self._said_at + _SAY_SECONDS and all(worker.location is None for worker in self._workers):
            self._said_at = now
            number = count_text(len(self._workers), "worker")
            self._settings.say(f"waiting until Ray has started {number}: {_need(self._settings.needs)}")


def _need(needs: Mapping[str, Any]) -> str:
    """Return what a worker waits for, as a part of a sentence."""
    num_cpus = needs.get("num_cpus", 0)
    kinds = ([count_text(num_cpus, "free CPU")] if num_cpus else []) + [
        f"a share of the resource {kind!r}" for kind in needs.get("resources", {})
    ]
    return f"each needs {' and '.join(kinds)} on a node"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


_BESIDE_SIMULATORS = {"num_cpus": 0, "resources": {"simulator": BESIDE}}
_logger = logging.getLogger(__name__)


class MatchThread:
    """Consumes: orders (self_play_match.py). Produces: outcomes, one after another. Waits for: workers.

    >>> matches = MatchThread()
    >>> future = matches.play(order)  # comes back at once
    >>> future.result().match.difference
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="match")
        self._is_closed = Event()

    def play(self, order: Any) -> Future[Any]:
        """Have a match played with the nets that its folder has now.

        The error of the future is a ChildProcessError if the workers of the same games are lost again and again.
        """
        files = None if order.keeps_games else order.files()  # the nets of a run that goes on change
        return self._executor.submit(self._play, order, files)

    def close(self) -> None:
        """End the match that is played, and forget all others."""
        self._is_closed.set()
        self._executor.shutdown(cancel_futures=True)

    def _play(self, order: Any, files: dict[str, bytes] | None) -> Any:
        workers = RayGameWorkers(
            order.workers, say=_logger.info, needs=_BESIDE_SIMULATORS, is_stopped=self._is_closed.is_set
        )
        try:
            if files is None:
                return order.play(other_workers=workers)
            with tempfile.TemporaryDirectory(prefix="suphx-match-") as name:
                for path, content in files.items():
                    target = Path(name, path)
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(content)
                return replace(order, folder=Path(name)).play(other_workers=workers)
        finally:
            workers.close()
