"""Plays the decks of matches and tournaments in games of two sides, block by block, in one process or many.

>>> plan = SidePlan(game="doudizhu", rules=Rules(), addresses=("rule", "runs/a/learning"), load=load)
>>> for index, summary in SideRunner(load=load, workers=2).play(plan, blocks):
...     print(blocks[index].title, summary["wins"])
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from suphx.evaluation.workers.deck_block import GAMES_PER_DECK, DeckBlock
from suphx.evaluation.workers.game_runner import one_thread
from suphx.evaluation.workers.game_task import Summary
from suphx.evaluation.workers.kept_results import KeptResults, with_kept
from suphx.evaluation.workers.worker_processes import Work, run_tasks, tick
from suphx.games import candidate_game as contract
from suphx.games.candidate_game import candidate_game

LoadPlayer = Callable[[str], contract.Player]
"""Makes an agent of its address; a function of a module (or ``partial`` of one), as processes load it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SidePlan:
    """Who plays and how: all that does not change from block to block. It can be pickled."""

    game: str
    rules: Any
    addresses: tuple[str, ...]
    load: LoadPlayer

    def play_blocks(
        self, blocks: Iterator[tuple[int, DeckBlock]], progress: Callable[[float], None]
    ) -> Iterator[tuple[int, Summary]]:
        """Yield the index of each block and its summary; an agent is loaded before its first game."""
        game = candidate_game(self.game)
        players: dict[int, contract.Player] = {}
        for index, block in blocks:
            for number in block.pair:
                if number not in players:
                    players[number] = self.load(self.addresses[number])
            first, second = (players[number] for number in block.pair)
            results = game.play_match(block.num_deals, self.rules, first, second, first_seed=block.first_deal)
            progress(GAMES_PER_DECK * block.num_deals)
            yield (
                index,
                {
                    "wins": {side: reached.wins.tolist() for side, reached in results.items()},
                    "points": {side: reached.points.tolist() for side, reached in results.items()},
                },
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRunner:
    """How blocks are played, and what is kept of them. No result depends on it."""

    load: LoadPlayer
    workers: int = 1
    """Processes that play."""
    kept: KeptResults | None = None
    """What it has of the same blocks is not played again; it gets each block that is finished."""
    progress: Callable[[float], None] = lambda games: None
    """Called with numbers of finished games; what was kept counts too."""

    def play(self, plan: SidePlan, blocks: Sequence[DeckBlock]) -> Generator[tuple[int, Summary], None, None]:
        """Yield the index of each block and its summary: first what is ``kept``, then whatever ends first.

        When this generator is closed, the processes end. ChildProcessError if one of the processes dies; the blocks
        that the others have begun are yielded before.
        """

        def results(missing: list[int]) -> Generator[tuple[int, Summary], None, None]:
            return self._results(plan, [blocks[index] for index in missing])

        def note_kept(index: int) -> None:
            self.progress(GAMES_PER_DECK * blocks[index].num_deals)

        yield from with_kept(self.kept, [block.key for block in blocks], results, note_kept)

    def _results(self, plan: SidePlan, blocks: Sequence[DeckBlock]) -> Generator[tuple[int, Summary], None, None]:
        if min(self.workers, len(blocks)) == 1:
            with one_thread():
                yield from plan.play_blocks(iter(enumerate(blocks)), self.progress)
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
    return lambda blocks: plan.play_blocks(blocks, tick)
