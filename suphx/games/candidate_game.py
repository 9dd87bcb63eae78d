"""The contract of a game whose seats choose among candidate moves: what learning, evaluation and runs need of it.

``registry.py`` has such games by name; ``doudizhu/game.py`` is the worked example. The layers above know a game only
through these names, so that they work for the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.experience.seat_observations import SeatObservations
from suphx.kernel.record import I64, U8

F32: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetColumns:
    """The inputs of the net of one seat."""

    state: int
    """Columns of a state."""
    history: int
    """Columns of one line of the history of moves."""
    candidate: int
    """Columns of a candidate."""


@dataclass(frozen=True, slots=True)
class SideResults:
    """What an agent reached on one side, deal by deal."""

    wins: NDArray[np.bool_]
    """bool (deals,)."""
    points: F32
    """float32 (deals,): positive where it won, negative where it lost."""


class Player(Protocol):
    """What chooses moves, for many tables at once."""

    def choose(self, simulator: Any, seen: SeatObservations) -> I64:
        """Return int64 (n,): for each table of ``seen`` the index of its move in ``seen.moves``."""
        ...


class CandidateGame(Protocol):
    """One game. ``rules`` are a frozen dataclass of the game's own, which JSON can hold."""

    name: str
    """Key of the registry, ``game`` of a recipe."""
    seat_names: tuple[str, ...]
    """By seat; each has a net of its own, in a file of this name."""
    sides: tuple[str, ...]
    """Between which a match swaps the agents."""
    agents: tuple[str, ...]
    """Scripted agents."""

    def new_rules(self, values: Mapping[str, Any]) -> Any:
        """Return the rules with these values; TypeError and ValueError for others than the game has."""
        ...

    def net_columns(self, seat: int) -> NetColumns:
        """Return the inputs of the net of ``seat``."""
        ...

    def candidate_columns(self, rules: Any) -> U8:
        """Return uint8 [moves, columns]: what a net sees of each move that ``rules`` know."""
        ...

    def play(self, rules: Any, seeds: Sequence[int], player: Player) -> F32:
        """Play one whole game for each seed, all seats by ``player``; return float32 [games, seats]: what it was worth.

        The tables that ``player`` sees are numbered in the order of ``seeds``.
        """
        ...

    def play_match(
        self, num_deals: int, rules: Any, first: Player, second: Player, *, first_seed: int = 0
    ) -> Mapping[str, SideResults]:
        """Play the deals ``first_seed``, ``first_seed`` + 1, … with ``first`` on each side; return its results by side.

        ValueError for fewer than one deal.
        """
        ...

    def scripted_player(self, name: str) -> Player:
        """Return a scripted agent; ValueError unless ``name`` is one of ``agents``."""
        ...
