"""The contract of a game: everything above ``suphx/games`` sees a game through this file only.

``registry.py`` has the games by name. A game may leave out parts: with rules and scripted agents alone it can be
played, evaluated, rated and viewed; with encoders it can be learned. What a part is for stands at its class; what a
game does not have is None or empty, and who needs it asks for it (never for the game's name).

    Game
      tables          rules for many games side by side: what agents play on
      scoring         how a deal is repeated in a match, and what its result is worth
      agents          scripted ones by name
      records         read, write, the decisions of a recorded game
      text, view      for the terminal and for the page
      decisions       what nets decide (roles and kinds), with the encoders of what they see
      learning tables self-play that keeps trajectories
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suphx.games.learning import DecisionKind, Learning
from suphx.games.scoring import SeatScoring, SideScoring
from suphx.kernel.record import I64


class Tables(Protocol):
    """Games side by side, each at a table: the rules as agents and matches need them.

    >>> tables.begin(np.arange(2), seeds=[7, 8])
    >>> while (waiting := tables.waiting()).size:
    ...     tables.advance(waiting, agent.act(tables.state, waiting))
    ...     for index in tables.take_ended().tolist():
    ...         print(tables.take_game(index, "7-0", names).points)
    """

    @property
    def state(self) -> Any:
        """What agents get: the whole state of all tables, whatever that is in the game."""
        ...

    @property
    def num_moves(self) -> int:
        """Moves are numbers from 0 to this minus 1."""
        ...

    @property
    def shares(self) -> NDArray[np.float64]:
        """How much of its game each table has played, about, 0 to 1; float64 [tables]."""
        ...

    def begin(self, indices: I64, seeds: Sequence[int]) -> None:
        """Deal new games at tables."""
        ...

    def waiting(self) -> I64:
        """Return the tables whose games wait for a move, int64 (n,)."""
        ...

    def actors(self, indices: I64) -> I64:
        """Return the seat that is to move at each table."""
        ...

    def advance(self, indices: I64, moves: I64) -> None:
        """Play a move at each table, and on until it waits again; ValueError for a move that is not legal."""
        ...

    def take_ended(self) -> I64:
        """Return the tables whose games have ended since the last call."""
        ...

    def take_game(self, index: int, game_id: str, names: Sequence[str]) -> PlayedGame:
        """Return the game that has ended at a table and forget it; ``names``: who played, by seat."""
        ...


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that has ended."""

    id: str
    points: tuple[float, ...]
    """By seat: what the game was worth in a match."""
    record: Any
    """As the game's records have it."""


class Agent(Protocol):
    """Plays any seats of any tables of a game; its moves depend on the tables alone, not on how they are batched.

    An agent whose nets may answer differently in other batches has ``depends_on_batches`` = True. One that has
    something of its own at each table, such as a program, is a ``GameFollower`` besides (selfplay/rollouts/rollout.py).
    """

    @property
    def name(self) -> str:
        """Return what it is called in records and reports."""
        ...

    def act(self, tables: Any, indices: I64) -> NDArray[np.integer]:
        """Return a legal move for the actor of each of the tables ``indices``; ``tables``: ``Tables.state``."""
        ...


class CandidateAgent:
    """An agent that chooses among the candidate moves that a seat sees; its tables have ``observe``."""

    name = "nets"

    def act(self, tables: Any, indices: I64) -> I64:
        """Return a legal move for the actor of each of the tables ``indices``, which ascend."""
        moves = np.zeros(len(indices), np.int64)
        for seen in tables.observe(indices):
            moves[np.searchsorted(indices, seen.tables)] = seen.moves[self.choose(tables, seen)]
        return moves

    def choose(self, tables: Any, seen: Any) -> I64:
        """Return int64 (n,): for each table of ``seen`` (``SeatObservations``) the index of its move in ``seen.moves``."""
        raise NotImplementedError


class Game(Protocol):
    """One game. ``rules`` are a frozen dataclass of the game's own, which JSON can hold."""

    name: str
    """Key of the registry, ``game`` of a recipe."""
    title: str
    """As people write it."""
    seat_names: tuple[str, ...]
    agents: tuple[str, ...]
    """Scripted agents, the strongest last."""
    decisions: tuple[DecisionKind, ...]
    """What nets decide; empty: the game cannot be learned."""
    learning: Learning | None
    """Self-play that keeps trajectories, and what nets see; None: the game cannot be learned."""
    scoring: SeatScoring | SideScoring
    kernel_groups: tuple[str, ...]
    """Groups of suphx/training that compile what its games need; empty: a game of two scripted agents does."""
    record_suffix: str
    """Of a file of records."""

    def new_rules(self, values: Mapping[str, Any]) -> Any:
        """Return the rules with these values; TypeError and ValueError for others than the game has."""
        ...

    def rules_values(self, rules: Any) -> dict[str, Any]:
        """Return values for JSON from which ``new_rules`` makes equal rules; those of equal rules never change."""
        ...

    def open_tables(self, num_tables: int, rules: Any, **options: Any) -> Tables:
        """Return empty tables. ``options``: of the game's own."""
        ...

    def scripted_agent(self, name: str) -> Agent:
        """Return a scripted agent; ValueError unless ``name`` is one of ``agents``."""
        ...

    def write_records(self, records: Sequence[Any], path: Path) -> None:
        """Write recorded games to a file, whole or not at all."""
        ...

    def join_records(self, folder: Path) -> None:
        """Put the files of the tasks of a match into the order of the match, or into one file."""
        ...

    def read_records(self, path: Path) -> Iterator[Any]:
        """Yield the recorded games of a file or a folder; ValueError names what cannot be read."""
        ...

    def viewer_game(self, records: Sequence[Any], opinions: Any = None) -> dict[str, Any]:
        """Return recorded games as the viewer's page shows them, with what an agent would do in each, if given."""
        ...
