"""Games for the ratings of agents in a game of two sides: pairs play the same decks twice, with the sides swapped.

A pair plays a block of decks at a time, because nets answer many tables faster than one. Who plays is chosen round by
round from all games so far (pair_choice.py), those of earlier nights included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from suphx.evaluation.rating.pair_choice import Pair, choose_pairs
from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.tournament import ROUNDS, Player
from suphx.evaluation.workers.deck_block import GAMES_PER_DECK, DeckBlock
from suphx.evaluation.workers.side_runner import SidePlan, SideRunner
from suphx.games.candidate_game import candidate_game

BLOCK_DECKS = 20
"""Decks that a pair plays, one block after another; the last block of a night may have fewer."""
MIN_DECKS = 2


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
class PlayedBlock:
    """What came of a block. Agents are named by their digests."""

    games: list[RatedGame]
    """``seats`` are in the order of the game's sides."""
    points: dict[str, dict[str, float]]
    """Agent -> side -> sum of the points of its games on this side."""


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
            num_before=int(part[0]) // BLOCK_DECKS,
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
        key=f"decks-{start + 1}-{start + num_deals}-agents-{digest}",
        title=f"{first.name} and {second.name} on decks {start + 1} to {start + num_deals}",
    )
