"""Whole games between players of any kind, and decks played twice with the sides swapped.

>>> results = play_decks(500, Rules(), ScriptedPlayer("rule"), ScriptedPlayer("random"))
>>> results.landlord_wins.mean(), results.peasant_wins.mean()  # WP of the first player on either side
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suphx.experience.seat_observations import SeatObservations
from suphx.games.candidate_game import KeptGames
from suphx.games.doudizhu.bots.scripted_play import agent_number, choose_scripted
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.score import F32, scores_of
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.engine.table import LANDLORD, LANDLORD_DOWN, NUM_SEATS
from suphx.games.doudizhu.records.game_record import record_of
from suphx.games.doudizhu.selfplay.table_group import observe_seat
from suphx.kernel.record import I64


class Player(Protocol):
    """What chooses moves, for many tables at once."""

    def choose(self, simulator: Simulator, seen: SeatObservations) -> I64:
        """Return int64 (n,): for each table of ``seen`` the index of its move in ``seen.moves``."""
        ...


class ScriptedPlayer:
    """A scripted agent as a player."""

    def __init__(self, name: str) -> None:
        """``name``: one of AGENTS; ValueError for another."""
        agent_number(name)
        self.name = name

    def choose(self, simulator: Simulator, seen: SeatObservations) -> I64:
        """Return the agent's choices, as ``Player.choose``."""
        return choose_scripted(simulator.tables, simulator.moves, seen.tables, seen.offsets, seen.moves, self.name)


@dataclass(frozen=True, slots=True)
class DeckResults:
    """What the first player reached, deck by deck: once as the landlord, once as both peasants."""

    landlord_wins: NDArray[np.bool_]
    """bool (decks,)."""
    peasant_wins: NDArray[np.bool_]
    """bool (decks,)."""
    landlord_points: F32
    """float32 (decks,): the stake times 2 to the power of the bombs played, negative where it lost."""
    peasant_points: F32
    """float32 (decks,): the same for each of the peasants."""


def play_games(simulator: Simulator, players: Sequence[Player], seating: I64) -> None:
    """Play all games of ``simulator`` to their ends; the caller has dealt them.

    ``seating`` integers [tables, 3]: which of ``players`` has each seat. ValueError for a seating that does not
    fit, and for a move that is not legal.
    """
    lines = np.asarray(seating)
    if lines.shape != (len(simulator.tables), NUM_SEATS):
        raise ValueError(
            f"seating has the shape {lines.shape} for {len(simulator.tables)} tables: give {NUM_SEATS} players for each"
        )
    if (outside := lines[(lines < 0) | (lines >= len(players))]).size:
        raise ValueError(f"seating names player {outside[0]}: use 0 to {len(players) - 1}")
    while (waiting := simulator.waiting()).size:
        actors = simulator.tables["actor"][waiting]
        movers = lines[waiting, actors]
        for seat in range(NUM_SEATS):
            for number, player in enumerate(players):
                tables = waiting[(actors == seat) & (movers == number)]
                if tables.size:
                    seen = observe_seat(simulator, seat, tables)
                    simulator.advance(tables, seen.moves[player.choose(simulator, seen)])


def play_decks(
    num_decks: int,
    rules: Rules,
    first: Player,
    second: Player,
    *,
    first_seed: int = 0,
    kept: KeptGames | None = None,
) -> DeckResults:
    """Play the decks ``first_seed``, ``first_seed`` + 1, … twice: with ``first`` as landlord, then with ``second``.

    ``kept`` gets the records of both games of each deck, one after another. ValueError for fewer than one deck.
    """
    if num_decks < 1:
        raise ValueError(f"num_decks is {num_decks}: play at least one deck")
    simulator = Simulator(2 * num_decks, rules)
    simulator.reset(list(range(first_seed, first_seed + num_decks)) * 2)
    is_swapped = np.arange(2 * num_decks) >= num_decks
    is_peasant = np.arange(NUM_SEATS) != LANDLORD
    seating = (is_swapped[:, None] ^ is_peasant).astype(np.int64)
    play_games(simulator, (first, second), seating)
    if kept is not None:
        _keep(kept, simulator, seating)
    points = scores_of(simulator.tables, "points")
    landlord, peasant = points[:num_decks, LANDLORD], points[num_decks:, LANDLORD_DOWN]
    return DeckResults(landlord > 0, peasant > 0, landlord, peasant)


def _keep(kept: KeptGames, simulator: Simulator, seating: I64) -> None:
    """Write the games deck by deck."""
    for table in np.arange(len(seating)).reshape(2, -1).T.ravel().tolist():
        landlord, down, up = (kept.names[player] for player in seating[table].tolist())
        record = record_of(simulator.tables[table], simulator.rules, (landlord, down, up))
        kept.write(json.dumps(record.to_json()))
