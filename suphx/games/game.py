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
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.record import I64

F32: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionKind:
    """One kind of decision of one role, which one net answers."""

    name: str
    """Unique in the game: name of the net's file, of its figures, of its part in recipes."""
    role: str
    """Who decides: one role for all seats of a mahjong game, three in DouDizhu."""
    outputs: tuple[str, ...] = ()
    """What the logits of its net are for, by name: a table of choices, or no and yes. Empty: it values candidates."""
    num_choices: int = 0
    """Columns of a mask of legal choices; 0: all outputs are legal, or there are candidates."""

    @property
    def has_candidates(self) -> bool:
        """Whether its net values a list of candidate moves, each with features of its own."""
        return not self.outputs


class Tables(Protocol):
    """Games side by side, each at a table: the rules as agents and matches need them.

    >>> tables.begin(np.arange(2), seeds=[7, 8])
    >>> while (waiting := tables.waiting()).size:
    ...     tables.advance(waiting, agent.act(tables, waiting))
    ...     for index in tables.take_ended():
    ...         print(tables.finish(index, "7-0", names).points)
    """

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

    def finish(self, index: int, game_id: str, names: Sequence[str]) -> PlayedGame:
        """Return the game that has ended at a table; ``names``: who played, by seat."""
        ...


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that has ended."""

    id: str
    points: tuple[float, ...]
    """By seat: what the game was worth."""
    record: Any
    """As the game's records have it."""


class Agent(Protocol):
    """Plays any seats of any tables of a game; its moves depend on the tables alone, not on how they are batched."""

    @property
    def name(self) -> str:
        """Return what it is called in records and reports."""
        ...

    def act(self, tables: Any, indices: I64) -> I64:
        """Return a legal move for the actor of each of the tables ``indices``."""
        ...


class Scoring(Protocol):
    """How a match repeats a deal so that luck cancels, and what decides it. The clusters of a match are deals."""

    @property
    def seatings(self) -> tuple[str, ...]:
        """Ways to seat a candidate and its opponent, by name, the usual one first."""
        ...

    def candidate_seats(self, seating: str, deal_number: int) -> NDArray[np.bool_]:
        """Return where the candidate sits in each of the games of a deal, bool [games, seats]."""
        ...

    def places(self, points: F32, forfeited: Sequence[frozenset[int]]) -> I64:
        """Return the place of each seat from 1 on, int [games, seats], for ratings; who forfeited is last."""
        ...


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
    scoring: Scoring

    def new_rules(self, values: Mapping[str, Any]) -> Any:
        """Return the rules with these values; TypeError and ValueError for others than the game has."""
        ...

    def rules_values(self, rules: Any) -> dict[str, Any]:
        """Return values for JSON from which ``new_rules`` makes equal rules; those of equal rules never change."""
        ...

    def new_tables(self, num_tables: int, rules: Any) -> Tables:
        """Return empty tables."""
        ...

    def scripted_agent(self, name: str) -> Agent:
        """Return a scripted agent; ValueError unless ``name`` is one of ``agents``."""
        ...

    def read_records(self, path: Path) -> Iterator[Any]:
        """Yield the recorded games of a file or a folder; ValueError names what cannot be read."""
        ...

    def viewer_game(self, records: Sequence[Any], opinions: Any = None) -> dict[str, Any]:
        """Return recorded games as the viewer's page shows them, with what an agent would do in each, if given."""
        ...
