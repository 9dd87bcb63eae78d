"""What the games of matches and tournaments are to whoever plays them: a plan, tasks and their summaries.

A plan and its tasks can be pickled: whoever gets both plays the same games on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

GAMES_PER_DECK = 2
"""The second with the sides swapped."""


@dataclass(frozen=True, slots=True)
class DeckBlock:
    """Decks that a pair plays: one task of a process, whose result is kept as one."""

    pair: tuple[int, int]
    """The agents, as indices among the addresses of the plan."""
    first_deal: int
    num_deals: int
    key: str
    """Under which its result is kept: differs for every block of a match or a tournament."""
    title: str
    """Who plays what, for errors."""

    @property
    def num_games(self) -> int:
        """How many games it has."""
        return GAMES_PER_DECK * self.num_deals


MAX_WALL_SEED = 1 << 20
_WALL_SEED_BASE = 1 << 40
"""Keeps the walls of matches apart from those of training games."""
WALLS_PER_SEED = 1 << 40


def wall_seeds(seed: int, num_walls: int) -> range:
    """Return the seeds of ``num_walls`` walls; different ``seed`` (0 to 2**20 - 1) never share one. ValueError else."""
    if not 0 <= seed < MAX_WALL_SEED:
        raise ValueError(f"seed is {seed}: use 0 to {MAX_WALL_SEED - 1}")
    first = _WALL_SEED_BASE + seed * WALLS_PER_SEED
    return range(first, first + num_walls)


FORFEITS = "forfeits"
"""In a summary: who could not play a game to its end. [[agent, reason, …]]."""
Summary = dict[str, Any]
"""What is known of a task's games, as plain JSON values."""


class PlayTask(Protocol):
    """Games that one process plays and whose summary is kept as one."""

    @property
    def key(self) -> str:
        """Differs for every task of a match or tournament: the name under which its result is kept."""
        ...

    @property
    def title(self) -> str:
        """Who plays what, for errors."""
        ...

    @property
    def num_games(self) -> int:
        """How many games it has."""
        ...


class PlayPlan(Protocol):
    """Who plays and how: all that does not change from task to task; a frozen dataclass."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of the agents."""
        ...

    @property
    def records(self) -> Path | None:
        """Folder for a table of records for each task (``records_path``); None: they are not kept."""
        ...

    @property
    def scripted_agents(self) -> tuple[str, ...]:
        """Addresses of agents that have no nets, whatever folders there are."""
        ...

    def load_agents(self) -> list[Any]:
        """Return the agents. ValueError if one cannot be loaded."""
        ...

    def play_tasks(
        self, agents: Sequence[Any], tasks: Iterator[tuple[int, Any]], progress: Callable[[float], None]
    ) -> Iterator[tuple[int, Summary]]:
        """Yield the index of each task and its summary; tasks are taken when there is room for their games."""
        ...

    def net_files(self, folder: Path, words: set[str]) -> list[Path]:
        """Return the files that another machine needs of an agent's folder; ``words``: options of its address.

        ValueError if one is missing.
        """
        ...

    def compile_kernels(self, compile_groups: Callable[..., object]) -> None:
        """Compile what games need; ``compile_groups`` compiles the groups of kernels whose names it gets."""
        ...


class GameWorkers(Protocol):
    """Plays tasks elsewhere, such as on the nodes of a Ray cluster (``suphx_platform.evaluation``)."""

    @property
    def number(self) -> int:
        """How many processes play."""
        ...

    def play(
        self, plan: PlayPlan, tasks: Sequence[PlayTask], progress: Callable[[float], None]
    ) -> Generator[tuple[int, Summary], None, None]:
        """Yield the index of each task and its summary, whatever ends first; records are in the plan's folder before.

        ``progress`` gets finished games or parts of them. The summary of a task is the same as in this process.
        Closing the generator ends the work. ValueError if an agent cannot be loaded, ChildProcessError if a
        task cannot be played because its processes die.
        """
        ...


Workers: TypeAlias = int | GameWorkers
"""What plays: so many processes of this machine, or somebody else."""


def records_path(folder: Path, task: PlayTask) -> Path:
    """Return the file for the records of a task."""
    return folder / f"{task.key}.tsv.xz"
