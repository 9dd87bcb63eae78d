"""DouDizhu as nets see it, decide in it and learn it: the ``Learning`` of games/learning.py.

Each seat is a kind of decision. A table is observed where a seat has more than one legal move; the others are made at
once. The course of a game depends only on its seed and the policy outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.experience.decisions import Decisions
from suphx.experience.observation import LATEST, Candidates, Observations, PolicyOutputs
from suphx.experience.trajectory import TrajectoryStore, Unrewarded
from suphx.games.doudizhu.engine import Simulator, advance_tables
from suphx.games.doudizhu.features import HISTORY_SHAPE, encode_rows, move_columns, num_state_columns
from suphx.games.doudizhu.table import F32, GAME_END, NUM_SEATS, SEAT_NAMES, TABLE, Rules, scores_of
from suphx.games.learning import CandidateLayout, Forward, LearningConfig, LearningOption, Seen, decide_candidates
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I32, I64, U8, Records

ENCODER = "douzero"


class DouDizhuLearning:
    """How nets see DouDizhu."""

    encoders = (ENCODER,)
    options: frozenset[LearningOption] = frozenset()
    hidden = None

    def layout(self, encoder: str, kind: int) -> CandidateLayout:
        """Return what the net of a seat sees: DouZero's state and the last 15 moves."""
        if encoder != ENCODER:
            raise ValueError(f"{encoder!r} is no encoder: use {ENCODER}")
        columns = HISTORY_SHAPE[1] // NUM_SEATS
        return CandidateLayout(
            name=ENCODER, version=1, state=num_state_columns(kind), history=HISTORY_SHAPE, candidate=columns
        )

    def observation_bytes(self, encoder: str, kind: int, *, has_hidden: bool = False) -> int:
        """Return the bytes of a row; ValueError for what is hidden, which no encoder has."""
        if has_hidden:
            raise ValueError("DouDizhu does not offer hidden")
        return self.layout(encoder, kind).observation_bytes

    def candidate_features(self, encoder: str, rules: Rules | None = None) -> U8:
        """Return uint8 [moves, 54]: the cards of each move."""
        return move_columns((rules or Rules()).load_moves())

    def observe(self, tables: Simulator, indices: I64, encoder: str) -> Seen:
        """Return what the actors of the tables ``indices`` see, by seat."""
        actors = tables.tables["actor"][indices]
        parts = [(seat, np.flatnonzero(actors == seat)) for seat in range(NUM_SEATS)]
        return [
            (places, observe(tables, seat, indices[places], Candidates(*tables.legal(indices[places]))))
            for seat, places in parts
            if places.size
        ]

    def decide(
        self,
        tables: Simulator,
        indices: I64,
        encoder: str,
        forward: Forward,
        keep_probabilities: Mapping[int, float] | None = None,
    ) -> I64:
        """Return a legal move for each of the tables ``indices``."""
        return decide_candidates(self.observe(tables, indices, encoder), indices, forward)

    def new_learning_tables(
        self, config: LearningConfig, encoder: str, rules: Rules | None = None, *, first_seed: int
    ) -> DouDizhuLearningTables:
        """Deal the first games."""
        config.check_options(self.options, "DouDizhu")
        self.layout(encoder, 0)
        return DouDizhuLearningTables(config, rules or Rules(), first_seed=first_seed)


LEARNING = DouDizhuLearning()


def observe(simulator: Simulator, seat: int, tables: I64, candidates: Candidates) -> Observations:
    """Return what ``seat`` sees at the ``tables``, whose legal moves are ``candidates``; policies are LATEST."""
    rows = encode_rows(simulator.tables, simulator.moves, tables, seat)
    uniforms = np.zeros(len(tables), np.float32)
    _fill_uniforms(simulator.tables, tables, uniforms)
    policies = np.full(len(tables), LATEST, np.int32)
    return Observations(seat, rows, np.zeros((len(tables), 0), np.uint8), policies, uniforms, candidates)


@dataclass(frozen=True, slots=True)
class EndedGames:
    """Games that ended in a step, and what the learning seats decided in them."""

    points: F32
    """float32 [games, 3]: what they were worth by ``rules.scoring``."""
    decisions: tuple[Unrewarded, ...]
    """One for each seat that learns."""
    num_decisions: int
    ends: None = None

    @property
    def num_games(self) -> int:
        """Games that ended."""
        return len(self.points)

    @property
    def num_deals(self) -> int:
        """Each game is one deal."""
        return len(self.points)

    def with_rewards(self, rewards: F32) -> list[Decisions]:
        """Return the decisions of each seat that learns; ``rewards`` [games, 3]."""
        return [part.with_rewards(rewards) for part in self.decisions]


class DouDizhuLearningTables:
    """Consumes: outputs. Produces: observations, and the decisions of games that ended. Waits for nothing."""

    def __init__(self, config: LearningConfig, rules: Rules, *, first_seed: int) -> None:
        """Deal the first games; their seeds are ``first_seed``, ``first_seed`` + 1, …"""
        self._config = config
        self._simulator = Simulator(config.num_tables, rules)
        self._borders = config.opponents.borders()
        self._seating = np.zeros((config.num_tables, NUM_SEATS), np.int32)
        self._next_seed = first_seed
        self._num_steps = 0
        self._candidates = Candidates.none()
        """The legal moves of all tables: at least two."""
        self._stores = [
            TrajectoryStore(
                seat,
                config.num_tables,
                num_state_columns(seat) + HISTORY_SHAPE[0] * HISTORY_SHAPE[1],
                num_seats=NUM_SEATS,
                has_candidates=True,
            )
            for seat in config.learned
        ]
        self._observed: list[tuple[I64, Observations]] = []
        everyone = np.arange(config.num_tables)
        self._deal(everyone)
        self._play_on(everyone)

    def observe(self, keep_probability: float = 1.0) -> list[Observations]:
        """Return the observations of all tables, one part for each seat that is to move at some."""
        begun = self._config.num_begun(self._num_steps)
        actors = self._simulator.tables["actor"][:begun]
        self._observed = []
        for seat in range(NUM_SEATS):
            tables = np.flatnonzero(actors == seat)
            if tables.size:
                observations = observe(self._simulator, seat, tables, self._candidates.take(tables))
                observations.policies[:] = self._seating[tables, seat]
                self._observed.append((tables, observations))
        return [observations for _, observations in self._observed]

    def step(self, outputs: Sequence[PolicyOutputs]) -> EndedGames:
        """Play on with the outputs for the last ``observe`` until every table waits; return what ended on the way."""
        begun = np.arange(self._config.num_begun(self._num_steps))
        moves = np.zeros(len(begun), np.int32)
        for (tables, observations), output in zip(self._observed, outputs, strict=True):
            moves[tables] = observations.chosen_moves(output.actions)
            for store in self._stores:
                if store.decision == observations.decision:
                    seats = np.full(len(tables), observations.decision)
                    store.add(tables, seats, observations, output, np.flatnonzero(observations.policies == LATEST))
        self._observed = []
        self._num_steps += 1
        simulator = self._simulator
        advance_tables(simulator.tables, simulator.moves, begun, moves)
        return EndedGames(*self._play_on(begun), len(begun))

    def _play_on(self, tables: I64) -> tuple[F32, tuple[Unrewarded, ...]]:
        """Make moves without a choice and deal new games until all tables wait; return what ended on the way."""
        simulator = self._simulator
        points: list[F32] = []
        decisions: tuple[Unrewarded, ...] | None = None
        while True:
            play_forced(simulator, tables)
            ended = tables[simulator.tables["phase"][tables] == GAME_END]
            points.append(scores_of(simulator.tables[ended], simulator.rules.scoring))
            if decisions is None:  # a game that begins and ends here has no decisions
                decisions = tuple(store.take(ended) for store in self._stores)
            if not ended.size:
                break
            self._deal(ended)
            tables = ended
        self._candidates = Candidates(*simulator.legal(np.arange(len(simulator.tables))))
        return np.concatenate(points), decisions

    def _deal(self, tables: I64) -> None:
        self._simulator.reset(range(self._next_seed, self._next_seed + len(tables)), tables)
        self._next_seed += len(tables)
        _draw_seating(self._simulator.tables, tables, self._borders, self._seating)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs; observations that wait for outputs are made again."""
        tables = self._simulator.tables
        state: dict[str, np.ndarray] = {
            "tables": tables.view(np.uint8).reshape(len(tables), -1),
            "seating": self._seating,
            "next_seed": np.array([self._next_seed]),
            "num_steps": np.array([self._num_steps]),
        }
        for store in self._stores:
            state |= {f"{SEAT_NAMES[store.decision]}.{name}": column for name, column in store.state().items()}
        return {name: column.copy() for name, column in state.items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of equal tables."""
        self._simulator.tables[:] = np.array(state["tables"]).reshape(-1).view(TABLE)
        self._seating = state["seating"].copy()
        self._next_seed, self._num_steps = int(state["next_seed"][0]), int(state["num_steps"][0])
        self._observed = []
        self._candidates = Candidates(*self._simulator.legal(np.arange(len(self._simulator.tables))))
        for store in self._stores:
            prefix = f"{SEAT_NAMES[store.decision]}."
            store.restore({name.removeprefix(prefix): part for name, part in state.items() if name.startswith(prefix)})


def play_forced(simulator: Simulator, tables: I64) -> None:
    """Make the only legal move at the ``tables`` that have no other, until they have more or are over."""
    while tables.size:
        offsets, legal = simulator.legal(tables)
        forced = np.flatnonzero(np.diff(offsets) == 1)
        tables = tables[forced]
        advance_tables(simulator.tables, simulator.moves, tables, legal[offsets[forced]])


@jit
def _fill_uniforms(tables: Records, indices: I64, uniforms: F32) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        uniforms[i] = uniform_of(t.seed, 1 + t.num_moves, 0)


@jit
def _draw_seating(tables: Records, indices: I64, borders: NDArray[np.float64], seating: I32) -> None:
    """Draw who plays each seat of new games: the latest policy at one seat at least."""
    for i in indices:
        seed = tables[i].seed
        learner = int(NUM_SEATS * uniform_of(seed, 0, 0))
        for seat in range(NUM_SEATS):
            uniform = uniform_of(seed, 0, 1 + seat)
            policy = 0
            while uniform >= borders[policy]:
                policy += 1
            seating[i, seat] = LATEST if seat == learner else policy
