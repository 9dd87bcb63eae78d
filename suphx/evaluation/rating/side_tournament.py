"""Games for the ratings of agents in a game of two sides: pairs play the same decks twice, with the sides swapped.

A pair plays a block of decks at a time, because nets answer many tables faster than one. Who plays is chosen round by
round from all games so far (pair_choice.py), those of earlier nights included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch

from suphx.evaluation.rating.pair_choice import Pair, choose_pairs
from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.tournament import ROUNDS, Player
from suphx.evaluation.workers.game_runner import one_thread
from suphx.evaluation.workers.game_task import Summary
from suphx.evaluation.workers.kept_results import KeptResults, with_kept
from suphx.evaluation.workers.worker_processes import Work, run_tasks, tick
from suphx.games import candidate_game as contract
from suphx.games.candidate_game import candidate_game

BLOCK_DECKS = 20
"""Decks that a pair plays, one block after another; the last block of a night may have fewer."""
GAMES_PER_DECK = 2
MIN_DECKS = 2

LoadPlayer = Callable[[str], contract.Player]
"""Makes an agent of its address; a function of a module (or ``partial`` of one), as processes load it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSetup:
    """Who plays, by which rules and which decks; from earlier games follows who meets whom."""

    game: str
    """Name of the game in the registry."""
    rules: Any
    players: Sequence[Player]
    """At least two; they count in the order of their digests."""
    anchor: str
    """Digest of the agent whose strength is fixed."""
    first_deal: int
    """Seed of the first deck; the next decks have the next seeds."""
    earlier: Sequence[RatedGame] = ()
    """Of other nights."""


@dataclass(frozen=True, slots=True)
class DeckBlock:
    """Decks that a pair plays: one task of a process, whose result is kept as one."""

    pair: Pair
    """The agents, as indices among the players."""
    first_deal: int
    num_deals: int
    key: str
    """Differs for every block of a tournament, and follows from who plays."""
    title: str
    """Who plays what, for errors."""


@dataclass(frozen=True, slots=True)
class PlayedBlock:
    """What came of a block. Agents are named by their digests."""

    games: list[RatedGame]
    """``seats`` are in the order of the game's sides."""
    points: dict[str, dict[str, float]]
    """Agent -> side -> sum of the points of its games on this side."""


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

    def play(self, plan: SidePlan, blocks: Sequence[DeckBlock]) -> Iterator[tuple[int, Summary]]:
        """Yield the index of each block and its summary: first what is ``kept``, then whatever ends first.

        ChildProcessError if one of the processes dies; the blocks that the others have begun are yielded before.
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


def play_side_tournament(
    setup: SideSetup,
    num_decks: int,
    *,
    runner: SideRunner,
    note_block: Callable[[PlayedBlock], None] = lambda block: None,
) -> list[RatedGame]:
    """Play ``num_decks`` decks (at least 2), each twice with the sides swapped, and return the games, deck by deck.

    The result does not depend on the workers, nor on the order of the players. ``note_block`` gets blocks in any order.
    ValueError for fewer than two players or decks and for an unknown agent, ChildProcessError if a process dies.
    """
    if num_decks < MIN_DECKS:
        raise ValueError(f"{num_decks} decks: use at least {MIN_DECKS}, one has no interval")
    game = candidate_game(setup.game)
    players = sorted(setup.players, key=lambda player: player.digest)
    digests = [player.digest for player in players]
    plan = SidePlan(
        game=setup.game,
        rules=setup.rules,
        addresses=tuple(player.address for player in players),
        load=runner.load,
    )
    starts = np.arange(0, num_decks, BLOCK_DECKS)
    games = list[RatedGame]()
    for part in np.array_split(starts, min(ROUNDS, len(starts))):
        pairs = choose_pairs(
            chain(setup.earlier, games),
            digests,
            len(part),
            games_per_pair=GAMES_PER_DECK * BLOCK_DECKS,
            anchor=setup.anchor,
        )
        blocks = [
            _block(pair, start, min(BLOCK_DECKS, num_decks - start), setup.first_deal, players)
            for pair, start in zip(pairs, part.tolist(), strict=True)
        ]
        played: dict[int, PlayedBlock] = {}
        for index, summary in runner.play(plan, blocks):
            first, second = (digests[number] for number in blocks[index].pair)
            played[index] = played_block(game.sides, blocks[index].first_deal, first, second, summary)
            note_block(played[index])
        games += [each for index in sorted(played) for each in played[index].games]
    return games


def played_block(
    sides: Sequence[str], first_deal: int, first: str, second: str, summary: Mapping[str, Any]
) -> PlayedBlock:
    """Return what came of the decks from ``first_deal`` on; ``summary`` has what the agent ``first`` reached."""
    games = []
    points: dict[str, dict[str, float]] = {agent: dict.fromkeys(sides, 0.0) for agent in (first, second)}
    for side, other in ((sides[0], sides[1]), (sides[1], sides[0])):
        agents = {side: first, other: second}
        seats = tuple(agents[name] for name in sides)
        for number, is_won in enumerate(summary["wins"][side]):
            winner = first if is_won else second
            games.append(RatedGame(first_deal + number, seats, tuple(1 if agent == winner else 2 for agent in seats)))
        points[first][side] += sum(summary["points"][side])
        points[second][other] -= sum(summary["points"][side])
    return PlayedBlock(sorted(games), points)


def _block(pair: Pair, start: int, num_deals: int, first_deal: int, players: Sequence[Player]) -> DeckBlock:
    first, second = (players[number] for number in pair)
    digest = hashlib.sha256(f"{first.digest}\n{second.digest}".encode()).hexdigest()[:16]
    return DeckBlock(
        pair=pair,
        first_deal=first_deal + start,
        num_deals=num_deals,
        key=f"decks-{start + 1}-agents-{digest}",
        title=f"{first.name} and {second.name} on decks {start + 1} to {start + num_deals}",
    )


def _start_worker(plan: SidePlan) -> Work[DeckBlock, Summary]:
    torch.set_num_threads(1)
    return lambda blocks: plan.play_blocks(blocks, tick)
