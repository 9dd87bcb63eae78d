"""Games of matches and tournaments, spread over processes: who sits where on which wall, in tasks.

>>> addresses, names = ["ukeire", "runs/a/supervised"], ["baseline", "candidate"]
>>> for logs in play_tasks(addresses, names, tasks, rules=tenhou(), workers=2):
...     count(logs)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

import torch

from suphx.riichi.gamelog import GameLog
from suphx.riichi.record import I64
from suphx.riichi.rules import Rules
from suphx.selfplay.agent import Agent, load_agent
from suphx.selfplay.rollout import play_games

LoadAgent = Callable[[str], Agent]
"""Makes an agent of its address; a function of a module, as processes load it anew."""

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
    rules: Rules,
    workers: int,
    load: LoadAgent = load_agent,
) -> Iterator[list[GameLog]]:
    """Yield the games of each task in order; the result does not depend on ``workers``, the number of processes.

    ``addresses`` are for ``load``; in the logs the agents go by ``names``. ValueError for an unknown agent.
    ChildProcessError if one of the processes dies.
    """
    agents = _load(addresses, names, load)  # here first: a wrong address is an error of this process
    if workers == 1 or len(tasks) == 1:
        with _one_thread():
            for task in tasks:
                yield _play(agents, task, rules)
        return
    with ProcessPoolExecutor(
        min(workers, len(tasks)), get_context("spawn"), initializer=_start_worker, initargs=(addresses, names, load)
    ) as pool:
        try:
            yield from pool.map(_play_in_worker, tasks, [rules] * len(tasks))
        except BrokenProcessPool as error:
            raise ChildProcessError(
                f"one of {workers} processes that play games died, perhaps for want of memory: use fewer workers"
            ) from error


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


def _play(agents: Sequence[Agent], task: GameTask, rules: Rules) -> list[GameLog]:
    return list(play_games(agents, task.seating, task.seeds, rules))


_agents_of_worker: list[Agent] = []


def _start_worker(addresses: Sequence[str], names: Sequence[str], load: LoadAgent) -> None:
    torch.set_num_threads(1)
    _agents_of_worker[:] = _load(addresses, names, load)


def _play_in_worker(task: GameTask, rules: Rules) -> list[GameLog]:
    return _play(_agents_of_worker, task, rules)
