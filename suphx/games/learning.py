"""The learning half of a game's contract: what nets decide, what they see, and self-play that keeps decisions.

A game has it as ``Game.learning``; its decision kinds are ``Game.decisions``. Nets, trainers and the parts of Figure 6
know a game through these names only. What only some games have is an option: ``Learning.options`` lists those that a
game offers.

>>> learning = find_learning("riichi")  # games/registry.py: that of games/riichi/game.py
>>> config = LearningConfig(num_tables=64, learned=(0, 1, 2))
>>> tables = learning.new_learning_tables(config, learning.encoders[0], rules, first_seed=1)
>>> while True:
...     ended = tables.step([outputs_of(observations) for observations in tables.observe()])
...     decisions = ended.with_rewards(ended.points)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32, Observations, OpponentConfig, PolicyOutputs, Samples
from suphx.kernel.record import I16, I64, U8

if TYPE_CHECKING:
    from suphx.experience.decisions import Decisions  # with kernels, which recipes do not need


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionKind:
    """One kind of decision of one role, which one net answers."""

    game: str
    """Name in the registry."""
    number: int
    """Its place among the kinds of the game."""
    name: str
    """Unique in the game: name of the net's file, of its figures, of its part in recipes."""
    role: str
    """Who decides: one role for all seats of a mahjong game, three in DouDizhu."""
    outputs: tuple[str, ...] = ()
    """What the logits of its net are for, by name: a table of choices, or no and yes. Empty: it values candidates."""
    num_choices: int = 0
    """Columns of a mask of legal choices; 0: no and yes, which are always legal, or candidates."""
    first_logit: float = 0.0
    """Of yes, before a net learns: with 0 a random agent would claim half of all tiles."""
    training_share: float = 1.0
    """Of the time of supervised learning, against the shares of the other kinds; small ones learn first."""
    can_be_played_out: bool = True
    """Whether its every answer is an action, which can be tried with the option ``playouts``."""

    @property
    def num_outputs(self) -> int:
        """Logits of a row; of a net that values candidates, one for each of them."""
        return len(self.outputs) or 1

    @property
    def is_choice(self) -> bool:
        """Whether it chooses one of several legal answers; else it says no or yes."""
        return self.num_choices > 0 or self.has_candidates

    @property
    def has_candidates(self) -> bool:
        """Whether its net values a list of candidate moves, each with features of its own."""
        return not self.outputs


LearningOption = Literal["hidden", "draw lanes", "archive", "game rewards", "playouts"]
"""What a game may offer besides. ``hidden``: observations of the kinds that learn also have what is hidden from their
seat (paper, section 3.3). ``draw lanes``: every seat draws from its own positions of the wall, so that a claim does not
change what the others draw. ``archive``: records of others are read, and those with faults are set aside. ``game
rewards``: rewards made of how deals ended (``EndedDeals.ends``). ``playouts``: decisions whose actions are
tried (playouts.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningConfig:
    """Tables that are played side by side."""

    num_tables: int
    learned: tuple[int, ...]
    """Numbers of the kinds that learn: their decisions are kept."""
    opponents: OpponentConfig = field(default_factory=OpponentConfig)
    options: frozenset[LearningOption] = frozenset()
    first_steps: int = 1
    """The tables begin one after another over this many steps; otherwise all deals would end at the same time."""

    def __post_init__(self) -> None:
        for name in ("num_tables", "first_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least 1")
        if unknown := self.options - set(get_args(LearningOption)):
            raise ValueError(f"options has {min(unknown)!r}: use {', '.join(get_args(LearningOption))}")

    def num_begun(self, step: int) -> int:
        """Return how many tables, the first ones, take part in the step number ``step``, 0, 1, …"""
        return min(-(-(step + 1) * self.num_tables // self.first_steps), self.num_tables)

    def check_options(self, offered: frozenset[LearningOption], title: str) -> None:
        """Raise ValueError for options that the game ``title`` does not offer."""
        if missing := self.options - offered:
            raise ValueError(f"{title} does not offer {', '.join(sorted(missing))}")


class EndedDeals(Protocol):
    """Deals that ended in a step, and what the learning seats decided in them."""

    @property
    def points(self) -> F32:
        """What each deal was worth, float32 [deals, seats]: a reward that every game has."""

    @property
    def ends(self) -> Any:
        """What the game's own rewards are made of, such as riichi's ``KyokuEnds``; None if it has none."""

    @property
    def num_games(self) -> int:
        """Whole games that ended."""

    @property
    def num_deals(self) -> int:
        """Deals that ended, those at the ends of games among them."""

    @property
    def num_decisions(self) -> int:
        """Tables that have played on."""

    def with_rewards(self, rewards: F32) -> list[Decisions]:
        """Return the decisions of each kind that learns; ``rewards`` [deals, seats]. To be called before the next
        step."""


class LearningTables(Protocol):
    """Consumes: outputs. Produces: observations, and the decisions of deals that ended. Waits for nothing.

    The course of a game depends only on its seed and the policy outputs, not on other tables.
    """

    def observe(self, keep_probability: float = 1.0) -> list[Observations]:
        """Return the observations of all tables, one part for each kind of decision that is needed.

        ``keep_probability``: of the bits that are hidden from the seats, with the option ``hidden``.
        """

    def step(self, outputs: Sequence[PolicyOutputs]) -> EndedDeals:
        """Play on with the outputs for the last ``observe`` until every table waits; return what ended on the way."""

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs; observations that wait for outputs are made again."""

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of equal tables."""


class RowLayout(Protocol):
    """What a row of observations is made of; a net fits one name and version."""

    @property
    def name(self) -> str:
        """Return what it is called."""

    @property
    def version(self) -> int:
        """Return a number that goes up whenever a column changes its meaning or place."""

    @property
    def num_planes(self) -> int:
        """Return how many planes a row has; of a ``CandidateLayout`` its columns."""

    @property
    def num_columns(self) -> int:
        """Return the columns of a plane, a bit each; of a ``CandidateLayout`` 1."""


@dataclass(frozen=True, slots=True)
class HiddenPlanes:
    """What is hidden from a seat, as rows of self-play have it with the option ``hidden``."""

    layout: RowLayout
    seen: Callable[..., U8]
    """(rows, public planes of a net, hidden planes of it, *, sees_all=False) -> the rows that the net sees: of its
    hidden planes the bits that are kept, or all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateLayout:
    """The layout of a kind that has candidates: numbers 0 to 255, a byte each, first the state, then the history."""

    name: str
    version: int
    state: int
    """Columns of the state."""
    history: tuple[int, int]
    """Lines of the history of moves, the oldest first, and columns of a line."""
    candidate: int
    """Columns of a candidate, which are not in the row (``CandidateLearning.candidate_features``)."""

    @property
    def num_planes(self) -> int:
        """Columns of a row."""
        return self.state + self.history[0] * self.history[1]

    num_columns: ClassVar[int] = 1

    @property
    def observation_bytes(self) -> int:
        """Bytes of a row."""
        return self.num_planes


KindOutputs: TypeAlias = tuple[I16, F32]
"""Actions int16 [n] and scores float32 [n], as in ``PolicyOutputs``."""

Forward: TypeAlias = Callable[[Observations, I64], KindOutputs]
"""(observations of one kind, int64 [n]: the table of each row) -> the outputs of its net."""


Seen: TypeAlias = list[tuple[I64, Observations]]
"""Places, int64 [n], among the tables that were asked about, and their observations, a part for each kind."""


class Learning(Protocol):
    """How nets see a game, decide in it and learn it."""

    encoders: tuple[str, ...]
    """What nets may see, by name; the first one is the default."""
    options: frozenset[LearningOption]
    """Those that the game offers."""
    hidden: HiddenPlanes | None
    """None without the option ``hidden``."""
    rules_version: str
    """Name of the usual rules, for checkpoints of nets that learned them."""
    samples: RecordedSamples | None
    """None: nets learn from no records."""

    def layout(self, encoder: str, kind: int) -> RowLayout:
        """Return what a net of a kind sees in a row; ValueError for an unknown encoder."""

    def observation_bytes(self, encoder: str, kind: int, *, has_hidden: bool = False) -> int:
        """Return the bytes of a row of a kind's decisions; ``has_hidden``: of the option ``hidden``."""

    def decide(
        self, tables: Any, indices: I64, encoder: str, forward: Forward, keep_probabilities: Mapping[int, float]
    ) -> NDArray[np.integer]:
        """Return a legal move for the actor of each of the tables ``indices`` of ``Tables.state``.

        ``forward`` computes the outputs of a net, as often as there are observations of a kind;
        ``keep_probabilities``: the kinds whose rows have what is hidden, with that of their bits.
        """

    def new_learning_tables(
        self, config: LearningConfig, encoder: str, rules: Any = None, *, first_seed: int
    ) -> LearningTables:
        """Deal the first games; their seeds are ``first_seed``, ``first_seed`` + 1, …

        ``rules``: None for the usual ones. ValueError for an unknown encoder, and for options that the game does not
        offer.
        """


MANIFEST_FILE = "store.json"
"""In the folder of a ``GameStore``: a JSON object whose ``sha256`` is its digest."""


class GameStore(Protocol):
    """Recorded games on disk; a folder without ``MANIFEST_FILE`` is not finished."""

    @property
    def folder(self) -> Path:
        """Return where they are."""

    @property
    def digest(self) -> str:
        """Return a text that changes whenever the games change."""

    @property
    def game_ids(self) -> Sequence[str]:
        """Return a text for each game, best a unique one."""

    @property
    def game_of_kyoku(self) -> NDArray[np.integer]:
        """Return the number of the game of each deal."""


class RecordedSamples(Protocol):
    """What nets learn from recorded games."""

    suit_choices: Sequence[I64]
    """By kind: where its choices go if the suits are exchanged, int64 [6, choices], by row of SUIT_ORDERS; empty: the
    game has no suits that could be."""

    def write(self, games: Iterable[Any], folder: Path) -> GameStore:
        """Store games, as ``Game.read_records`` yields them, in ``folder``; ValueError for an illegal move."""

    def open(self, folder: Path) -> GameStore:
        """Return the store in ``folder``; ValueError if there is none."""

    def encode(self, store: Any, deals: I64, kind: int, encoder: str) -> Samples:
        """Return all decisions of a kind in the ``deals`` of a store, in their order, as samples for its net."""


class CandidateLearning(Learning, Protocol):
    """That of a game whose kinds all have candidates: it is learned by rounds of whole games."""

    options: frozenset[LearningOption] = frozenset()
    hidden: HiddenPlanes | None = None
    rules_version: str = ""
    samples: RecordedSamples | None = None

    def candidate_features(self, encoder: str, rules: Any = None) -> U8:
        """Return what a net sees of each move that ``rules`` know, uint8 [moves, columns]."""

    def observe(self, tables: Any, indices: I64, encoder: str) -> Seen:
        """Return what the actors of the tables ``indices`` of ``Tables.state`` see."""

    def decide(
        self,
        tables: Any,
        indices: I64,
        encoder: str,
        forward: Forward,
        keep_probabilities: Mapping[int, float] | None = None,
    ) -> I64:
        """Return a move for each of the tables ``indices``; nets are not asked where only one is legal."""
        moves = np.zeros(len(indices), np.int64)
        for places, observations in self.observe(tables, indices, encoder):
            assert observations.candidates is not None
            chosen = np.zeros(len(places), np.int64)
            asked = np.flatnonzero(np.diff(observations.candidates.offsets) > 1)
            if asked.size:
                chosen[asked], _ = forward(observations.take(asked), indices[places[asked]])
            moves[places] = observations.chosen_moves(chosen)
        return moves

    def observation_bytes(self, encoder: str, kind: int, *, has_hidden: bool = False) -> int:
        """Return the bytes of a row: one for each column."""
        return self.layout(encoder, kind).num_planes

    def new_learning_tables(
        self, config: LearningConfig, encoder: str, rules: Any = None, *, first_seed: int
    ) -> NoReturn:
        """Raise ValueError: simulators do not play such games."""
        raise ValueError("a game with candidate moves is learned by rounds of whole games")
