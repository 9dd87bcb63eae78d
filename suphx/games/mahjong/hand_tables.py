"""What the ``Tables`` and the scoring of games have in common whose whole state is one record: hands side by side.

The records have these fields in common: ``phase``, where 0 is an empty table, ``actor``, ``legal``, by number of the
move, and ``wall_left``, the tiles that are not drawn, of all or by seat.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suphx.games.game import PlayedGame
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.scoring import SeatScoring
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, Records, as_integers, check_in_range, index_fault

MAX_SEED = 2**62
EMPTY = 0


class HandTables(ABC):
    """``Tables`` of hands (suphx/games/game.py); ``state`` is a record array (n,).

    A game adds its kernels and what a hand was worth.
    """

    num_moves: int
    ended_phase: ClassVar[int]
    tiles_to_draw: ClassVar[int]
    """After the deal, of all walls."""
    seat_names: ClassVar[tuple[str, ...]]

    def __init__(self, num_tables: int, rules: Any) -> None:
        """Make empty tables."""
        if num_tables < 1:
            raise ValueError(f"num_tables is {num_tables}: use 1 or more")
        self.rules = rules
        self.state = self.new_state(num_tables, rules)
        self.shares: NDArray[np.float64] = np.zeros(num_tables)
        self._is_running = np.zeros(num_tables, np.bool_)

    @staticmethod
    @abstractmethod
    def new_state(num_tables: int, rules: Any) -> Records:
        """Return empty tables with the rules set."""

    @staticmethod
    @abstractmethod
    def deal(tables: Records, suits: Suits, indices: I64, seeds: I64) -> None:
        """Deal the hands ``seeds`` at tables."""

    @staticmethod
    @abstractmethod
    def step(tables: Records, suits: Suits, indices: I64, moves: I64) -> None:
        """Play a legal move at each table."""

    @abstractmethod
    def played_game(self, table: Any, rules: Any, names: Sequence[str], game_id: str) -> PlayedGame:
        """Return the hand that has ended at a table."""

    @abstractmethod
    def move_text(self, move: int) -> str:
        """Return a move as people write it."""

    def begin(self, indices: ArrayLike, seeds: Iterable[int]) -> None:
        """Deal new hands at tables; ValueError for a seed that is not in 0 … 2**62 - 1 and for an unknown table."""
        places = as_integers(indices, "indices")
        numbers = as_integers(list(seeds), "seeds", places.size)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < MAX_SEED:
            raise ValueError(f"seeds are {numbers.min()} to {numbers.max()}: use 0 to 2**62 - 1")
        check_in_range(places, len(self.state))
        self.deal(self.state, load_suits(), places, numbers)
        self._is_running[places] = True
        self.shares[places] = 0

    def waiting(self) -> I64:
        """Return the tables whose hands wait for a move."""
        phases = self.state["phase"]
        return np.flatnonzero((phases != EMPTY) & (phases != self.ended_phase))

    def actors(self, indices: I64) -> I64:
        """Return the seat that is to move at each table."""
        actors: I64 = self.state["actor"][indices].astype(np.int64)
        return actors

    def advance(self, indices: ArrayLike, moves: ArrayLike) -> None:
        """Play a move at each table; ValueError for one that is not legal, or for a table that is not there."""
        places = as_integers(indices, "indices")
        numbers = as_integers(moves, "moves", places.size)
        bad = _find_fault(self.state, self.num_moves, places, numbers)
        if bad >= 0:
            fault = index_fault(places, bad, len(self.state))
            raise ValueError(fault or self._explain(int(places[bad]), int(numbers[bad])))
        self.step(self.state, load_suits(), places, numbers)
        left = self.state["wall_left"].reshape(len(self.state), -1)[places].sum(axis=1)
        self.shares[places] = 1 - left / self.tiles_to_draw

    def take_ended(self) -> I64:
        """Return the tables whose hands have ended since the last call."""
        ended = np.flatnonzero(self._is_running & (self.state["phase"] == self.ended_phase))
        self._is_running[ended] = False
        return ended

    def take_game(self, index: int, game_id: str, names: Sequence[str]) -> PlayedGame:
        """Return the hand that has ended at a table."""
        return self.played_game(self.state[index], self.rules, names, game_id)

    def _explain(self, index: int, move: int) -> str:
        table = self.state[index]
        legal = ", ".join(self.move_text(int(other)) for other in np.flatnonzero(table["legal"]))
        seat = self.seat_names[table["actor"]]
        own = self.move_text(move)
        return f"table {index}, {seat}: {own} is not legal; legal: {legal or 'nothing, the hand is over'}"


@jit
def _find_fault(tables: Records, num_moves: int, indices: I64, moves: I64) -> int:
    """Return the position of the first move that is not legal, or whose table is not there or named before; else -1."""
    is_named = np.zeros(len(tables), np.bool_)
    for i in range(len(indices)):
        if not 0 <= indices[i] < len(tables) or is_named[indices[i]]:
            return i
        is_named[indices[i]] = True
        if not 0 <= moves[i] < num_moves or tables[indices[i]].legal[moves[i]] == 0:
            return i
    return -1


class HandAgent(ABC):
    """A scripted agent by name."""

    names: ClassVar[tuple[str, ...]]
    """Of all such agents; kernels know an agent by its place."""

    def __init__(self, name: str) -> None:
        """``name``: one of ``names``; ValueError for another."""
        if name not in self.names:
            raise ValueError(f"{name!r} is not a scripted agent: use one of {', '.join(self.names)}")
        self.name, self.number = name, self.names.index(name)

    @abstractmethod
    def choose(self, tables: Records, indices: I64, moves: I64) -> None:
        """Fill ``moves`` with a legal one for each table."""

    def act(self, tables: Records, indices: I64) -> I64:
        """Return a legal move for each table."""
        moves = np.empty(indices.shape, np.int64)
        self.choose(tables, indices, moves)
        return moves


@dataclass(frozen=True, slots=True, kw_only=True)
class HandScoring(SeatScoring):
    """The scoring of hands whose records have ``players`` and ``outcomes``, numbers by seat, after PLACE_COUNTERS."""

    def count(self, record: Any, player: str, places: Sequence[int]) -> list[int] | None:
        """Return places and outcomes of ``player``, those of several seats together; None if he was not there."""
        rows = [
            [*(places[seat] == place for place in range(1, len(record.players) + 1)), 1, places[seat], *outcomes]
            for seat, outcomes in enumerate(record.outcomes)
            if record.players[seat] == player
        ]
        return [sum(column) for column in zip(*rows, strict=True)] if rows else None
