"""Plays the games of matches and tournaments, task by task, in one process or many.

>>> plan = GamePlan(addresses=("ukeire", "runs/a/supervised"), names=("0", "1"), summarise=count)
>>> for played in GameRunner(workers=2).play(plan, tasks):
...     print(tasks[played.index].title, played.summary)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from suphx.evaluation.workers.forfeits import Forfeit
from suphx.evaluation.workers.game_task import GamePlan, GameTask, LoadAgent
from suphx.evaluation.workers.match_records import KeptResults, with_kept
from suphx.evaluation.workers.play_plan import FORFEITS, Summary, Workers
from suphx.evaluation.workers.worker_processes import Work, run_tasks, tick
from suphx.selfplay.agents.agent import Agent, load_agent
from suphx.selfplay.rollouts.rollout import DEFAULT_TABLES

_SLOW_TABLES = 64
"""At most so many games side by side with slow nets: a killed match loses the games in progress."""


@dataclass(frozen=True, slots=True)
class PlayedTask:
    """What came of a task."""

    index: int
    """Of the task."""
    summary: Summary
    forfeits: tuple[Forfeit, ...]
    """Seats whose agents could not play a game to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRunner:
    """How games are played, and what is kept of them. No result depends on it."""

    workers: Workers = 1
    """The number of processes here, or who plays elsewhere."""
    load: LoadAgent = load_agent
    """Makes agents of their addresses."""
    kept: KeptResults | None = None
    """What it has of the same games is not played again; it gets each task that is finished."""
    records: Path | None = None
    """Folder for the games that are played now: a table of records for each task."""
    progress: Callable[[float], None] = lambda games: None
    """Called with parts of games while they are played."""
    note_kept: Callable[[float], None] | None = None
    """Called with numbers of games that were kept; None: ``progress`` is."""
    max_tables: int = DEFAULT_TABLES
    """Games that a process plays side by side, at most: those in progress are lost if the caller stops."""

    def play(self, plan: GamePlan, tasks: Sequence[GameTask]) -> Iterator[PlayedTask]:
        """Yield what came of each task: first what is ``kept``, then whatever ends first.

        When the caller stops iterating, the processes end. ValueError for an unknown agent. ChildProcessError if one of
        the processes dies (elsewhere: too often); the tasks that the others have begun are yielded before.
        """
        plan = replace(plan, load=self.load, records=self.records)
        agents = plan.load_agents()  # here first: a wrong address is an error of this process

        def results(missing: list[int]) -> Generator[tuple[int, Summary], None, None]:
            todo = [tasks[index] for index in missing]
            return self._results(replace(plan, num_tables=self._num_tables(todo, agents)), agents, todo)

        def note_kept(index: int) -> None:
            (self.note_kept or self.progress)(tasks[index].num_games)

        with closing(with_kept(self.kept, [task.key for task in tasks], results, note_kept)) as played:
            for index, summary in played:
                yield _played(index, summary)

    def _num_tables(self, tasks: Sequence[GameTask], agents: Sequence[Agent]) -> int:
        """Return how many games a process plays side by side: few with slow nets, as a kill loses games in progress."""
        number = self.workers if isinstance(self.workers, int) else self.workers.number
        num_games = sum(task.num_games for task in tasks)
        is_slow = any(getattr(agent, "is_slow", False) for agent in agents)
        most = min(self.max_tables, _SLOW_TABLES) if is_slow else self.max_tables
        return min(most, -(-num_games // min(number, len(tasks))))

    def _results(
        self, plan: GamePlan, agents: Sequence[Agent], tasks: Sequence[GameTask]
    ) -> Generator[tuple[int, Summary], None, None]:
        """Yield the index of each task and its summary from whoever plays."""
        workers, progress = self.workers, self.progress
        if not isinstance(workers, int):
            yield from workers.play(plan, tasks, progress)
        elif min(workers, len(tasks)) == 1:
            with one_thread():
                yield from plan.play_tasks(agents, iter(enumerate(tasks)), progress)
        else:
            yield from run_tasks(
                tasks, _start_worker, (plan,), workers=workers, describe=lambda task: task.title, progress=progress
            )


ONE_PROCESS = GameRunner()
"""Plays in this process and keeps nothing."""


def _played(index: int, summary: Summary) -> PlayedTask:
    """Return what came of a task: its summary as its function made it, and the forfeits in its games."""
    forfeits = tuple(Forfeit(agent, reason) for agent, reason, *_ in summary.get(FORFEITS, ()))
    return PlayedTask(index, {name: value for name, value in summary.items() if name != FORFEITS}, forfeits)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch on one thread: small batches gain little from more, and lose much when others want the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _start_worker(plan: GamePlan) -> Work[GameTask, Summary]:
    torch.set_num_threads(1)
    agents = plan.load_agents()
    return lambda tasks: plan.play_tasks(agents, tasks, tick)
