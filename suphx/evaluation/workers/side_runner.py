"""Plays the decks of matches and tournaments in games of two sides, block by block, in one process or many.

>>> plan = SidePlan(game="doudizhu", rules=Rules(), addresses=("rule", "runs/a/learning"), load=load)
>>> for index, summary in SideRunner(load=load, workers=2).play(plan, blocks):
...     print(blocks[index].title, summary["wins"])
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from suphx.evaluation.workers.game_runner import one_thread
from suphx.evaluation.workers.match_records import KeptResults, with_kept
from suphx.evaluation.workers.play_plan import FORFEITS, DeckBlock, Summary, Workers
from suphx.evaluation.workers.worker_processes import Work, run_tasks, tick
from suphx.games import candidate_game as contract
from suphx.games.candidate_game import candidate_game, net_file_names

RECORDS = "records"
"""In a summary: the records of its games, those of a deck one after another."""
LoadPlayer = Callable[[str], contract.Player]
"""Makes an agent of its address; a function of a module (or ``partial`` of one), as processes load it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SidePlan:
    """Who plays and how: all that does not change from block to block. It can be pickled."""

    game: str
    rules: Any
    addresses: tuple[str, ...]
    load: LoadPlayer
    record_names: tuple[str, str] | None = None
    """What both agents of a block are called in its records, which are then in its summary; None: there are none."""

    @property
    def records(self) -> None:
        """There is no folder of records."""
        return

    @property
    def scripted_agents(self) -> tuple[str, ...]:
        """Addresses of agents that have no nets."""
        return candidate_game(self.game).agents

    def load_agents(self) -> list[contract.Player]:
        """Return the agents. ValueError if one cannot be loaded."""
        return [self.load(address) for address in self.addresses]

    def net_files(self, folder: Path, words: set[str]) -> list[Path]:
        """Return the files of the nets of all seats; ValueError if one is missing. ``words`` are not used."""
        files = [folder / name for name in net_file_names(candidate_game(self.game))]
        missing = [path.name for path in files if not path.is_file()]
        if missing:
            raise ValueError(
                f"{folder} has no nets for {self.game} ({', '.join(missing)} missing): name a folder such as "
                "runs/RUN/learning of a finished run"
            )
        return files

    def compile_kernels(self, compile_groups: Callable[..., object]) -> None:
        """Compile what games need; ``compile_groups`` is not used, because these kernels belong to no group."""
        compile_game(self.game, self.rules)

    def play_tasks(
        self,
        agents: Sequence[contract.Player],
        tasks: Iterator[tuple[int, DeckBlock]],
        progress: Callable[[float], None],
    ) -> Iterator[tuple[int, Summary]]:
        """Yield the index of each block and its summary."""
        game = candidate_game(self.game)
        for index, block in tasks:
            first, second = (agents[number] for number in block.pair)
            lines: list[str] = []
            kept = None if self.record_names is None else contract.KeptGames(self.record_names, lines.append)
            forfeits: list[tuple[int, str]] = []
            note_forfeit = partial(_note_forfeit, forfeits, block.pair)
            results = game.play_match(
                block.num_deals,
                self.rules,
                first,
                second,
                first_seed=block.first_deal,
                kept=kept,
                note_forfeit=note_forfeit,
            )
            progress(block.num_games)
            summary: Summary = {
                "wins": {side: reached.wins.tolist() for side, reached in results.items()},
                "points": {side: reached.points.tolist() for side, reached in results.items()},
            }
            summary |= {FORFEITS: forfeits} if forfeits else {}
            yield index, summary | ({} if kept is None else {RECORDS: lines})


def _note_forfeit(forfeits: list[tuple[int, str]], pair: tuple[int, int], player: int, reason: str) -> None:
    forfeits.append((pair[player], reason))


def compile_game(name: str, rules: Any) -> None:
    """Compile what games need: two scripted agents play a deck."""
    game = candidate_game(name)
    game.play_match(1, rules, *(game.scripted_player(each) for each in (game.agents[0], game.agents[-1])))


class _LatePlayers(Sequence[contract.Player]):
    """The agents of a plan, each loaded when it is first asked for: a process may play blocks of only a few of them."""

    def __init__(self, plan: SidePlan) -> None:
        self._plan = plan
        self._loaded: dict[int, contract.Player] = {}

    def __getitem__(self, number: Any) -> Any:
        if number not in self._loaded:
            self._loaded[number] = self._plan.load(self._plan.addresses[number])
        return self._loaded[number]

    def __len__(self) -> int:
        return len(self._plan.addresses)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRunner:
    """How blocks are played, and what is kept of them. No result depends on it."""

    load: LoadPlayer
    workers: Workers = 1
    """The number of processes here, or who plays elsewhere."""
    kept: KeptResults | None = None
    """What it has of the same blocks is not played again; it gets each block that is finished."""
    progress: Callable[[float], None] = lambda games: None
    """Called with numbers of finished games."""
    note_kept: Callable[[float], None] | None = None
    """Called with numbers of games that were kept; None: ``progress`` is."""

    def play(self, plan: SidePlan, blocks: Sequence[DeckBlock]) -> Generator[tuple[int, Summary], None, None]:
        """Yield the index of each block and its summary: first what is ``kept``, then whatever ends first.

        When this generator is closed, the processes end. ChildProcessError if one of the processes dies (elsewhere: too
        often); the blocks that the others have begun are yielded before.
        """

        def results(missing: list[int]) -> Generator[tuple[int, Summary], None, None]:
            return self._results(plan, [blocks[index] for index in missing])

        def note_kept(index: int) -> None:
            (self.note_kept or self.progress)(blocks[index].num_games)

        yield from with_kept(self.kept, [block.key for block in blocks], results, note_kept)

    def _results(self, plan: SidePlan, blocks: Sequence[DeckBlock]) -> Generator[tuple[int, Summary], None, None]:
        if not isinstance(self.workers, int):
            yield from self.workers.play(plan, blocks, self.progress)
        elif min(self.workers, len(blocks)) == 1:
            with one_thread():
                yield from plan.play_tasks(_LatePlayers(plan), iter(enumerate(blocks)), self.progress)
        else:
            yield from run_tasks(
                blocks,
                _start_worker,
                (plan,),
                workers=self.workers,
                describe=lambda block: block.title,
                progress=self.progress,
            )


def _start_worker(plan: SidePlan) -> Work[DeckBlock, Summary]:
    torch.set_num_threads(1)
    players = _LatePlayers(plan)
    return lambda blocks: plan.play_tasks(players, blocks, tick)
