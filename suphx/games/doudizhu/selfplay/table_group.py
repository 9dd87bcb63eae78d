"""Games without end at many tables: they show their states with the legal moves, and play on with the chosen ones.

>>> group = TableGroup(256, Rules(), first_seed=2**60)
>>> while True:
...     seats = group.observe()
...     ended = group.step([choose(seen.states, seen.history, seen.offsets, seen.moves) for seen in seats])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suphx.experience.seat_observations import SeatObservations
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import Simulator, advance_tables
from suphx.games.doudizhu.engine.table import GAME_END, NUM_SEATS
from suphx.games.doudizhu.features.encoder import encode_states
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
