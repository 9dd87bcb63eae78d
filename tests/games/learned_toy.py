"""The toy game with an encoder: its card is a candidate, one net plays all seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32, LATEST, Candidates, Observations
from suphx.games.learning import CandidateLayout, CandidateLearning, DecisionKind, Seen
from suphx.games.registry import GameEntry, register
from suphx.kernel.record import I64, U8
from tests.games.toy_game import NUM_SEATS, ToyGame, ToyRules, ToyTables

NAME = "learned-toy"
NUM_VALUES = ToyRules().num_values
LAYOUT = CandidateLayout(
    name=NAME, version=1, state=NUM_VALUES, history=(NUM_SEATS - 1, NUM_VALUES), candidate=NUM_VALUES
)
"""The cards of the hand, those of the trick in their order, and the card that is played."""


class LearnedTables(ToyTables):
    """Tables that say what a game was worth: points beside those that its cards bring on average at random."""

    def __init__(self, num_tables: int, rules: ToyRules) -> None:
        super().__init__(num_tables, rules)
        self.worth: NDArray[np.float64] = np.zeros((num_tables, NUM_SEATS))

    def begin(self, indices: I64, seeds: Sequence[int]) -> None:
        super().begin(indices, seeds)
        self.worth[indices] = 0.0174 * (self.hands[indices] @ np.arange(self.num_moves) ** 3)

    def scores(self) -> F32:
        more = self.points - self.worth
        scores: F32 = ((more - more.mean(axis=1, keepdims=True)) / 10).astype(np.float32)
        return scores


class ToyLearning(CandidateLearning):
    encoders = (NAME,)

    def layout(self, encoder: str, kind: int) -> CandidateLayout:
        if encoder != NAME:
            raise ValueError(f"{encoder!r} is not an encoder")
        return LAYOUT

    def candidate_features(self, encoder: str, rules: ToyRules | None = None) -> U8:
        return np.eye(NUM_VALUES, dtype=np.uint8)

    def observe(self, tables: ToyTables, indices: I64, encoder: str) -> Seen:
        rows = np.zeros((len(indices), 1 + NUM_SEATS - 1, NUM_VALUES), np.uint8)
        rows[:, 0] = tables.hands[indices, tables.actors(indices)]
        for row, index in zip(rows, indices.tolist(), strict=True):
            trick = tables.trick(index)
            row[1 + np.arange(len(trick)), trick] = 1
        keys = zip(tables.seeds[indices].tolist(), tables.num_played[indices].tolist(), strict=True)
        uniforms = np.array([np.random.default_rng([seed, turn, 1]).random() for seed, turn in keys], np.float32)
        masks, policies = np.zeros((len(indices), 0), np.uint8), np.full(len(indices), LATEST, np.int32)
        lists = Candidates(*tables.legal(indices))
        seen = Observations(0, rows.reshape(len(indices), LAYOUT.num_planes), masks, policies, uniforms, lists)
        return [(np.arange(len(indices)), seen)]


LEARNING = ToyLearning()


class LearnedToyGame(ToyGame):
    name = NAME
    decisions = (DecisionKind(game=NAME, number=0, name="card", role="player"),)
    learning = LEARNING

    def open_tables(self, num_tables: int, rules: ToyRules, **options: Any) -> LearnedTables:
        return LearnedTables(num_tables, rules)


GAME = LearnedToyGame()
ENTRY = GameEntry(name=NAME, title=GAME.title, module=__name__)
register(ENTRY)
