"""Games of matches and tournaments, spread over processes: who sits where on which wall, in tasks.

>>> addresses, names = ["ukeire", "runs/a/supervised"], ["baseline", "candidate"]
>>> for index, summary in play_tasks(addresses, names, tasks, summarise=count, rules=tenhou(), workers=2):
...     print(tasks[index].title, summary)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from suphx.evaluation.workers.game_task import (
    FORFEITS,
    GamePlan,
    GameTask,
    LoadAgent,
    Play,
    Summarise,
    Summary,
    Workers,
)
from suphx.evaluation.workers.kept_results import KeptResults
from suphx.evaluation.workers.worker_processes import Work, run_tasks, tick
from suphx.games.riichi import Rules
from suphx.selfplay.agents.agent import Agent, NetAgent, load_agent
from suphx.selfplay.rollouts.rollout import DEFAULT_TABLES, play_stream

_SLOW_TABLES = 64
"""At most so many games side by side with slow nets: a killed match loses the games in progress."""
_Progress = Callable[[float], None]
MAX_WALL_SEED = 1 << 20
_WALL_SEED_BASE = 1 << 40
"""Keeps the walls of matches apart from those of training games."""


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
    workers: Workers,
    load: LoadAgent = load_agent,
    play: Play = play_stream,
    kept: KeptResults | None = None,
    progress: Callable[[float], None] | None = None,
    max_tables: int | None = None,
    records: Path | None = None,
    note_forfeit: Callable[[int, str], None] = lambda agent, reason: None,
) -> Iterator[tuple[int, Summary]]:
    """Yield the index of each task and the summary of its games: first what is ``kept``, then whatever ends first.

    The summaries do not depend on ``workers``: the number of processes here, or who plays elsewhere. ``addresses`` are
    for ``load``; in the logs the agents have ``names``. ``play`` plays games of several tasks side by side;
    ``summarise`` gets what it yields for one task. New summaries are kept before they are yielded. ``progress`` is
    called with parts of games; their sum is the number of games when all tasks are yielded. ``max_tables`` limits the
    games that a process plays side by side: those in progress are lost if the caller stops. ``records`` is a folder for
    the games that are played now: a table of records for each task. ``note_forfeit`` gets the number of an agent that
    could not play a game to its end, and why, before the summary with this game is yielded. ValueError for an unknown
    agent. ChildProcessError if one of the processes dies (elsewhere: too often); the tasks that the others have begun
    are yielded before.
    """
    progress = progress or (lambda games: None)
    plan = GamePlan(
        addresses=tuple(addresses),
        names=tuple(names),
        load=load,
        rules=rules,
        has_draw_lanes=has_draw_lanes,
        play=play,
        summarise=summarise,
        num_tables=max_tables or DEFAULT_TABLES,
        records=records,
    )
    agents = plan.load_agents()  # here first: a wrong address is an error of this process
    known = _known(tasks, kept)
    for index, summary in known.items():
        progress(len(tasks[index].seeds))
        yield index, _without_forfeits(summary, note_forfeit)
    missing = [index for index in range(len(tasks)) if index not in known]
    if not missing:
        return
    todo = [tasks[index] for index in missing]
    number = workers if isinstance(workers, int) else workers.number
    plan = replace(plan, num_tables=min(_share(todo, number, agents), plan.num_tables))
    with closing(_results(plan, agents, todo, workers, progress)) as results:
        for position, summary in results:
            index = missing[position]
            if kept is not None:
                kept.write(tasks[index].key, summary)
            yield index, _without_forfeits(summary, note_forfeit)


def _known(tasks: Sequence[GameTask], kept: KeptResults | None) -> dict[int, Summary]:
    """Return the summaries that are kept, by the index of their task."""
    found = {} if kept is None else {index: kept.read(task.key) for index, task in enumerate(tasks)}
    return {index: summary for index, summary in found.items() if summary is not None}


def _results(
    plan: GamePlan, agents: Sequence[Agent], tasks: Sequence[GameTask], workers: Workers, progress: _Progress
) -> Generator[tuple[int, Summary], None, None]:
    """Yield the index of each task and its summary from whoever plays."""
    if not isinstance(workers, int):
        yield from workers.play(plan, tasks, progress)
    elif min(workers, len(tasks)) == 1:
        with _one_thread():
            yield from plan.play_tasks(agents, iter(enumerate(tasks)), progress)
    else:
        yield from run_tasks(
            tasks, _start_worker, (plan,), workers=workers, describe=lambda task: task.title, progress=progress
        )


def _without_forfeits(summary: Summary, note_forfeit: Callable[[int, str], None]) -> Summary:
    """Return a summary as its task's function made it, and tell of the forfeits in its games."""
    for agent, reason, *_ in summary.get(FORFEITS, ()):
        note_forfeit(agent, reason)
    return {name: value for name, value in summary.items() if name != FORFEITS}


def _share(tasks: Sequence[GameTask], workers: int, agents: Sequence[Agent]) -> int:
    """Return how many games a process plays side by side: few with slow nets, as a kill loses games in progress."""
    num_games = sum(len(task.seeds) for task in tasks)
    is_slow = any(isinstance(agent, NetAgent) and agent.is_slow for agent in agents)
    return min(_SLOW_TABLES if is_slow else DEFAULT_TABLES, -(-num_games // min(workers, len(tasks))))


@contextmanager
def _one_thread() -> Iterator[None]:
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
