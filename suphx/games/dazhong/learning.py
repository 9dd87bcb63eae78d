"""Dazhong as nets see it, decide in it and learn it: the ``Learning`` of games/learning.py.

A table is observed where the nets have a choice; other moves are made at once (``forced_move`` of features.py). The
course of a hand depends only on its seed and the policy outputs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from suphx.atomic_file import write_atomically
from suphx.experience.learning_tables import Ended, draw_seating, restore_stores, saved_tables
from suphx.experience.observation import F32, LATEST, Observations, PolicyOutputs
from suphx.experience.trajectory import TrajectoryStore, Unrewarded
from suphx.games.dazhong.engine import start, step
from suphx.games.dazhong.features import LAYOUT, choice_of_move, encode, fill_mask, forced_move, move_of_choice
from suphx.games.dazhong.names import DECISIONS, TURN_KIND
from suphx.games.dazhong.records import HandRecord, positions
from suphx.games.dazhong.table import ENDED, NUM_SEATS, OWN_TURN, TABLE, Rules
from suphx.games.dazhong.tables import deal_hands
from suphx.games.learning import MANIFEST_FILE, Forward, LearningConfig, LearningOption
from suphx.games.mahjong.planes import PlaneLayout, Samples
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.json_text import parse_json
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I8, I64, U8, Records

ENCODER = "dazhong"
WIN_WORTH = 12
"""What a win adds to the payments of a hand, in fan, as a reward: twice what a basic hand pays."""
_STORE_FILE = "hands.npy"
_NAMES = [kind.name for kind in DECISIONS]


class HandStore:
    """Recorded hands on disk: TABLE records, each of a hand that has ended."""

    def __init__(self, folder: Path) -> None:
        """Open the store in ``folder``; ValueError if there is none."""
        self.folder = folder
        if not (folder / MANIFEST_FILE).is_file():
            raise ValueError(f"{folder} has no stored hands: run the records stage again")
        self.digest: str = parse_json((folder / MANIFEST_FILE).read_bytes())["sha256"]
        self.tables: Records = np.load(folder / _STORE_FILE, mmap_mode="r").view(TABLE)
        self.game_ids = [str(number) for number in range(len(self.tables))]
        self.game_of_kyoku = np.arange(len(self.tables))


class HandSamples:
    """What nets learn from recorded hands: the ``RecordedSamples`` of games/learning.py."""

    open = staticmethod(HandStore)

    def write(self, games: Iterable[HandRecord], folder: Path) -> HandStore:
        """Store hands; ValueError for one with a move that is not legal, and without any."""
        ends = []
        for number, record in enumerate(games, 1):
            try:
                ends.append(positions(record)[-1])
            except ValueError as error:
                raise ValueError(f"hand {number} of the records, seed {record.seed}: {error}: leave it out") from error
        if not ends:
            raise ValueError("there are no hands to learn from: give at least one")
        tables = np.array(ends, TABLE)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / _STORE_FILE, tables.view(np.uint8))
        manifest = {"games": len(tables), "sha256": hashlib.sha256(tables.tobytes()).hexdigest()}
        write_atomically(folder / MANIFEST_FILE, [json.dumps(manifest).encode()])
        return HandStore(folder)

    def encode(self, store: HandStore, deals: I64, kind: int, encoder: str) -> Samples:
        """Return all decisions of a kind in the hands ``deals``, in their order."""
        layout, num_choices = LEARNING.layout(encoder, kind), DECISIONS[kind].num_choices
        count = int(store.tables["num_decisions"][deals].sum())
        rows = np.zeros((count, layout.observation_bytes), np.uint8)
        masks, labels = np.zeros((count, num_choices), np.uint8), np.zeros(count, np.int8)
        end = _encode_hands(np.array(store.tables[deals]), load_suits(), kind, rows, masks, labels)
        return Samples(rows[:end], masks[:end], labels[:end])


class DazhongLearning:
    """How nets see Dazhong."""

    encoders = (ENCODER,)
    options: frozenset[LearningOption] = frozenset()
    hidden = None
    rules_version = "dazhong-1"
    samples = HandSamples()

    def layout(self, encoder: str, kind: int) -> PlaneLayout:
        """Return the planes, which are the same for both kinds."""
        if encoder != ENCODER:
            raise ValueError(f"{encoder!r} is no encoder: use {ENCODER}")
        return LAYOUT

    def observation_bytes(self, encoder: str, kind: int, *, has_hidden: bool = False) -> int:
        """Return the bytes of a row; ValueError for what is hidden, which no encoder has."""
        if has_hidden:
            raise ValueError("Dazhong mahjong does not offer hidden")
        return self.layout(encoder, kind).observation_bytes

    def decide(
        self,
        tables: Records,
        indices: I64,
        encoder: str,
        forward: Forward,
        keep_probabilities: Mapping[int, float] | None = None,
    ) -> I64:
        """Return a legal move for each of the tables ``indices``."""
        moves = _moves(tables, indices, np.full(len(indices), -1))
        for kind in DECISIONS:
            asked = np.flatnonzero((moves < 0) & ((tables["phase"][indices] == OWN_TURN) == (kind.number == TURN_KIND)))
            if asked.size:
                choices, _ = forward(_observe(tables, indices[asked], kind.number), indices[asked])
                moves[asked] = _moves(tables, indices[asked], choices.astype(np.int64))
        return moves

    def new_learning_tables(
        self, config: LearningConfig, encoder: str, rules: Rules | None = None, *, first_seed: int
    ) -> DazhongLearningTables:
        """Deal the first hands."""
        config.check_options(self.options, "Dazhong mahjong")
        self.layout(encoder, 0)
        return DazhongLearningTables(config, rules or Rules(), first_seed=first_seed)


LEARNING = DazhongLearning()


def _observe(tables: Records, indices: I64, kind: int) -> Observations:
    """Return what the actors of tables see that wait for a decision of a kind; policies are LATEST."""
    rows = np.zeros((len(indices), LAYOUT.observation_bytes), np.uint8)
    masks = np.zeros((len(indices), DECISIONS[kind].num_choices), np.uint8)
    uniforms = np.zeros(len(indices), np.float32)
    _encode(tables, load_suits(), indices, rows, masks, uniforms)
    return Observations(kind, rows, masks, np.full(len(indices), LATEST, np.int32), uniforms)


class DazhongLearningTables:
    """Consumes: outputs. Produces: observations, and the decisions of hands that ended. Waits for nothing."""

    def __init__(self, config: LearningConfig, rules: Rules, *, first_seed: int) -> None:
        """Deal the first hands; their seeds are ``first_seed``, ``first_seed`` + 1, …"""
        self._config = config
        self._tables: Records = np.zeros(config.num_tables, TABLE)
        self._tables["declares"], self._tables["several_winners"] = rules.ting == "declared", rules.winners == "all"
        self._borders = config.opponents.borders()
        self._seating = np.zeros((config.num_tables, NUM_SEATS), np.int32)
        self._next_seed, self._num_steps = first_seed, 0
        self._stores = [
            TrajectoryStore(kind, config.num_tables, LAYOUT.observation_bytes, DECISIONS[kind].num_choices)
            for kind in config.learned
        ]
        self._observed: list[tuple[I64, Observations]] = []
        everyone = np.arange(config.num_tables)
        self._deal(everyone)
        self._play_on(everyone, np.full(len(everyone), -1))

    def observe(self, keep_probability: float = 1.0) -> list[Observations]:
        """Return the observations of all tables, one part for each kind that some wait for."""
        phases = self._tables["phase"][: self._config.num_begun(self._num_steps)]
        self._observed = []
        for kind in DECISIONS:
            tables = np.flatnonzero((phases == OWN_TURN) == (kind.number == TURN_KIND))
            if tables.size:
                observations = _observe(self._tables, tables, kind.number)
                observations.policies[:] = self._seating[tables, self._tables["actor"][tables]]
                self._observed.append((tables, observations))
        return [observations for _, observations in self._observed]

    def step(self, outputs: Sequence[PolicyOutputs]) -> Ended:
        """Play on with the outputs for the last ``observe`` until every table waits; return what ended on the way."""
        begun = np.arange(self._config.num_begun(self._num_steps))
        moves = np.zeros(len(begun), np.int64)
        for (tables, observations), output in zip(self._observed, outputs, strict=True):
            moves[tables] = _moves(self._tables, tables, output.actions.astype(np.int64))
            for store in self._stores:
                if store.decision == observations.decision:
                    seats = self._tables["actor"][tables].astype(np.int64)
                    store.add(tables, seats, observations, output, np.flatnonzero(observations.policies == LATEST))
        self._observed = []
        self._num_steps += 1
        points, decisions = self._play_on(begun, moves)
        return Ended(points, decisions, len(begun), num_games=len(points))

    def _play_on(self, tables: I64, moves: I64) -> tuple[F32, tuple[Unrewarded, ...]]:
        """Make the moves (-1 for none) and those without a choice, and deal new hands until all tables wait."""
        points: list[F32] = []
        decisions: tuple[Unrewarded, ...] | None = None
        while True:
            _play(self._tables, load_suits(), tables, moves)
            ended = tables[self._tables["phase"][tables] == ENDED]
            won = self._tables["win_fan"][ended] > 0
            points.append((self._tables["fan"][ended] + WIN_WORTH * won).astype(np.float32))
            if decisions is None:  # a hand that begins and ends here has no decisions
                decisions = tuple(store.take(ended) for store in self._stores)
            if not ended.size:
                return np.concatenate(points), decisions
            self._deal(ended)
            tables, moves = ended, np.full(len(ended), -1)

    def _deal(self, tables: I64) -> None:
        seeds = np.arange(self._next_seed, self._next_seed + len(tables))
        self._next_seed += len(tables)
        deal_hands(self._tables, load_suits(), tables, seeds)
        draw_seating(seeds, tables, self._borders, self._seating)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs; observations that wait for outputs are made again."""
        counts = np.array([self._next_seed, self._num_steps])
        tables = self._tables.view(np.uint8).reshape(len(self._tables), -1)
        return saved_tables({"tables": tables, "seating": self._seating, "counts": counts}, self._stores, _NAMES)

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of equal tables."""
        self._tables[:] = np.array(state["tables"]).reshape(-1).view(TABLE)
        self._seating = state["seating"].copy()
        self._next_seed, self._num_steps = state["counts"].tolist()
        self._observed = []
        restore_stores(state, self._stores, _NAMES)


@jit
def _moves(tables: Records, indices: I64, choices: I64) -> I64:
    """Return the moves of choices; of a choice -1 the move that needs no net, or -1."""
    moves = np.zeros(len(indices), np.int64)
    for i in range(len(indices)):
        t = tables[indices[i]]
        moves[i] = forced_move(t) if choices[i] < 0 else move_of_choice(t, choices[i])
    return moves


@jit
def _encode(tables: Records, suits: Suits, indices: I64, rows: U8, masks: U8, uniforms: F32) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        encode(t, suits, rows[i])
        fill_mask(t, masks[i])
        uniforms[i] = uniform_of(t.seed, 1 + t.num_decisions, 0)


@jit
def _play(tables: Records, suits: Suits, indices: I64, moves: I64) -> None:
    """Make the moves, -1 for none, and then those without a choice."""
    for i in range(len(indices)):
        t = tables[indices[i]]
        move = moves[i]
        if move < 0:
            move = forced_move(t)
        while move >= 0 and t.phase != ENDED:
            step(t, suits, move)
            move = forced_move(t)


@jit
def _encode_hands(tables: Records, suits: Suits, kind: int, rows: U8, masks: U8, labels: I8) -> int:
    """Play hands again and fill the decisions of a kind; return how many there are. ``tables`` are changed."""
    n = 0
    for i in range(len(tables)):
        t = tables[i]
        num_moves = t.num_decisions
        start(t, suits)
        for number in range(num_moves):
            move = int(t.moves[number])
            if (t.phase == OWN_TURN) == (kind == TURN_KIND) and forced_move(t) < 0:
                encode(t, suits, rows[n])
                fill_mask(t, masks[n])
                labels[n] = choice_of_move(t, move)
                n += 1
            step(t, suits, move)
    return n
