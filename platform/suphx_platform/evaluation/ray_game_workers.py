"""Games of matches and tournaments on the nodes of a Ray cluster.

>>> with ray_game_workers(64, say=print) as workers:
...     runner = GameRunner(workers=workers, load=partial(load_any_agent, game="riichi"))
...     play_match(MatchSetup("runs/a/supervised", "ukeire", seed=0), 4000, runner=runner)

Nets go through Ray's object store, so nodes share no disk. What a dead worker had begun is given to others, and another
worker takes its place; games follow from their walls and agents, so nobody sees in the results who played them.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, cast

import ray
from filelock import lock_descriptor

from suphx.atomic_file import write_atomically
from suphx.cache_folder import cache_root, is_writable
from suphx.evaluation.game_runner import GamePlan, GameTask, Summary, start_games
from suphx.evaluation.worker_pool import Exchange, Player, Progress, Start, Work, Worker, WorkerPool
from suphx.games.registry import load_game
from suphx.printable_text import first_line
from suphx.selfplay.agents.checkpoint_folder import WEAK, find_checkpoints, split_address
from suphx.selfplay.layout import BESIDE
from suphx_platform.agents.agent_forms import is_program, split_wrapper
from suphx_platform.console.console import Console
from suphx_platform.console.table_text import count_text
from suphx_platform.kernels.kernel_warmup import compile_kernels
from suphx_platform.ray.session import ray_session
from suphx_platform.ray.supervisor import cause_of

_LOCK = "match-kernels.lock"
_END_SECONDS = 10.0
"""An actor that has not ended by itself after so long is killed."""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PackedAgents:
    """Addresses of agents, and the files of their nets. A program stays a command line: the machine must have it."""

    addresses: tuple[str, ...]
    files: Mapping[str, Mapping[str, bytes]]
    """Folder of checkpoints -> name of a file -> content; nets of several agents are there once."""

    @classmethod
    def pack(cls, plan: GamePlan) -> PackedAgents:
        """Read the nets of the agents of a plan. ValueError if one is missing, OSError if it cannot be read."""
        files: dict[str, dict[str, bytes]] = {}
        for address in plan.addresses:
            folder, words = (None, set[str]()) if address in load_game(plan.game).agents else _folder(address)
            if folder is None:
                continue
            content = files.setdefault(folder, {})
            for path in find_checkpoints(Path(folder), is_weak=WEAK in words, game=plan.game):
                if path.name not in content:
                    content[path.name] = path.read_bytes()
        return cls(plan.addresses, files)

    @contextmanager
    def unpacked(self) -> Iterator[tuple[str, ...]]:
        """Yield the addresses on this machine; the files are removed at the end of the block."""
        with tempfile.TemporaryDirectory(prefix="suphx-agents-") as space:
            places = {folder: Path(space, str(number)) for number, folder in enumerate(self.files)}
            for folder, place in places.items():
                place.mkdir()
                for name, content in self.files[folder].items():
                    (place / name).write_bytes(content)
            yield tuple(_moved(address, places) for address in self.addresses)


def _folder(address: str) -> tuple[str | None, set[str]]:
    """Return the folder of an agent's checkpoints (None: it has none) and the options of its address."""
    if is_program(address):
        return None, set()
    location, words = split_address(split_wrapper(address)[1])
    return (location if Path(location).is_dir() else None), words


def _moved(address: str, places: Mapping[str, Path]) -> str:
    if is_program(address):
        return address
    wrapper, nets = split_wrapper(address)
    location, words = split_address(nets)
    if location not in places:
        return address
    return f"{wrapper}{places[location]}{':' if words else ''}{','.join(sorted(words))}"


def start_packed(plan: GamePlan, packed: PackedAgents) -> Work:
    """Load the agents of a plan; return what plays tasks here. Results are summaries, and the files of records."""
    if plan.records is not None:
        folder = Path(tempfile.mkdtemp(prefix="suphx-records-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        plan = replace(plan, records=folder)
    with packed.unpacked() as addresses:
        play = start_games(replace(plan, addresses=addresses))

    def work(tasks: Iterator[tuple[int, GameTask]], progress: Progress) -> Iterator[tuple[int, Any]]:
        begun: dict[int, GameTask] = {}

        def noted() -> Iterator[tuple[int, GameTask]]:
            for index, task in tasks:
                begun[index] = task
                yield index, task

        for index, summary in play(noted(), progress):
            task = begun.pop(index)
            records = None
            if plan.records is not None:
                path = plan.records_path(task)
                records = path.read_bytes()
                path.unlink()
            yield index, (summary, records)

    return work


class GameActor:
    """Plays tasks once it has been told by which plan."""

    def __init__(self) -> None:
        self._player: Player | None = None

    def begin(self, plan: GamePlan, packed: PackedAgents) -> str:
        """Load the agents of a plan, whatever it had before; the first process of a node compiles the kernels.

        Returns where it runs. ValueError names the node.
        """
        node = ray.util.get_node_ip_address()
        if is_writable(cache_root()):  # else every process compiles what it needs
            cache_root().mkdir(parents=True, exist_ok=True)
            with (cache_root() / _LOCK).open("a") as file:
                lock_descriptor(file.fileno())
                plan.compile_kernels(partial(compile_kernels, Console(verbosity="quiet")))
        try:
            work = start_packed(plan, packed)
        except ValueError as error:
            raise ValueError(f"on node {node} of the Ray cluster: {error}") from error
        if self._player is not None:
            self._player.close()
        self._player = Player(work)
        return f"process {os.getpid()} on {node}"

    def exchange(self, tasks: Sequence[tuple[int, GameTask]], is_last: bool, seconds: float) -> Exchange:
        """Take ``tasks`` and return what is finished, as ``Player.exchange``."""
        assert self._player is not None
        return self._player.exchange(tasks, is_last, seconds)


class _RayWorker(Worker):
    """An actor on any node that has what it needs, far from others."""

    def __init__(self, needs: Mapping[str, Any]) -> None:
        super().__init__()
        self._actor: Any = ray.remote(GameActor).options(**needs, scheduling_strategy="SPREAD").remote()
        self._dismissed: Any = None

    def begin(self, start: Start, arguments: tuple[Any, ...]) -> Future[str]:
        """Have it load the agents."""
        return cast("Future[str]", self._actor.begin.remote(*arguments).future())

    def exchange(self, tasks: Sequence[tuple[int, Any]], is_last: bool, seconds: float) -> Future[Exchange]:
        """Return what ``Player.exchange`` does."""
        return cast("Future[Exchange]", self._actor.exchange.remote(tasks, is_last, seconds).future())

    def dismiss(self) -> None:
        """Have the actor remove its temporary files and end."""
        self._dismissed = self._actor.__ray_terminate__.remote()

    def end(self) -> None:
        """End the actor."""
        if self._dismissed is not None:
            ray.wait([self._dismissed], timeout=_END_SECONDS)
        ray.kill(self._actor)


class RayGameWorkers(WorkerPool):
    """Plays tasks in ``number`` processes of Ray: ``GameWorkers`` of suphx.evaluation."""

    max_losses = 3
    max_lost_starts = 5  # until Ray notices that a node is gone, it may name it again

    def __init__(
        self, number: int, *, needs: Mapping[str, Any] | None = None, hang_seconds: float = 120.0, **options: Any
    ) -> None:
        """``needs``: of a worker in Ray (None: a CPU); the others as for ``WorkerPool``."""
        super().__init__(number, hang_seconds=hang_seconds, **options)
        self._needs = needs or {"num_cpus": 1}
        num_cpus, resources = self._needs.get("num_cpus", 0), self._needs.get("resources", {})
        kinds = [count_text(num_cpus, "free CPU")] if num_cpus else []
        kinds += [f"a share of the resource {kind!r}" for kind in resources]
        need = f"each needs {' and '.join(kinds)} on a node"
        self.waits_for = f"waiting until Ray has started {count_text(number, 'worker')}: {need}"

    def new_worker(self) -> Worker:
        """Return another actor."""
        return _RayWorker(self._needs)

    def loss_of(self, error: Exception) -> str | None:
        """Return how an actor was lost, with its process or node."""
        if isinstance(error, ray.exceptions.RayTaskError) or not isinstance(error, ray.exceptions.RayError):
            return None
        return first_line(cause_of(error))

    def play(
        self, plan: GamePlan, tasks: Sequence[GameTask], progress: Progress
    ) -> Generator[tuple[int, Summary], None, None]:
        """Yield the index of each task and its summary, whatever ends first; the rest as for ``run``.

        ValueError if an agent cannot be loaded on a node.
        """
        arguments = (ray.put(plan), ray.put(PackedAgents.pack(plan)))
        results = self.run(
            tasks,
            start_packed,
            arguments,
            describe=lambda task: task.title,
            size=lambda task: task.num_games,
            progress=progress,
        )
        try:
            with closing(results):
                for index, (summary, records) in results:
                    if plan.records is not None and records is not None:
                        plan.records.mkdir(parents=True, exist_ok=True)
                        write_atomically(plan.records_path(tasks[index]), [records])
                    yield index, summary
        except ray.exceptions.RayTaskError as error:
            cause = cause_of(error)
            cause.add_note(str(error))  # with the traceback of that process
            raise cause from None


@contextmanager
def ray_game_workers(number: int, *, say: Callable[[str], None]) -> Iterator[RayGameWorkers]:
    """Be connected to Ray inside the block, and yield ``number`` workers, each on a logical CPU.

    ``say`` gets a line when a worker is lost, or while Ray has no place for them. Errors as for ``ray_session``.
    """
    with ray_session(num_cpus=number + 1), closing(RayGameWorkers(number, say=say)) as workers:
        yield workers


_BESIDE_SIMULATORS = {"num_cpus": 0, "resources": {"simulator": BESIDE}}


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
