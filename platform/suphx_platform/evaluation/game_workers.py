"""What a worker of Ray (ray_game_workers.py) does, without Ray: it unpacks the agents, and plays tasks in a thread.

It takes the next task when it has room.

>>> player = GamePlayer(plan, agents)
>>> player.exchange([], is_last=False, seconds=5).has_room
True
>>> player.exchange([(0, task)], is_last=True, seconds=5).finished
[FinishedTask(index=0, summary={...}, records=None)]
"""

from __future__ import annotations

import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import torch

from suphx.evaluation.game_runner import GamePlan, GameTask, Summary
from suphx.games.game import Agent
from suphx.games.registry import load_game
from suphx.selfplay.agents.checkpoint_folder import WEAK, find_checkpoints, split_address
from suphx_platform.agents.agent_forms import is_program, split_wrapper


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


NumberedTask = tuple[int, GameTask]


@dataclass(frozen=True, slots=True)
class FinishedTask:
    """What came of a task."""

    index: int
    summary: Summary
    records: bytes | None
    """The file of its records, if the plan has a folder for them."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a player answers."""

    finished: list[FinishedTask]
    """Since the last answer."""
    has_room: bool
    """Whether it waits for another task, or for the message that there is none."""


class GamePlayer:
    """Consumes: tasks. Produces: finished tasks. Waits for: the next task, while it has tables without a game.

    Games of several tasks may be played side by side (game_runner.py). When the last task is given, it plays what it
    has to the end; it may be given others after that.
    """

    def __init__(self, plan: GamePlan, agents: Sequence[Agent]) -> None:
        self._records = None if plan.records is None else tempfile.TemporaryDirectory(prefix="suphx-records-")
        self._plan = plan if self._records is None else replace(plan, records=Path(self._records.name))
        self._agents = agents
        self._changed = threading.Condition()
        self._waiting: deque[NumberedTask | None] = deque()
        """Tasks that it has not begun; None: there is none for the time being."""
        self._tasks: dict[int, GameTask] = {}
        self._finished: list[FinishedTask] = []
        self._has_room = False
        self._error: Exception | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="games")
        self._thread.start()

    def exchange(self, tasks: Sequence[NumberedTask], *, is_last: bool, seconds: float) -> Exchange:
        """Take ``tasks`` and return what is finished, at the latest after ``seconds``.

        ``is_last``: no task follows for the time being. Returns early if there is a finished task, or room for another
        one. Raises the error of a task.
        """
        with self._changed:
            self._waiting.extend(tasks)
            if is_last:
                self._waiting.append(None)
            if self._waiting:
                self._has_room = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._finished or self._has_room or self._error, seconds)
            if self._error is not None:
                raise self._error
            finished, self._finished = self._finished, []
            return Exchange(finished, self._has_room)

    def close(self) -> None:
        """End the thread, which must have no task, and remove its folder."""
        with self._changed:
            self._is_closed = True
            self._waiting.append(None)
            self._changed.notify_all()
        self._thread.join()
        if self._records is not None:
            self._records.cleanup()

    def _run(self) -> None:
        torch.set_num_threads(1)  # of this thread: small batches gain little from more
        try:
            while not self._is_closed:
                first = self._take()
                if first is not None:
                    self._play(chain([first], iter(self._take, None)))
        except Exception as error:  # noqa: BLE001 - raised again in whoever asks
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _play(self, tasks: Iterator[NumberedTask]) -> None:
        for index, summary in self._plan.play_tasks(self._agents, tasks, lambda games: None):
            finished = FinishedTask(index, summary, self._take_records(index))
            with self._changed:
                self._finished.append(finished)
                self._changed.notify_all()

    def _take(self) -> NumberedTask | None:
        """Return the next task, or None if there is none for the time being; wait for either."""
        with self._changed:
            if not self._waiting:
                self._has_room = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting)
            task = self._waiting.popleft()
            if task is not None:
                self._tasks[task[0]] = task[1]
            return task

    def _take_records(self, index: int) -> bytes | None:
        task = self._tasks.pop(index)
        if self._plan.records is None:
            return None
        path = self._plan.records_path(task)
        content = path.read_bytes()
        path.unlink()
        return content
