"""The contract of a game whose seats choose among candidate moves: what learning, evaluation and runs need of it.

``registry.py`` has such games by name; ``doudizhu/game.py`` is the worked example. Learning, evaluation and runs use
only these names; recipes, the benchmark and the viewer have an entry for each game (docs/games.md lists all steps).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suphx.experience.seat_observations import SeatObservations
from suphx.games.game import CandidateAgent, Game
from suphx.games.registry import candidate_games, find_game, load_game
from suphx.games.scoring import SideScoring
from suphx.kernel.record import I32, I64, U8

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


class Player(Protocol):
    """What chooses moves, for many tables at once."""

    def choose(self, simulator: Any, seen: SeatObservations) -> I64:
        """Return int64 (n,): for each table of ``seen`` the index of its move in ``seen.moves``."""
        ...


@runtime_checkable
class ValuingPlayer(Player, Protocol):
    """A player whose choice is the candidate with the highest value."""

    def values(self, seen: SeatObservations) -> F32:
        """Return float32 (m,): the value of each of ``seen.moves``, nan where a table has only one."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedDecisions:
    """All decisions of a recorded game, as if each were met at a table of its own."""

    simulator: Any
    """For ``Player.choose``; table i is the position before move i."""
    seen: tuple[SeatObservations, ...]


@dataclass(frozen=True, slots=True)
class CandidateOpinion:
    """What an agent would do at one decision."""

    candidates: I32
    """int32 (n,): the legal moves."""
    chosen: int
    """Place of the agent's move among them."""
    values: F32 | None
    """float32 (n,); None of an agent without values."""


class Auction(Protocol):
    """The bids before a deal, of players at places that have no seats yet: who bids most gets the first seat."""

    @property
    def place(self) -> int | None:
        """Whose turn it is to bid; None if the auction is over."""
        ...

    @property
    def num_deals(self) -> int:
        """How often cards were dealt: once more each time that nobody wanted to bid."""
        ...

    def scripted_bid(self) -> int:
        """Return what a scripted agent bids at the place whose turn it is."""
        ...

    def check(self, bid: int) -> None:
        """Raise ValueError if the place whose turn it is cannot make a bid; it says which bids are possible."""
        ...

    def bid(self, bid: int) -> None:
        """Bid for the place whose turn it is; ValueError as ``check``."""
        ...

    def seat_of(self, place: int) -> int:
        """Return the seat that a place has after the auction; ValueError while it goes on."""
        ...


class GameText(Protocol):
    """A game as people read and type it in a terminal."""

    help: tuple[str, ...]
    """How the game is played and how moves are typed, as lines of text."""

    auction_help: tuple[str, ...]
    """How people bid, as lines of text; empty if the game has no auctions."""

    def seat_note(self, seat: int) -> str:
        """Return with whom and against whom ``seat`` plays."""
        ...

    def auction_lines(self, auction: Any, place: int) -> list[str]:
        """Return what a place sees before its bid, as lines of text."""
        ...

    def bid_text(self, bid: int) -> str:
        """Return what somebody who makes this bid does, such as ``bids 2``."""
        ...

    def read_bid(self, text: str) -> int:
        """Return the bid that a person typed; ValueError says what is wrong with it."""
        ...

    def move_text(self, rules: Any, move: int) -> str:
        """Return a move as people write it."""
        ...

    def move_lists(self, rules: Any, moves: Sequence[int]) -> list[str]:
        """Return lines of text that list many moves, such as all legal ones."""
        ...

    def read_move(self, rules: Any, text: str) -> int:
        """Return the move that a person typed; ValueError says what is wrong with it."""
        ...

    def refusal(self, simulator: Any, table: int, move: int) -> str:
        """Return why the seat that is to move cannot make a move, which is not legal."""
        ...

    def seat_lines(self, simulator: Any, table: int, seat: int) -> list[str]:
        """Return what ``seat`` sees at a table, as lines of text: nothing that is hidden from it."""
        ...

    def end_lines(self, simulator: Any, table: int) -> list[str]:
        """Return how the game at a table ended, as lines of text."""
        ...

    def record_line(self, simulator: Any, table: int, players: Sequence[str]) -> str:
        """Return the game at a table as one line of a file of records; ``players``: who played, by seat."""
        ...


Opinions: TypeAlias = Sequence[CandidateOpinion | None]
"""By move of a recorded game; None where only one move was legal."""


class CandidateGame(Game, Protocol):
    """One game."""

    scoring: SideScoring
    sides: tuple[str, ...]
    """Between which a match swaps the agents."""
    text: GameText
    """For ``suphx play``."""

    def with_auctions(self, rules: Any, *, has_auctions: bool) -> Any:
        """Return ``rules`` with or without an auction before each deal; ValueError if the game can have none."""
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

    def new_auction(self, rules: Any, seed: int) -> Auction | None:
        """Return the auction before the deal ``seed``; None if ``rules`` have none, or the game has no auctions.

        In ``play`` and in matches, deals by rules with auctions are dealt with scripted bids.
        """
        ...

    def play_auctioned(self, rules: Any, auction: Any, player: Player) -> F32:
        """Play the game that follows an auction that is over, as ``play`` does; return float32 [1, seats]."""
        ...

    def seen_by(self, simulator: Any, table: int) -> dict[str, Any]:
        """Return what the seat that is to move at a table sees, as JSON for programs: nothing hidden from it."""
        ...

    def scripted_agent(self, name: str) -> CandidateAgent:
        """Return a scripted agent; ValueError unless ``name`` is one of ``agents``."""
        ...

    def read_record(self, text: str) -> Any:
        """Return the game of one line of a file of records, finished or not; ValueError says what is wrong with it."""
        ...

    def new_record(self, rules: Any, seed: int) -> str:
        """Return a game that was dealt, without a move, as one line of a file of records."""
        ...

    def recorded_move(self, rules: Any, move: int) -> str:
        """Return a move as records have it."""
        ...

    def recorded_decisions(self, record: Any) -> RecordedDecisions:
        """Return the decisions of a recorded game; ValueError for a move that is not legal."""
        ...

    def next_decision(self, record: Any) -> RecordedDecisions | None:
        """Return the decision, at a single table, that follows the moves of a record; None if the game is over.

        ValueError for a move that is not legal.
        """
        ...

    def viewer_game(
        self, records: Sequence[Any], opinions: Sequence[Opinions] | None = None, *, first: int = 1
    ) -> dict[str, Any]:
        """Return recorded games as the viewer's page shows them, with what an agent would do in each, if given.

        ``first``: number of the first game. ValueError names the game and the move that is not legal.
        """
        ...


def net_file_names(game: CandidateGame) -> tuple[str, ...]:
    """Return the names of the files of the nets of all seats, in one folder."""
    return tuple(f"{seat}.safetensors" for seat in game.seat_names)


def candidate_game(name: str) -> CandidateGame:
    """Return a game of the registry whose seats choose among candidate moves; ValueError for another one."""
    entry = find_game(name)
    if entry.has_heads:
        names = " or ".join(candidate_games())
        raise ValueError(f"{entry.title} is not learned by Deep Monte-Carlo: use {names}")
    return cast("CandidateGame", load_game(name))
