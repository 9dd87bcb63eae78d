"""Tasks of games of riichi, and how they are played (play_plan.py)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suphx.evaluation.workers.forfeits import ForfeitedSeats
from suphx.evaluation.workers.play_plan import FORFEITS, Summary, records_path
from suphx.games.riichi import Rules, tenhou, write_records
from suphx.kernel.record import I64
from suphx.selfplay.agents.agent import Agent, load_agent
from suphx.selfplay.agents.checkpoint_folder import WEAK, find_checkpoints
from suphx.selfplay.agents.choice import SCRIPTED_AGENTS
from suphx.selfplay.rollouts.rollout import DEFAULT_TABLES, Game, list_games, play_stream

LoadAgent = Callable[[str], Agent]
"""Makes an agent of its address; a function of a module, as processes load it again."""
Summarise = Callable[[Sequence[Any], ForfeitedSeats], Summary]
"""A function of a module too: processes send what it returns, not the games, and a killed match keeps that."""
Play = Callable[..., Iterable[Any]]
"""A function of a module with the arguments of ``play_stream``: yields the result of each game, in order."""


def default_rules() -> Rules:
    """Return the rules of matches and tournaments that name none: Tenhou's."""
    return tenhou()


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
    """Of the agents in the logs, whatever they are called: the same nets may play several parts."""
    summarise: Summarise
    rules: Rules = field(default_factory=default_rules)
    has_draw_lanes: bool = True
    play: Play = play_stream
    """Plays games of several tasks side by side; ``summarise`` gets what it yields for one task."""
    load: LoadAgent = load_agent
    """This and what follows is that of the ``GameRunner``, which sets it."""
    num_tables: int = DEFAULT_TABLES
    """Games that a process plays side by side."""
    records: Path | None = None
    """Folder for a table of records for each task; None: they are not kept."""

    @property
    def scripted_agents(self) -> tuple[str, ...]:
        """Addresses of agents that have no nets."""
        return SCRIPTED_AGENTS

    def load_agents(self) -> list[Agent]:
        """Return the agents. ValueError if one cannot be loaded."""
        return [self.load(address) for address in self.addresses]

    def net_files(self, folder: Path, words: set[str]) -> list[Path]:
        """Return the checkpoints of a folder; ``words``: options of the address. ValueError if one is missing."""
        return find_checkpoints(folder, is_weak=WEAK in words)

    def compile_kernels(self, compile_groups: Callable[..., object]) -> None:
        """Compile what games need: the kernels of these groups."""
        compile_groups("engine", "encoder", "scripted games", "net games")

    def play_tasks(
        self, agents: Sequence[Agent], tasks: Iterator[tuple[int, GameTask]], progress: Callable[[float], None]
    ) -> Iterator[tuple[int, Summary]]:
        """Yield the index of each task and its summary; tasks are taken when there are tables for their games."""
        begun: deque[tuple[int, GameTask]] = deque()

        def games() -> Iterator[Game]:
            for index, task in tasks:
                begun.append((index, task))
                yield from list_games(task.seating, task.seeds)

        forfeits: dict[str, dict[int, str]] = {}

        def note_forfeit(game: Game, seat: int, reason: str) -> None:
            forfeits.setdefault(game.id, {})[seat] = reason

        finished: list[Any] = []
        for game in self.play(
            agents,
            games(),
            self.rules,
            num_tables=self.num_tables,
            has_draw_lanes=self.has_draw_lanes,
            names=self.names,
            progress=progress,
            note_forfeit=note_forfeit,
        ):
            finished.append(game)
            index, task = begun[0]
            if len(finished) == len(task.seeds):
                begun.popleft()
                if self.records is not None:
                    write_records(finished, records_path(self.records, task), "mjlog")
                yield index, self._summary(task, finished, forfeits)
                finished = []

    def _summary(self, task: GameTask, finished: Sequence[Any], forfeits: dict[str, dict[int, str]]) -> Summary:
        """Return the summary of a task; ``forfeits`` (id of a game -> seat -> reason) loses those of its games.

        In the summary they are [[agent, reason, game of the task, seat]].
        """
        lost = [forfeits.pop(game.id, {}) if forfeits else {} for game in finished]
        summary = self.summarise(finished, [reasons.keys() for reasons in lost])
        told = [
            (int(task.seating[game, seat]), reason, game, seat)
            for game, reasons in enumerate(lost)
            for seat, reason in sorted(reasons.items())
        ]
        return summary | {FORFEITS: told} if told else summary
