"""The decisions of a recorded game, so that an agent can be asked about all of them at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suphx.experience.seat_observations import SeatObservations
from suphx.games.candidate_game import KeptGames, NoteForfeit, OutsidePlayer, RecordedDecisions
from suphx.games.doudizhu.bots import agent_number, choose_scripted
from suphx.games.doudizhu.engine import Simulator, advance_tables
from suphx.games.doudizhu.features import encode_states
from suphx.games.doudizhu.records.game_record import GameRecord, positions, record_of
from suphx.games.doudizhu.table import F32, GAME_END, LANDLORD, LANDLORD_DOWN, NUM_SEATS, Rules, scores_of
from suphx.kernel.record import I64, Records


class TableGroup:
    """Consumes: chosen moves. Produces: observations, and games that ended. Waits for nothing."""

    def __init__(self, num_tables: int, rules: Rules, *, first_seed: int) -> None:
        """Deal the first games; the seeds of this group's games are ``first_seed``, ``first_seed`` + 1, …"""
        self._simulator = Simulator(num_tables, rules)
        self._next_seed = first_seed
        self._seen: list[SeatObservations] = []
        self._deal(np.arange(num_tables))

    def observe(self) -> list[SeatObservations]:
        """Return what all tables want to know, one part for each seat that is to move anywhere."""
        actors = self._simulator.tables["actor"]
        parts = [(seat, np.flatnonzero(actors == seat)) for seat in range(NUM_SEATS)]
        self._seen = [observe_seat(self._simulator, seat, tables) for seat, tables in parts if tables.size]
        return self._seen

    def step(self, chosen: Sequence[I64]) -> Records:
        """Play one move at every table; return the games that ended, as TABLE records, and deal new ones there.

        ``chosen``: for each part of the last ``observe`` int64 (n,), the indices of the moves in its ``moves``.
        ValueError for indices of other tables and for parts that are not those of the last ``observe``.
        """
        if len(chosen) != len(self._seen):
            raise ValueError(f"{len(chosen)} answers for {len(self._seen)} observations: call observe before each step")
        for seen, indices in zip(self._seen, chosen, strict=True):
            _check(seen, indices)
        simulator = self._simulator
        for seen, indices in zip(self._seen, chosen, strict=True):
            advance_tables(simulator.tables, simulator.moves, seen.tables, seen.moves[indices])
        self._seen = []
        over = np.flatnonzero(simulator.tables["phase"] == GAME_END)
        ended: Records = simulator.tables[over]
        self._deal(over)
        return ended

    def _deal(self, tables: I64) -> None:
        self._simulator.reset(range(self._next_seed, self._next_seed + len(tables)), tables)
        self._next_seed += len(tables)


def observe_seat(simulator: Simulator, seat: int, tables: I64) -> SeatObservations:
    """Return what ``seat`` sees at the ``tables``; ValueError if one of them does not wait for a move of this seat."""
    states, history = encode_states(simulator.tables, simulator.moves, tables, seat)
    return SeatObservations(seat, tables, states, history, *simulator.legal(tables), simulator.moves.num_moves)


def _check(seen: SeatObservations, indices: I64) -> None:
    if indices.shape != seen.tables.shape:
        raise ValueError(f"seat {seen.seat}: {indices.size} answers for {seen.tables.size} tables: give one a table")
    wrong = np.flatnonzero((indices < seen.offsets[:-1]) | (indices >= seen.offsets[1:]))
    if wrong.size:
        i = int(wrong[0])
        raise ValueError(
            f"seat {seen.seat}, table {seen.tables[i]}: {indices[i]} is not the index of one of its moves: "
            f"use {seen.offsets[i]} to {seen.offsets[i + 1] - 1}"
        )


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


def play_games(simulator: Simulator, players: Sequence[Player], seating: I64) -> dict[int, tuple[int, str]]:
    """Play all games of ``simulator`` to their ends; the caller has dealt them.

    ``seating`` integers [tables, 3]: which of ``players`` has each seat. Returns table -> seat and why, of the games
    that an ``OutsidePlayer`` could not play to the end: the first seat of a game. ValueError for a seating that does
    not fit, and for a move that is not legal.
    """
    forfeits: dict[int, tuple[int, str]] = {}
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
                    if isinstance(player, OutsidePlayer):
                        for table, reason in player.take_forfeits().items():
                            forfeits.setdefault(table, (seat, reason))
    return forfeits


def play_decks(
    num_decks: int,
    rules: Rules,
    first: Player,
    second: Player,
    *,
    first_seed: int = 0,
    kept: KeptGames | None = None,
    note_forfeit: NoteForfeit = lambda player, reason: None,
) -> DeckResults:
    """Play the decks ``first_seed``, ``first_seed`` + 1, … twice: with ``first`` as landlord, then with ``second``.

    ``kept`` gets the records of both games of each deck, one after another. A game that an ``OutsidePlayer`` could not
    play to its end is lost for its side, with the points that it had when it was over. ValueError for fewer than one
    deck.
    """
    if num_decks < 1:
        raise ValueError(f"num_decks is {num_decks}: play at least one deck")
    simulator = Simulator(2 * num_decks, rules)
    simulator.reset(list(range(first_seed, first_seed + num_decks)) * 2)
    is_swapped = np.arange(2 * num_decks) >= num_decks
    is_peasant = np.arange(NUM_SEATS) != LANDLORD
    seating = (is_swapped[:, None] ^ is_peasant).astype(np.int64)
    try:
        forfeits = play_games(simulator, (first, second), seating)
    finally:
        for player in (first, second):
            if isinstance(player, OutsidePlayer):
                player.leave()
    if kept is not None:
        _keep(kept, simulator, seating)
    points = scores_of(simulator.tables, "points")
    for table, (seat, reason) in sorted(forfeits.items()):
        has_lost = is_peasant == (seat != LANDLORD)
        points[table] = np.where(has_lost, -1, 1) * np.abs(points[table])
        note_forfeit(int(seating[table, seat]), reason)
    landlord, peasant = points[:num_decks, LANDLORD], points[num_decks:, LANDLORD_DOWN]
    return DeckResults(landlord > 0, peasant > 0, landlord, peasant)


def _keep(kept: KeptGames, simulator: Simulator, seating: I64) -> None:
    """Write the games deck by deck."""
    for table in np.arange(len(seating)).reshape(2, -1).T.ravel().tolist():
        landlord, down, up = (kept.names[player] for player in seating[table].tolist())
        record = record_of(simulator.tables[table], simulator.rules, (landlord, down, up))
        kept.write(json.dumps(record.to_json()))


def recorded_decisions(record: GameRecord) -> RecordedDecisions:
    """Return what each seat saw before each of its moves; table i of the simulator is the position before move i.

    A game without moves has no decisions. ValueError for a move that is not legal.
    """
    if not record.moves:
        return RecordedDecisions(Simulator(1, record.rules), ())
    return _decisions(positions(record)[:-1], record.rules)


def next_decision(record: GameRecord) -> RecordedDecisions | None:
    """Return what the seat that is to move after the moves of a record sees, at a single table.

    None if the game is over; ValueError for a move that is not legal.
    """
    table = positions(record)[-1:]
    return None if table["phase"][0] == GAME_END else _decisions(table, record.rules)


def _decisions(tables: Records, rules: Rules) -> RecordedDecisions:
    simulator = Simulator(len(tables), rules)
    simulator.tables[:] = tables
    parts = [(seat, np.flatnonzero(tables["actor"] == seat)) for seat in range(NUM_SEATS)]
    return RecordedDecisions(simulator, tuple(observe_seat(simulator, *part) for part in parts if part[1].size))
