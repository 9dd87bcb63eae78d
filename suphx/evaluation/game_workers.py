"""Games of matches and tournaments, spread over processes: who sits where on which wall, in tasks.

>>> addresses, names = ["ukeire", "runs/a/supervised"], ["baseline", "candidate"]
>>> for place, summary in play_tasks(addresses, names, tasks, summarise=count, rules=tenhou(), workers=2):
...     print(tasks[place].title, summary)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.worker_processes import run_tasks, tick
from suphx.riichi.record import I64
from suphx.riichi.rules import Rules
from suphx.selfplay.agent import Agent, load_agent
from suphx.selfplay.rollout import play_games

LoadAgent = Callable[[str], Agent]
"""Makes an agent of its address; a function of a module, as processes load it anew."""
Summary = dict[str, Any]
"""What is known of a task's games, as plain JSON values."""
Summarise = Callable[[Sequence[Any]], Summary]
"""A function of a module too: processes send what it returns, not the games, and a killed match keeps that."""
Play = Callable[..., Iterable[Any]]
"""A function of a module with the arguments of ``play_games``: yields the results of a task's games, in order."""

MAX_WALL_SEED = 1 << 20
_WALL_SEED_BASE = 1 << 40
"""Keeps the walls of matches apart from those of training games."""


@dataclass(frozen=True, slots=True)
class GameTask:
    """Games that one process plays side by side."""

    seating: I64
    """int64 [n, 4]: the agent at each seat, as its place among the agents."""
    seeds: tuple[int, ...]
    """Of the wall of each game; equal seeds give equal walls."""
    key: str
    """Differs for every task of a match or tournament: the name under which its result is kept."""
    title: str
    """Who plays what, for errors."""


def wall_seeds(seed: int, num_walls: int) -> range:
    """Return the seeds of ``num_walls`` walls; different ``seed`` (0 to 2**20 - 1) never share one. ValueError else."""
    if not 0 <= seed < MAX_WALL_SEED:
        raise ValueError(f"seed is {seed}: use 0 to {MAX_WALL_SEED - 1}")
    first = _WALL_SEED_BASE + seed * (1 << 40)
    return range(first, first + num_walls)


def play_tasks(
    addresses: Sequence[str],
    names: Sequence[str],
    tasks: Sequence[GameTask],
    *,
    summarise: Summarise,
    rules: Rules,
    workers: int,
    load: LoadAgent = load_agent,
    play: Play = play_games,
    kept: KeptResults | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[tuple[int, Summary]]:
    """Yield the place of each task and the summary of its games: first what is ``kept``, then whatever ends first.

    The summaries do not depend on ``workers``, the number of processes. ``addresses`` are for ``load``; in the logs
    the agents go by ``names``. ``play`` plays the games of a task, and ``summarise`` gets what it yields. New summaries
    are kept before they are yielded. ``progress`` is called with parts of games; their sum is the number of games when
    all tasks are yielded. ValueError for an unknown agent. ChildProcessError if one of the processes dies; results that
    the others have in hand are yielded before.
    """
    counts = _GameCounts(tasks, progress)
    agents = _load(addresses, names, load)  # here first: a wrong address is an error of this process
    missing = []
    for place, task in enumerate(tasks):
        known = None if kept is None else kept.read(task.key)
        if known is None:
            missing.append(place)
        else:
            counts.end(place)
            yield place, known
    todo = [tasks[place] for place in missing]
    if workers == 1 or len(todo) <= 1:
        results = _play_here(
            agents, rules, play, summarise, todo, lambda number, part: counts.add(missing[number], part)
        )
    else:
        arguments = (addresses, names, load, rules, play, summarise)
        results = run_tasks(
            todo,
            _start_worker,
            arguments,
            workers=workers,
            describe=lambda task: task.title,
            progress=lambda number, part: counts.add(missing[number], part),
        )
    for number, summary in results:
        place = missing[number]
        if kept is not None:
            kept.write(tasks[place].key, summary)
        counts.end(place)
        yield place, summary


class _GameCounts:
    """Consumes: parts of tasks that are done. Produces: calls of ``progress`` whose sum is the number of games."""

    def __init__(self, tasks: Sequence[GameTask], progress: Callable[[float], None] | None) -> None:
        self._tasks, self._progress = tasks, progress
        self._counted = [0.0] * len(tasks)

    def add(self, place: int, games: float) -> None:
        self._counted[place] += games
        if self._progress is not None:
            self._progress(games)

    def end(self, place: int) -> None:
        self.add(place, len(self._tasks[place].seeds) - self._counted[place])


def _play_here(
    agents: Sequence[Agent],
    rules: Rules,
    play: Play,
    summarise: Summarise,
    tasks: Sequence[GameTask],
    progress: Callable[[int, float], None],
) -> Iterator[tuple[int, Summary]]:
    with _one_thread():
        for number, task in enumerate(tasks):
            yield number, _play(agents, rules, play, summarise, partial(progress, number), task)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep torch on one thread: small batches gain little from more, and lose much when others want the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _load(addresses: Sequence[str], names: Sequence[str], load: LoadAgent) -> list[Agent]:
    agents = [load(address) for address in addresses]
    for agent, name in zip(agents, names, strict=True):
        agent.name = name  # the same nets may play several parts
    return agents


def _play(
    agents: Sequence[Agent],
    rules: Rules,
    play: Play,
    summarise: Summarise,
    progress: Callable[[float], None],
    task: GameTask,
) -> Summary:
    return summarise(list(play(agents, task.seating, task.seeds, rules, progress=progress)))


def _start_worker(
    addresses: Sequence[str], names: Sequence[str], load: LoadAgent, rules: Rules, play: Play, summarise: Summarise
) -> Callable[[GameTask], Summary]:  # fmt: skip
    torch.set_num_threads(1)
    return partial(_play, _load(addresses, names, load), rules, play, summarise, tick)
