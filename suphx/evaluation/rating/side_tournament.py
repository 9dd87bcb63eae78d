"""Games for the ratings of agents in a game of two sides: pairs play the same decks twice, with the sides swapped.

A pair plays a block of decks at a time, because nets answer many tables faster than one. Who plays is chosen round by
round from all games so far (side_tournament.py), those of earlier nights included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.rating import Standing
from suphx.evaluation.rating.tournament import ROUNDS, Player
from suphx.evaluation.stable_rank import F64
from suphx.evaluation.workers.play_plan import GAMES_PER_DECK, DeckBlock
from suphx.evaluation.workers.side_runner import SidePlan, SideRunner
from suphx.games.candidate_game import candidate_game

Pair = tuple[int, int]


def choose_pairs(
    games: Iterable[RatedGame],
    agents: Sequence[str],
    num_pairs: int,
    *,
    games_per_pair: int,
    anchor: str,
    num_before: int = 0,
) -> list[Pair]:
    """Return the next ``num_pairs`` pairs, each of two different indices into ``agents``, ascending.

    ``agents`` are the digests of those who can play; others may be in ``games``. ``games_per_pair``: games of each pair
    until the next one is chosen. ``num_before``: pairs that earlier calls have chosen for the same night: every second
    one has the agent with the fewest games, the others the challenger. The same set of games gives the same pairs.
    ValueError for fewer than two agents.
    """
    standing = Standing(games, agents, anchor=anchor, least=2)
    there, counts, leader = standing.there, standing.counts, standing.leader
    pairs: list[Pair] = []
    for number in range(num_before, num_before + num_pairs):
        covariance = standing.covariance()
        upper = standing.upper_bounds(covariance)
        challenger = max((agent for agent in there if agent != leader), key=lambda agent: (upper[agent], -agent))
        rare = min(there, key=lambda agent: (counts[agent], agent))
        chosen = rare if number % 2 == 0 or not counts[rare] else challenger
        goal = challenger if chosen == leader else chosen
        gains = {
            other: _gain(covariance, standing.strengths, (chosen, other), (goal, leader), games_per_pair)
            for other in there
            if other != chosen
        }
        opponent = max(gains, key=lambda other: (gains[other], -other))
        first, second = standing.count([chosen, opponent], games_per_pair)
        pairs.append((first, second))
    return pairs


def _gain(covariance: F64, strengths: F64, pair: Pair, difference: Pair, num_games: int) -> float:
    """Return by how much ``num_games`` games of ``pair`` reduce the variance of a difference of two strengths."""
    (first, second), (high, low) = pair, difference
    chance = 1 / (1 + np.exp(strengths[second] - strengths[first]))
    information = num_games * chance * (1 - chance)
    column = covariance[first] - covariance[second]
    return float(information * (column[high] - column[low]) ** 2 / (1 + information * (column[first] - column[second])))


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
