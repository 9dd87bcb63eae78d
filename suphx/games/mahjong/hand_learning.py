"""The ``Learning`` (games/learning.py) of games whose whole state is one record: a game adds its kernels and names.

A table is observed where the nets have a choice; other moves are made at once, so the course of a hand depends only on
its seed and the policy outputs. Besides the fields of hand_tables.py, records have ``num_decisions``, moves so far, and
keep all moves: a store of hands has the records of hands that have ended.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suphx.atomic_file import write_atomically
from suphx.experience.learning_tables import Ended, draw_seating, restore_stores, saved_tables
from suphx.experience.observation import F32, LATEST, Observations, PolicyOutputs, Samples
from suphx.experience.trajectory import TrajectoryStore, Unrewarded
from suphx.games.learning import MANIFEST_FILE, DecisionKind, Forward, LearningConfig, LearningOption
from suphx.games.mahjong.hand_tables import HandAgent, HandTables
from suphx.games.mahjong.planes import PlaneLayout
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.playouts import NO_BRANCH, BranchTables
from suphx.json_text import parse_json
from suphx.kernel.record import I8, I16, I64, U8, Records

NUM_SEATS = 4
_STORE_FILE = "hands.bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandKernels:
    """What a game gives, all compiled; ``indices``, int64 (n,), are places of tables, and -1 is not a choice."""

    kinds: Callable[[Records, I64], I64]
    """(tables, indices) -> which kind of decision each table waits for."""
    encode: Callable[[Records, Suits, I64, int, U8, U8, F32], None]
    """(tables, suits, indices, kind, rows, masks, uniforms): fill zeros with what the actors see, their legal choices,
    and a random number of each decision."""
    moves: Callable[[Records, I64, I64], I64]
    """(tables, indices, choices) -> the moves of choices, and of -1 that which needs no net; -1: a net is asked."""
    play: Callable[[Records, Suits, I64, I64], None]
    """(tables, suits, indices, choices): make the moves of choices, and then those that need no net."""
    encode_hands: Callable[[Records, Suits, int, U8, U8, I8], int]
    """(tables, suits, kind, rows, masks, labels): play hands that have ended again, fill zeros with the decisions of a
    kind, and return how many there are."""


class HandStore:
    """Recorded hands on disk: records of tables whose hands have ended."""

    def __init__(self, folder: Path, table: np.dtype[np.void]) -> None:
        """Open the store in ``folder``; ValueError if there is none."""
        self.folder = folder
        if not (folder / MANIFEST_FILE).is_file():
            raise ValueError(f"{folder} has no stored hands: run the records stage again")
        self.digest: str = parse_json((folder / MANIFEST_FILE).read_bytes())["sha256"]
        self.tables: Records = np.memmap(folder / _STORE_FILE, table, "r")
        self.game_ids = [str(number) for number in range(len(self.tables))]
        self.game_of_kyoku = np.arange(len(self.tables))


class HandSamples:
    """What nets learn from recorded hands: the ``RecordedSamples`` of games/learning.py."""

    def __init__(self, learning: HandLearning, suit_choices: tuple[I64, ...]) -> None:
        """Write, open and encode hands of the game of ``learning``."""
        self._learning, self.suit_choices = learning, suit_choices

    def open(self, folder: Path) -> HandStore:
        """Return the store in ``folder``; ValueError if there is none."""
        return HandStore(folder, self._learning.table)

    def write(self, games: Iterable[Any], folder: Path) -> HandStore:
        """Store hands; ValueError for one with a move that is not legal, and without any."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST_FILE).unlink(missing_ok=True)  # a folder without it is not finished
        number, digest = 0, hashlib.sha256()
        with (folder / _STORE_FILE).open("wb") as file:
            for number, record in enumerate(games, 1):
                try:
                    table = self._learning.positions(record)[-1].tobytes()
                except ValueError as error:
                    where = f"hand {number} of the records, seed {record.seed}"
                    raise ValueError(f"{where}: {error}: leave it out") from error
                file.write(table)
                digest.update(table)
        if not number:
            raise ValueError("there are no hands to learn from: give at least one")
        manifest = {"games": number, "sha256": digest.hexdigest()}
        write_atomically(folder / MANIFEST_FILE, [json.dumps(manifest).encode()])
        return self.open(folder)

    def encode(self, store: HandStore, deals: I64, kind: int, encoder: str) -> Samples:
        """Return all decisions of a kind in the hands ``deals``, in their order."""
        learning, tables = self._learning, np.array(store.tables[deals])
        count = int(tables["num_decisions"].sum())
        rows = learning.new_rows(count, encoder)
        masks = np.zeros((count, learning.decisions[kind].num_choices), np.uint8)
        labels = np.zeros(count, np.int8)
        end = learning.kernels.encode_hands(tables, load_suits(), kind, rows, masks, labels)
        return Samples(learning.seen_by(rows[:end], encoder), masks[:end], labels[:end])


@dataclass(frozen=True, slots=True)
class HandBranches(BranchTables):
    """Copies of tables; the strongest scripted agent of the game plays on."""

    learning: HandLearning

    def table_deals(self) -> I64:
        """Return the seed of each copy."""
        seeds: I64 = self.tables["seed"]
        return seeds

    def gains(self) -> F32:
        """Return what the hands were worth to the deciding seats, float32 [m]."""
        learning, suits, ends = self.learning, load_suits(), self.tables.copy()
        everyone = np.arange(len(ends))
        learning.kernels.play(ends, suits, everyone, self.actions.astype(np.int64))
        agent = learning.agent(learning.agent.names[-1])
        while (waiting := np.flatnonzero(ends["phase"] != learning.tables.ended_phase)).size:
            learning.tables.step(ends, suits, waiting, agent.act(ends, waiting))
        gains: F32 = learning.points(ends)[everyone, self.tables["actor"]]
        return gains


class HandLearning(ABC):
    """How nets see such a game, decide in it and learn it."""

    title: ClassVar[str]
    decisions: ClassVar[tuple[DecisionKind, ...]]
    layouts: ClassVar[tuple[PlaneLayout, ...]]
    """By encoder, which has the name of its layout, for all kinds. Others have the first planes of the first one, in
    whole bytes, or all of them and more."""
    rules_version: str
    table: ClassVar[np.dtype[np.void]]
    """The record of a table."""
    tables: ClassVar[type[HandTables]]
    agent: ClassVar[type[HandAgent]]
    """The scripted ones, of which the strongest plays on in playouts."""
    rules: ClassVar[type[Any]]
    kernels: ClassVar[HandKernels]
    options: frozenset[LearningOption] = frozenset({"playouts"})
    hidden = None

    def __init__(self, *suit_choices: I64) -> None:
        """``suit_choices``: where the choices of each kind go if suits are exchanged (suit_exchange.py)."""
        self.encoders = tuple(layout.name for layout in self.layouts)
        self.samples = HandSamples(self, suit_choices)

    @abstractmethod
    def positions(self, record: Any) -> Records:
        """Return the hand before each move, and after the last one; ValueError for an illegal move."""

    @abstractmethod
    def points(self, ended: Records) -> F32:
        """Return what hands were worth, float32 [hands, seats]."""

    @abstractmethod
    def undrawn(self, tables: Records) -> NDArray[np.bool_]:
        """Return which tiles of the walls nobody has drawn, bool [tables, tiles of a wall]."""

    def layout(self, encoder: str, kind: int) -> PlaneLayout:
        """Return the planes, which are the same for all kinds."""
        if encoder not in self.encoders:
            raise ValueError(f"{encoder!r} is not an encoder: use {', '.join(self.encoders)}")
        return self.layouts[self.encoders.index(encoder)]

    def observation_bytes(self, encoder: str, kind: int, *, has_hidden: bool = False) -> int:
        """Return the bytes of a row; ValueError for what is hidden, which no encoder has."""
        if has_hidden:
            raise ValueError(f"{self.title} does not offer hidden")
        return self.layout(encoder, kind).observation_bytes

    def decide(
        self,
        tables: Records,
        indices: I64,
        encoder: str,
        forward: Forward,
        keep_probabilities: Mapping[int, float] | None = None,
    ) -> I64:
        """Return a legal move for each of the tables ``indices``, which stay as they are."""
        own, asked = tables[indices], np.arange(len(indices))
        moves, choices = np.zeros(len(indices), np.int64), np.full(len(indices), -1)
        while asked.size:
            moves[asked] = self.kernels.moves(own, asked, choices[asked])
            asked = asked[moves[asked] < 0]
            for part, observations in self.observe(own, asked, encoder):
                choices[part], _ = forward(observations, indices[part])
        return moves

    def observe(self, tables: Records, indices: I64, encoder: str) -> list[tuple[I64, Observations]]:
        """Return what the actors of tables that wait for nets see, a part for each kind; policies are LATEST."""
        kinds, parts = self.kernels.kinds(tables, indices), []
        for kind in self.decisions:
            own = indices[kinds == kind.number]
            if own.size:
                rows = self.new_rows(len(own), encoder)
                masks, uniforms = np.zeros((len(own), kind.num_choices), np.uint8), np.zeros(len(own), np.float32)
                self.kernels.encode(tables, load_suits(), own, kind.number, rows, masks, uniforms)
                rows, policies = self.seen_by(rows, encoder), np.full(len(own), LATEST, np.int32)
                parts.append((own, Observations(kind.number, rows, masks, policies, uniforms)))
        return parts

    def new_rows(self, count: int, encoder: str) -> U8:
        """Return rows of zeros to be filled for an encoder, of at least the first layout."""
        width = max(each.observation_bytes for each in (self.layouts[0], self.layout(encoder, 0)))
        return np.zeros((count, width), np.uint8)

    def seen_by(self, rows: U8, encoder: str) -> U8:
        """Return the planes of an encoder of filled ``new_rows``."""
        return np.ascontiguousarray(rows[:, : self.layout(encoder, 0).observation_bytes])

    def new_learning_tables(
        self, config: LearningConfig, encoder: str, rules: Any = None, *, first_seed: int
    ) -> HandLearningTables:
        """Deal the first hands."""
        config.check_options(self.options, self.title)
        return HandLearningTables(self, config, encoder, rules, first_seed=first_seed)


class HandLearningTables:
    """Consumes: outputs. Produces: observations, and the decisions of hands that ended. Waits for nothing."""

    def __init__(
        self, learning: HandLearning, config: LearningConfig, encoder: str, rules: Any, *, first_seed: int
    ) -> None:
        """Deal the first hands; their seeds are ``first_seed``, ``first_seed`` + 1, …"""
        self._learning, self._config, self._encoder, self._suits = learning, config, encoder, load_suits()
        self._tables = learning.tables.new_state(config.num_tables, rules or learning.rules())
        self._borders = config.opponents.borders()
        self._seating = np.zeros((config.num_tables, NUM_SEATS), np.int32)
        self._next_seed, self._num_steps = first_seed, 0
        self._names = [kind.name for kind in learning.decisions]
        self._stores = [
            TrajectoryStore(
                kind,
                config.num_tables,
                learning.observation_bytes(encoder, kind),
                learning.decisions[kind].num_choices,
            )
            for kind in config.learned
        ]
        self._observed: list[tuple[I64, Observations]] = []
        everyone = np.arange(config.num_tables)
        self._deal(everyone)
        self._play_on(everyone, np.full(len(everyone), -1))

    def observe(self, keep_probability: float = 1.0) -> list[Observations]:
        """Return the observations of all tables, one part for each kind that some wait for."""
        begun = np.arange(self._config.num_begun(self._num_steps))
        self._observed = self._learning.observe(self._tables, begun, self._encoder)
        for tables, observations in self._observed:
            observations.policies[:] = self._seating[tables, self._tables["actor"][tables]]
        return [observations for _, observations in self._observed]

    def step(self, outputs: Sequence[PolicyOutputs]) -> Ended:
        """Play on with the outputs for the last ``observe`` until every table waits; return what ended on the way."""
        begun = np.arange(self._config.num_begun(self._num_steps))
        choices = np.zeros(len(begun), np.int64)
        for (tables, observations), output in zip(self._observed, outputs, strict=True):
            choices[tables] = output.actions
            for store in self._stores:
                if store.decision == observations.decision:
                    seats = self._tables["actor"][tables].astype(np.int64)
                    store.add(tables, seats, observations, output, np.flatnonzero(observations.policies == LATEST))
        self._observed = []
        self._num_steps += 1
        points, decisions = self._play_on(begun, choices)
        return Ended(points, decisions, len(begun), num_games=len(points))

    def counted(self, outputs: Sequence[PolicyOutputs]) -> list[NDArray[np.bool_]]:
        """Return that all rows of the last ``observe`` are decided by these outputs: of a table one net is asked."""
        return [np.ones(len(output), np.bool_) for output in outputs]

    def deals(self) -> I64:
        """Return the seeds of the hands that the tables play now, int64 [tables]."""
        seeds: I64 = self._tables["seed"]
        return seeds

    def branch(
        self, part: int, rows: I64, choices: I16, probabilities: Sequence[F32], *, num_walls: int = 1
    ) -> HandBranches:
        """Return copies of tables on which to try actions, as ``PlayoutTables`` (games/playouts.py).

        The other orders exchange all tiles that nobody has drawn, also between walls.
        """
        owners, observations = self._observed[part]
        is_tried = choices != NO_BRANCH
        is_legal = np.take_along_axis(observations.masks[rows], np.maximum(choices, 0).astype(np.int64), axis=1) == 1
        if (wrong := np.flatnonzero((is_tried & ~is_legal).any(axis=1))).size:
            row = wrong[0]
            raise ValueError(f"row {row}: one of the choices {choices[row].tolist()} is not legal")
        positions = np.repeat(np.flatnonzero(is_tried), num_walls)
        copies = self._tables[owners[rows][positions // choices.shape[1]]]
        is_undrawn = self._learning.undrawn(copies)
        for number, copy in enumerate(copies):
            if order := number % num_walls:
                places = np.flatnonzero(is_undrawn[number])
                shuffled = np.random.default_rng([copy["seed"], copy["num_decisions"], order]).permutation(places)
                copy["wall"][places] = copy["wall"][shuffled]
        num_decisions, num_choices = choices.shape
        return HandBranches(copies, choices.ravel()[positions], positions, num_decisions, num_choices, self._learning)

    def _play_on(self, tables: I64, choices: I64) -> tuple[F32, tuple[Unrewarded, ...]]:
        """Make the moves of choices (-1: none) and those that need no net; deal new hands until all tables wait."""
        points: list[F32] = []
        decisions: tuple[Unrewarded, ...] | None = None
        while True:
            self._learning.kernels.play(self._tables, self._suits, tables, choices)
            ended = tables[self._tables["phase"][tables] == self._learning.tables.ended_phase]
            points.append(self._learning.points(self._tables[ended]))
            if decisions is None:  # a hand that begins and ends here has no decisions
                decisions = tuple(store.take(ended) for store in self._stores)
            if not ended.size:
                return np.concatenate(points), decisions
            self._deal(ended)
            tables, choices = ended, np.full(len(ended), -1)

    def _deal(self, tables: I64) -> None:
        seeds = np.arange(self._next_seed, self._next_seed + len(tables))
        self._next_seed += len(tables)
        self._learning.tables.deal(self._tables, self._suits, tables, seeds)
        draw_seating(seeds, tables, self._borders, self._seating)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs; observations that wait for outputs are made again."""
        counts = np.array([self._next_seed, self._num_steps])
        tables = self._tables.view(np.uint8).reshape(len(self._tables), -1)
        arrays: dict[str, np.ndarray] = {"tables": tables, "seating": self._seating, "counts": counts}
        return saved_tables(arrays, self._stores, self._names)

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of equal tables."""
        self._tables[:] = np.array(state["tables"]).reshape(-1).view(self._learning.table)
        self._seating = state["seating"].copy()
        self._next_seed, self._num_steps = state["counts"].tolist()
        self._observed = []
        restore_stores(state, self._stores, self._names)
