"""The contract of a game: everything above ``suphx/games`` sees a game through this file only.

``registry.py`` has the games by name. A game may leave out parts: with rules and scripted agents alone it can be
played, evaluated, rated and viewed; with encoders it can be learned. What a part is for stands at its class; what a
game does not have is None or empty, and who needs it asks for it (never for the game's name).

    Game
      tables          rules for many games side by side: what agents play on
      scoring         how a deal is repeated in a match, and what its result is worth
      agents          scripted ones by name
      records         read, write, the decisions of a recorded game; tools: verify, statistics, convert
      text, view      for the terminal and for the page
      decisions       what nets decide (roles and kinds), with the encoders of what they see
      learning tables self-play that keeps trajectories
      bot             agents as programs for an arena
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32
from suphx.games.learning import CandidateLearning, DecisionKind, Learning
from suphx.games.quarantine import Quarantine
from suphx.games.scoring import SeatScoring, SideScoring
from suphx.kernel.record import I32, I64


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

    @property
    def num_moves(self) -> int:
        """Moves are numbers from 0 to this minus 1."""

    @property
    def shares(self) -> NDArray[np.float64]:
        """How much of its game each table has played, about, 0 to 1; float64 [tables]."""

    def begin(self, indices: I64, seeds: Sequence[int]) -> None:
        """Deal new games at tables."""

    def waiting(self) -> I64:
        """Return the tables whose games wait for a move, int64 (n,)."""

    def actors(self, indices: I64) -> I64:
        """Return the seat that is to move at each table."""

    def advance(self, indices: I64, moves: I64) -> None:
        """Play a move at each table, and on until it waits again; ValueError for a move that is not legal."""

    def take_ended(self) -> I64:
        """Return the tables whose games have ended since the last call."""

    def take_game(self, index: int, game_id: str, names: Sequence[str]) -> PlayedGame:
        """Return the game that has ended at a table and forget it; ``names``: who played, by seat."""


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

    Some say more of themselves: ``depends_on_batches`` = True, its nets may answer differently in other batches;
    ``is_slow``, large batches make a move no cheaper; ``needs_same_table``, a deal must go on at the table where it
    began. One that must know how a game came to where it is, such as a program, is a ``GameFollower`` besides
    (selfplay/rollouts/rollout.py).
    """

    @property
    def name(self) -> str:
        """Return what it is called in records and reports."""

    def act(self, tables: Any, indices: I64) -> NDArray[np.integer]:
        """Return a legal move for the actor of each of the tables ``indices``; ``tables``: ``Tables.state``."""


@dataclass(frozen=True, slots=True)
class BotFiles:
    """What an arena needs to run a submitted bot: contents by name."""

    program: Mapping[str, bytes]
    data: Mapping[str, bytes]
    """What the program also finds in the folder ``data`` where it runs, if there is no room beside it."""


class Bot(Protocol):
    """Agents as programs for an arena that runs submitted ones."""

    max_bytes: int
    """Of a zip that the arena takes."""

    def files(self, agent: str, checkpoints: Sequence[Path]) -> BotFiles:
        """Return the files of a scripted agent, or of the nets of ``checkpoints``, in the order of the decisions.

        ValueError for nets that the program cannot use.
        """


CountGames: TypeAlias = Callable[[float, int], None]
"""Gets the share of the files that was read, 0 to 1, and how many games came since the last call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came out of replaying records."""

    games: int
    differences: int
    counts: Mapping[str, int]
    """What was replayed and compared, by name."""
    seconds: float
    first: tuple[str, ...]
    """The first differences, a line each."""
    values: Mapping[str, object]
    """More keys of the JSON."""
    rows: Mapping[str, object] = field(default_factory=dict)
    """More rows for people, tables among them."""
    set_aside: Quarantine


class RecordTools(Protocol):
    """What ``suphx records`` does with the records of a game."""

    forms: tuple[str, ...]
    """Names of the forms that games are converted to."""
    kernel_groups: tuple[str, ...]
    """Groups of suphx/training that compile what a replay needs."""
    has_luck: bool
    """Statistics can show results without the luck of the draw (suphx/evaluation/draw_luck.py)."""

    def new_set_aside(self) -> Quarantine:
        """Return an empty list of records that cannot be used."""

    def read(self, paths: Sequence[Path], *, set_aside: Any, workers: int = 1, seen: CountGames = ...) -> Iterator[Any]:
        """Yield the games of files and folders, in order; what cannot be read is set aside."""

    def has_games(self, paths: Sequence[Path], *, set_aside: Any) -> bool:
        """Tell whether a record can be read, which needs no kernels; those before it are set aside."""

    def files(self, path: Path) -> Sequence[Path]:
        """Return the files of records that ``path`` is or has."""

    def players(self, record: Any) -> Sequence[str]:
        """Return the names of who played, by seat."""

    def verify(self, paths: Sequence[Path], *, workers: int | None = None, seen: CountGames) -> Verification:
        """Replay all games by the rules and compare what the records say."""

    def count(self, record: Any, player: str) -> list[int] | None:
        """Return what ``player`` did in a game, by ``Scoring.counters``; None without him, or without an end."""

    def file_forms(self, target: Path) -> tuple[str, ...]:
        """Return the forms that a file of this name can have, the usual one first; () for another file."""

    def kernels_to_write(self, source: Path, form: str) -> tuple[str, ...]:
        """Return the groups of kernels that the records of ``source`` need to be written in a form."""

    def check_target(self, target: Path) -> None:
        """Raise ValueError if games cannot be written to ``target``, for which ``file_forms`` has none."""

    def write(self, records: Iterable[Any], target: Path, form: str, *, set_aside: Any, kept: Set[Path]) -> int:
        """Write games and return how many; what cannot be written is set aside. ``kept``: files that must stay."""


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
    record_tools: RecordTools | None
    """For ``suphx records``; None: it cannot do anything with them."""
    text: PlainText | None
    """For ``suphx play``; None: moves are typed as their numbers."""
    bot: Bot | None
    """For ``suphx bot``; None: no arena runs bots of the game."""

    def new_rules(self, values: Mapping[str, Any]) -> Any:
        """Return the rules with these values; TypeError and ValueError for others than the game has."""

    def rules_values(self, rules: Any) -> dict[str, Any]:
        """Return values for JSON from which ``new_rules`` makes equal rules; those of equal rules never change."""

    def open_tables(self, num_tables: int, rules: Any, **options: Any) -> Tables:
        """Return empty tables. ``options``: of the game's own."""

    def scripted_agent(self, name: str) -> Agent:
        """Return a scripted agent; ValueError unless ``name`` is one of ``agents``."""

    def write_records(self, records: Sequence[Any], path: Path) -> None:
        """Write recorded games to a file, whole or not at all."""

    def join_records(self, folder: Path) -> None:
        """Put the files of the tasks of a match into the order of the match, or into one file."""

    def read_records(self, path: Path) -> Iterator[Any]:
        """Yield the recorded games of a file or a folder; ValueError names what cannot be read."""

    def viewer_game(self, records: Sequence[Any], opinions: Any = None, *, first: int = 1) -> dict[str, Any]:
        """Return recorded games as the viewer's page shows them, with what an agent would do in each, if given.

        ``first``: number of the first one.
        """


class CandidateTables(Tables, Protocol):
    """Tables of a game whose seats choose among candidate moves."""

    def legal(self, indices: I64) -> tuple[I64, I32]:
        """Return the legal moves of tables one after another: int64 (n + 1,), where each list begins, and the moves."""

    def scores(self) -> F32:
        """Return what each game was worth to each seat by its rules, float32 [tables, seats]; 0 while it goes on."""

    def start(self, index: int, auction: Any) -> None:
        """Begin the game that follows an auction at a table; ValueError if the auction is not over."""


@runtime_checkable
class ValuingAgent(Agent, Protocol):
    """An agent whose move is the candidate with the highest value."""

    def candidate_values(self, tables: Any, indices: I64) -> F32:
        """Return float32 (m,): the value of each legal move of the tables, nan where a table has only one."""


@dataclass(frozen=True, slots=True)
class CandidateOpinion:
    """What an agent would do at one decision."""

    candidates: I32
    """int32 (n,): the legal moves."""
    chosen: int
    """Place of the agent's move among them."""
    values: F32 | None
    """float32 (n,), nan if there is only one; None of an agent without values."""


class Auction(Protocol):
    """The bids before a deal, of players at places that have no seats yet: who bids most gets the first seat."""

    @property
    def place(self) -> int | None:
        """Whose turn it is to bid; None if the auction is over."""

    @property
    def num_deals(self) -> int:
        """How often cards were dealt: once more each time that nobody wanted to bid."""

    def scripted_bid(self) -> int:
        """Return what a scripted agent bids at the place whose turn it is."""

    def check(self, bid: int) -> None:
        """Raise ValueError if the place whose turn it is cannot make a bid; it says which bids are possible."""

    def bid(self, bid: int) -> None:
        """Bid for the place whose turn it is; ValueError as ``check``."""

    def seat_of(self, place: int) -> int:
        """Return the seat that a place has after the auction; ValueError while it goes on."""


class PlainText(Protocol):
    """A game as people read and type it in a terminal."""

    help: tuple[str, ...]
    """How the game is played and how moves are typed, as lines of text."""

    def move_text(self, rules: Any, move: int) -> str:
        """Return a move as people write it."""

    def read_move(self, rules: Any, text: str) -> int:
        """Return the move that a person typed; ValueError says what is wrong with it."""

    def seat_lines(self, simulator: Any, table: int, seat: int) -> list[str]:
        """Return what ``seat`` sees at a table, as lines of text: nothing that is hidden from it."""

    def end_lines(self, simulator: Any, table: int) -> list[str]:
        """Return how the game at a table ended, as lines of text."""


class GameText(PlainText, Protocol):
    """A game in the terminal whose moves are many, and which may have auctions."""

    auction_help: tuple[str, ...]
    """How people bid, as lines of text; empty if the game has no auctions."""

    def seat_note(self, seat: int) -> str:
        """Return with whom and against whom ``seat`` plays."""

    def auction_lines(self, auction: Any, place: int) -> list[str]:
        """Return what a place sees before its bid, as lines of text."""

    def bid_text(self, bid: int) -> str:
        """Return what somebody who makes this bid does, such as ``bids 2``."""

    def read_bid(self, text: str) -> int:
        """Return the bid that a person typed; ValueError says what is wrong with it."""

    def move_lists(self, rules: Any, moves: Sequence[int]) -> list[str]:
        """Return lines of text that list many moves, such as all legal ones."""

    def refusal(self, simulator: Any, table: int, move: int) -> str:
        """Return why the seat that is to move cannot make a move, which is not legal."""


Opinions: TypeAlias = Sequence[CandidateOpinion]
"""By move of a recorded game."""


class CandidateGame(Game, Protocol):
    """A game whose seats choose among candidate moves: what the terminal, programs and Deep Monte-Carlo need of it."""

    learning: CandidateLearning
    scoring: SideScoring
    sides: tuple[str, ...]
    """Between which a match swaps the agents."""
    text: GameText
    """For ``suphx play``."""

    def with_auctions(self, rules: Any, *, has_auctions: bool) -> Any:
        """Return ``rules`` with or without an auction before each deal; ValueError if the game can have none."""

    def open_tables(self, num_tables: int, rules: Any, **options: Any) -> CandidateTables:
        """Return empty tables."""

    def new_auction(self, rules: Any, seed: int) -> Auction | None:
        """Return the auction before the deal ``seed``; None if ``rules`` have none, or the game has no auctions.

        ``Tables.begin`` deals with scripted bids.
        """

    def seen_by(self, simulator: Any, table: int) -> dict[str, Any]:
        """Return what the seat that is to move at a table sees, as JSON for programs: nothing hidden from it."""

    def read_record(self, text: str) -> Any:
        """Return the game of one line of a file of records, finished or not; ValueError says what is wrong with it."""

    def new_record(self, rules: Any, seed: int) -> str:
        """Return a game that was dealt, without a move, as one line of a file of records."""

    def recorded_move(self, rules: Any, move: int) -> str:
        """Return a move as records have it."""

    def recorded_decisions(self, record: Any) -> CandidateTables:
        """Return tables at which the decisions of a recorded game are met: table i is the position before its move i.

        No table waits in a game without moves. ValueError for a move that is not legal.
        """

    def next_decision(self, record: Any) -> CandidateTables:
        """Return a table with the position after the moves of a record, at which nobody waits if the game is over.

        ValueError for a move that is not legal.
        """

    def viewer_game(
        self, records: Sequence[Any], opinions: Sequence[Opinions] | None = None, *, first: int = 1
    ) -> dict[str, Any]:
        """Return recorded games as the viewer's page shows them, with what an agent would do in each, if given.

        ``first``: number of the first game. ValueError names the game and the move that is not legal.
        """
