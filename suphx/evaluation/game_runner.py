"""Plays the games of matches and tournaments, task by task, in one process or many.

>>> plan = GamePlan(addresses=("ukeire", "runs/a/supervised"), names=("0", "1"))
>>> for played in GameRunner(workers=2).play(plan, tasks):
...     print(tasks[played.index].title, played.places)

A plan and its tasks can be pickled: whoever gets both plays the same games on any machine.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from suphx.evaluation.kept_results import KeptResults, with_kept
from suphx.evaluation.worker_pool import ProcessPool, Progress, Work
from suphx.games.game import Agent, Game, PlayedGame
from suphx.games.registry import DEFAULT_GAME, has_candidates, load_game
from suphx.games.scoring import Forfeited
from suphx.kernel.record import I64
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import DEFAULT_TABLES, SeatedGame, list_games, play_stream

LoadAgent = Callable[[str], Agent]
"""Makes an agent of its address; a function of a module (or ``partial`` of one), as processes load it again."""
Play = Callable[..., Iterable[Any]]
"""A function of a module with the arguments of ``play_stream``: yields the result of each game, in order."""
Summary = dict[str, Any]
"""What is known of a task's games, as plain JSON values."""
FORFEITS = "forfeits"
"""In a summary: who could not play a game to its end. [[agent, reason, game of the task, seat]]."""
_SLOW_TABLES = 64
"""At most so many games side by side with slow nets: a killed match loses the games in progress."""


class Forfeit(NamedTuple):
    """A seat that was lost in a game."""

    agent: int
    reason: str


class Forfeits(tuple[Forfeit, ...]):
    """Games that agents, by number, could not play to their end, such as an outside program that crashed.

    A game is one forfeit for each seat that the agent lost. What such a game is worth: ``Scoring.settle``.
    """

    @property
    def counts(self) -> dict[int, int]:
        """The number of forfeits of each agent, in the order of the agents."""
        return dict(sorted(Counter(agent for agent, _ in self).items()))

    def reason_of(self, agent: int) -> str:
        """Return one of the reasons of an agent: the same one in whatever order games end."""
        return min(reason for own, reason in self if own == agent)

    def to_json(self, names: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return name -> ``forfeits`` and ``reason`` of the agents that forfeited; ``names`` by number."""
        return {
            names[agent]: {"forfeits": count, "reason": self.reason_of(agent)} for agent, count in self.counts.items()
        }

    def sentences(self, names: Sequence[str], counts_as: str = "last place") -> list[str]:
        """Return a sentence for each agent that forfeited; ``counts_as``: what such a game is."""
        return [
            f"{names[agent]} could not play {count:,} {'game' if count == 1 else 'games'} to the end: each counts as "
            f"{counts_as}; one of the reasons: {self.reason_of(agent)}"
            for agent, count in self.counts.items()
        ]


@dataclass(frozen=True, slots=True)
class GameTask:
    """Games that one process plays and whose summary is kept as one."""

    seating: I64
    """int64 [n, seats]: the agent at each seat, as its index among the agents."""
    seeds: tuple[int, ...]
    """Of the deal of each game; equal seeds give equal deals."""
    key: str
    """Differs for every task of a match or tournament: the name under which its result is kept."""
    title: str

    @property
    def num_games(self) -> int:
        """How many games it has."""
        return len(self.seeds)


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlan:
    """Who plays and how: all that does not change from task to task."""

    addresses: tuple[str, ...]
    """Of the agents, for ``load``."""
    names: tuple[str, ...]
    """Of the agents in the records, whatever they are called: the same nets may play several parts."""
    game: str = DEFAULT_GAME
    rules: Any = None
    """None: those of the game without options, which the runner takes."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the game's tables, where they are not those of its scoring."""
    play: Play = play_stream
    """Plays games of several tasks side by side; ``summarise`` gets what it yields for one task."""
    summarise: Callable[[GamePlan, Sequence[Any], Forfeited], Summary] | None = None
    """A function of a module: processes send what it returns, not the games, and a killed match keeps that. None:
    ``summary_of``."""
    load: LoadAgent | None = None
    """This and what follows is that of the ``GameRunner``, which sets it."""
    num_tables: int = DEFAULT_TABLES
    records: Path | None = None
    """Folder for a file of records for each task; None: they are not kept."""

    def load_agents(self) -> list[Agent]:
        """Return the agents. ValueError if one cannot be loaded."""
        game: Game = load_game(self.game)
        has_tables = bool(game.decisions) and not has_candidates(game.name)
        load = self.load or (partial(load_agent, game=game.name) if has_tables else game.scripted_agent)
        return [load(address) for address in self.addresses]

    def records_path(self, task: GameTask) -> Path:
        """Return the file for the records of a task."""
        assert self.records is not None
        return self.records / f"{task.key}{load_game(self.game).record_suffix}"

    def compile_kernels(self, compile_groups: Callable[..., object]) -> None:
        """Compile what games need; ``compile_groups`` compiles groups of kernels by name."""
        game: Game = load_game(self.game)
        if game.kernel_groups:
            compile_groups(*game.kernel_groups)
        else:
            compile_game(self.game, self.rules)

    def play_tasks(
        self, agents: Sequence[Agent], tasks: Iterator[tuple[int, GameTask]], progress: Progress
    ) -> Iterator[tuple[int, Summary]]:
        """Yield the index of each task and its summary; tasks are taken when there are tables for their games.

        Agents that depend on batches play the games of one task after those of another.
        """
        if any(getattr(agent, "depends_on_batches", False) for agent in agents):
            for index, task in tasks:
                alone = replace(self, num_tables=task.num_games)
                yield from alone._play_stream(agents, iter([(index, task)]), progress)
        else:
            yield from self._play_stream(agents, tasks, progress)

    def _play_stream(
        self, agents: Sequence[Agent], tasks: Iterator[tuple[int, GameTask]], progress: Progress
    ) -> Iterator[tuple[int, Summary]]:
        game: Game = load_game(self.game)
        begun: deque[tuple[int, GameTask]] = deque()

        def games() -> Iterator[SeatedGame]:
            for index, task in tasks:
                begun.append((index, task))
                yield from list_games(task.seating, task.seeds)

        forfeits: dict[str, dict[int, str]] = {}  # id of a game -> seat -> reason

        def note_forfeit(game: SeatedGame, seat: int, reason: str) -> None:
            forfeits.setdefault(game.id, {})[seat] = reason

        finished: list[Any] = []
        for played in self.play(
            game,
            agents,
            games(),
            self.rules,
            num_tables=self.num_tables,
            options={**game.scoring.table_options, **self.options},
            names=self.names,
            progress=progress,
            note_forfeit=note_forfeit,
        ):
            finished.append(played)
            index, task = begun[0]
            if len(finished) == task.num_games:
                begun.popleft()
                if self.records is not None:
                    self.records.mkdir(parents=True, exist_ok=True)
                    game.write_records([each.record for each in finished], self.records_path(task))
                lost = [forfeits.pop(played.id, {}) if forfeits else {} for played in finished]
                if game.scoring.first_forfeit_decides:
                    lost = [dict(list(reasons.items())[:1]) for reasons in lost]
                summary = (self.summarise or summary_of)(self, finished, [list(reasons) for reasons in lost])
                told = [
                    (int(task.seating[number, seat]), reason, number, seat)
                    for number, reasons in enumerate(lost)
                    for seat, reason in sorted(reasons.items())
                ]
                yield index, summary | {FORFEITS: told} if told else summary
                finished = []


def summary_of(plan: GamePlan, games: Sequence[PlayedGame], forfeited: Forfeited) -> Summary:
    """Return what a match or a tournament keeps of games.

    ``places`` and ``points`` [games][parties], as they count; if the game has counters, ``rows``: name of an agent ->
    what it did in each game, [games][counters], None where it was not there.
    """
    scoring = load_game(plan.game).scoring
    places, points = scoring.settle(np.array([game.points for game in games]), forfeited)
    summary: Summary = {"places": places.tolist(), "points": points.tolist()}
    if scoring.counters:
        games_and_places = list(zip(games, summary["places"], strict=True))
        rows = {
            name: [scoring.count(game.record, name, own) for game, own in games_and_places]
            for name in sorted(set(plan.names))
        }
        summary["rows"] = {name: own for name, own in rows.items() if any(own)}
    return summary


def compile_game(name: str, rules: Any = None) -> None:
    """Compile what games need: two scripted agents play a deal."""
    game: Game = load_game(name)
    scripted = tuple(game.scripted_agent(each) for each in (game.agents[0], game.agents[-1]))
    seats = np.zeros((1, len(game.seat_names)), np.int64)
    seats[0, ::2] = 1
    list(play_stream(game, scripted, iter(list_games(seats, [0])), game.new_rules({}) if rules is None else rules))


class GameWorkers(Protocol):
    """Plays tasks elsewhere, such as on the nodes of a Ray cluster (``suphx_platform.evaluation``)."""

    @property
    def number(self) -> int:
        """How many processes play."""
        ...

    def play(
        self, plan: GamePlan, tasks: Sequence[GameTask], progress: Progress
    ) -> Generator[tuple[int, Summary], None, None]:
        """Yield the index of each task and its summary, whatever ends first; records are in the plan's folder before.

        ``progress`` gets parts of games. Closing the generator ends the work. ValueError if an agent cannot be loaded,
        ChildProcessError if a task cannot be played because its processes die.
        """
        ...


Workers: TypeAlias = int | GameWorkers
"""What plays: so many processes of this machine, or somebody else."""


@dataclass(frozen=True, slots=True)
class PlayedTask:
    """The index of a task, its summary without the forfeits, and the seats that could not play a game to its end."""

    index: int
    summary: Summary
    forfeits: tuple[Forfeit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRunner:
    """How games are played, and what is kept of them. No result depends on it."""

    workers: Workers = 1
    load: LoadAgent | None = None
    """Makes agents of their addresses; None: ``load_agent`` where nets choose from tables, else scripted ones only."""
    kept: KeptResults | None = None
    """What it has of the same games is not played again; it gets each task that is finished."""
    records: Path | None = None
    """Folder for the games that are played now: a file of records for each task."""
    progress: Progress = lambda games: None
    """Called with parts of games while they are played."""
    note_kept: Callable[[float], None] | None = None
    """Called with numbers of games that were kept; None: ``progress`` is."""
    max_tables: int = DEFAULT_TABLES
    """Games that a process plays side by side, at most: those in progress are lost if the caller stops."""

    def play(self, plan: GamePlan, tasks: Sequence[GameTask]) -> Generator[PlayedTask, None, None]:
        """Yield what came of each task: first what is ``kept``, then whatever ends first.

        When the caller stops iterating, the processes end. ValueError for an unknown agent. ChildProcessError if one of
        the processes dies (elsewhere: too often); the tasks that the others have begun are yielded before.
        """
        plan = replace(plan, load=self.load, records=self.records)
        if plan.rules is None:
            plan = replace(plan, rules=load_game(plan.game).new_rules({}))

        def results(missing: list[int]) -> Generator[tuple[int, Summary], None, None]:
            return self._results(plan, [tasks[index] for index in missing])

        def note_kept(index: int) -> None:
            (self.note_kept or self.progress)(tasks[index].num_games)

        with closing(with_kept(self.kept, [task.key for task in tasks], results, note_kept)) as played:
            for index, summary in played:
                lost = tuple(Forfeit(agent, reason) for agent, reason, *_ in summary.get(FORFEITS, ()))
                own = {name: value for name, value in summary.items() if name != FORFEITS}
                yield PlayedTask(index, own, lost)

    def _results(self, plan: GamePlan, tasks: Sequence[GameTask]) -> Generator[tuple[int, Summary], None, None]:
        """Yield the index of each task and its summary from whoever plays."""
        agents = plan.load_agents()  # here first: a wrong address is an error of this process
        workers, progress = self.workers, self.progress
        number = workers if isinstance(workers, int) else workers.number
        num_games = sum(task.num_games for task in tasks)
        is_slow = any(getattr(agent, "is_slow", False) for agent in agents)
        most = min(self.max_tables, _SLOW_TABLES) if is_slow else self.max_tables
        plan = replace(plan, num_tables=min(most, -(-num_games // min(number, len(tasks)))))
        if not isinstance(workers, int):
            yield from workers.play(plan, tasks, progress)
        elif min(workers, len(tasks)) == 1:
            with one_thread():
                yield from plan.play_tasks(agents, iter(enumerate(tasks)), progress)
        else:
            with closing(ProcessPool(workers)) as pool:
                yield from pool.run(
                    tasks,
                    start_games,
                    (plan,),
                    describe=lambda task: task.title,
                    size=lambda task: task.num_games,
                    progress=progress,
                )


ONE_PROCESS = GameRunner()
"""Plays in this process and keeps nothing."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch on one thread: small batches gain little from more, and lose much when others want the cores."""
    torch = sys.modules.get("torch")  # without nets, nobody has imported it
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def start_games(plan: GamePlan) -> Work:
    """Load the agents of a plan; return what plays tasks in a worker."""
    agents = plan.load_agents()

    def work(tasks: Iterator[tuple[int, GameTask]], progress: Progress) -> Iterator[tuple[int, Summary]]:
        with one_thread():
            yield from plan.play_tasks(agents, tasks, progress)

    return work
