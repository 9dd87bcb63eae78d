"""Games of matches and tournaments, spread over processes: who sits where on which wall, in tasks.

>>> addresses, names = ["ukeire", "runs/a/supervised"], ["baseline", "candidate"]
>>> for index, summary in play_tasks(addresses, names, tasks, summarise=count, rules=tenhou(), workers=2):
...     print(tasks[index].title, summary)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from suphx.evaluation.workers.kept_results import KeptResults
from suphx.evaluation.workers.worker_processes import Work, run_tasks, tick
from suphx.games.riichi import Rules, write_records
from suphx.kernel.record import I64
from suphx.selfplay.agents.agent import Agent, NetAgent, load_agent
from suphx.selfplay.rollouts.rollout import DEFAULT_TABLES, Game, list_games, play_stream

LoadAgent = Callable[[str], Agent]
"""Makes an agent of its address; a function of a module, as processes load it anew."""
Summary = dict[str, Any]
"""What is known of a task's games, as plain JSON values."""
Summarise = Callable[[Sequence[Any]], Summary]
"""A function of a module too: processes send what it returns, not the games, and a killed match keeps that."""
Play = Callable[..., Iterable[Any]]
"""A function of a module with the arguments of ``play_stream``: yields the result of each game, in order."""

_SLOW_TABLES = 64
"""At most so many games side by side with slow nets: a killed match loses the games in progress."""
_FORFEITS = "forfeits"
"""In a summary that is kept: agents that could not play a game to its end, and why."""
MAX_WALL_SEED = 1 << 20
_WALL_SEED_BASE = 1 << 40
"""Keeps the walls of matches apart from those of training games."""


@dataclass(frozen=True, slots=True)
class GameTask:
    """Games that one process plays and whose summary is kept as one."""

    seating: I64
    """int64 [n, 4]: the agent at each seat, as its index among the agents."""
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
    has_draw_lanes: bool = True,
    workers: int,
    load: LoadAgent = load_agent,
    play: Play = play_stream,
    kept: KeptResults | None = None,
    progress: Callable[[float], None] | None = None,
    max_tables: int | None = None,
    records: Path | None = None,
    note_forfeit: Callable[[int, str], None] = lambda agent, reason: None,
) -> Iterator[tuple[int, Summary]]:
    """Yield the index of each task and the summary of its games: first what is ``kept``, then whatever ends first.

    The summaries do not depend on ``workers``, the number of processes. ``addresses`` are for ``load``; in the logs
    the agents have ``names``. ``play`` plays games of several tasks side by side; ``summarise`` gets what it yields
    for one task. New summaries are kept before they are yielded. ``progress`` is called with parts of games; their sum
    is the number of games when all tasks are yielded. ``max_tables`` limits the games that a process plays side by
    side: those in progress are lost if the caller stops. ``records`` is a folder for the games that are played now: a
    table of records for each task. ``note_forfeit`` gets the number of an agent that could not play a game to its end,
    and why, before the summary with this game is yielded. ValueError for an unknown agent. ChildProcessError if one of
    the processes dies; the tasks that the others have begun are yielded before.
    """
    progress = progress or (lambda games: None)
    agents = _load(addresses, names, load)  # here first: a wrong address is an error of this process
    missing = []
    for index, task in enumerate(tasks):
        known = None if kept is None else kept.read(task.key)
        if known is None:
            missing.append(index)
        else:
            progress(len(task.seeds))
            yield index, _without_forfeits(known, note_forfeit)
    if not missing:
        return
    todo = [tasks[index] for index in missing]
    workers = min(workers, len(todo))
    num_tables = min(_share(todo, workers, agents), max_tables or DEFAULT_TABLES)
    how = _Playing(rules, has_draw_lanes, play, summarise, num_tables, records)
    if workers == 1:
        results = _play_here(agents, how, todo, progress)
    else:
        results = run_tasks(
            todo,
            _start_worker,
            (addresses, names, load, how),
            workers=workers,
            describe=lambda task: task.title,
            progress=progress,
        )
    for number, summary in results:
        index = missing[number]
        if kept is not None:
            kept.write(tasks[index].key, summary)
        yield index, _without_forfeits(summary, note_forfeit)


@dataclass(frozen=True, slots=True)
class _Playing:
    """How processes play: all that does not change from task to task."""

    rules: Rules
    has_draw_lanes: bool
    play: Play
    summarise: Summarise
    num_tables: int
    """Games that a process plays side by side."""
    records: Path | None
    """Folder for records of the games; None: they are not kept."""

    def play_tasks(
        self, agents: Sequence[Agent], tasks: Iterator[tuple[int, GameTask]], progress: Callable[[float], None]
    ) -> Iterator[tuple[int, Summary]]:
        """Yield the index of each task and its summary; tasks are taken when there are tables for their games."""
        begun: deque[tuple[int, GameTask]] = deque()

        def games() -> Iterator[Game]:
            for index, task in tasks:
                begun.append((index, task))
                yield from list_games(task.seating, task.seeds)

        forfeits: dict[str, list[tuple[int, str]]] = {}

        def note_forfeit(game: Game, seat: int, reason: str) -> None:
            forfeits.setdefault(game.id, []).append((game.seats[seat], reason))

        finished: list[Any] = []
        for game in self.play(
            agents,
            games(),
            self.rules,
            num_tables=self.num_tables,
            has_draw_lanes=self.has_draw_lanes,
            progress=progress,
            note_forfeit=note_forfeit,
        ):
            finished.append(game)
            index, task = begun[0]
            if len(finished) == len(task.seeds):
                begun.popleft()
                if self.records is not None:
                    write_records(finished, self.records / f"{task.key}.tsv.xz", "mjlog")
                summary = self.summarise(finished)
                if forfeits:
                    summary[_FORFEITS] = [each for log in finished for each in forfeits.pop(log.id, ())]
                yield index, summary
                finished = []


def _without_forfeits(summary: Summary, note_forfeit: Callable[[int, str], None]) -> Summary:
    """Return a summary as its task's function made it, and tell of the forfeits in its games."""
    for agent, reason in summary.get(_FORFEITS, ()):
        note_forfeit(agent, reason)
    return {name: value for name, value in summary.items() if name != _FORFEITS}


def _share(tasks: Sequence[GameTask], workers: int, agents: Sequence[Agent]) -> int:
    """Return how many games a process plays side by side: few with slow nets, as a kill loses games in progress."""
    num_games = sum(len(task.seeds) for task in tasks)
    is_slow = any(isinstance(agent, NetAgent) and agent.is_slow for agent in agents)
    return min(_SLOW_TABLES if is_slow else DEFAULT_TABLES, -(-num_games // workers))


def _play_here(
    agents: Sequence[Agent], how: _Playing, tasks: Sequence[GameTask], progress: Callable[[float], None]
) -> Iterator[tuple[int, Summary]]:
    with _one_thread():
        yield from how.play_tasks(agents, iter(enumerate(tasks)), progress)


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


def _start_worker(
    addresses: Sequence[str], names: Sequence[str], load: LoadAgent, how: _Playing
) -> Work[GameTask, Summary]:
    torch.set_num_threads(1)
    agents = _load(addresses, names, load)
    return lambda tasks: how.play_tasks(agents, tasks, tick)
