"""DouDizhu as nets see it and decide in it: the ``Learning`` of games/learning.py. Each seat is a kind of decision."""

from __future__ import annotations

import numpy as np

from suphx.experience.observation import F32, LATEST, Candidates, Observations
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.features import HISTORY_SHAPE, encode_rows, move_columns, num_state_columns
from suphx.games.doudizhu.table import NUM_SEATS, Rules
from suphx.games.learning import CandidateLayout, CandidateLearning, Seen
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I64, U8, Records

ENCODER = "douzero"


class DouDizhuLearning(CandidateLearning):
    """How nets see DouDizhu."""

    encoders = (ENCODER,)

    def layout(self, encoder: str, kind: int) -> CandidateLayout:
        """Return what the net of a seat sees: DouZero's state and the last 15 moves."""
        if encoder != ENCODER:
            raise ValueError(f"{encoder!r} is not an encoder: use {ENCODER}")
        columns = HISTORY_SHAPE[1] // NUM_SEATS
        return CandidateLayout(
            name=ENCODER, version=1, state=num_state_columns(kind), history=HISTORY_SHAPE, candidate=columns
        )

    def candidate_features(self, encoder: str, rules: Rules | None = None) -> U8:
        """Return uint8 [moves, 54]: the cards of each move."""
        return move_columns((rules or Rules()).load_moves())

    def observe(self, tables: Simulator, indices: I64, encoder: str) -> Seen:
        """Return what the actors of the tables ``indices`` see, by seat; policies are LATEST."""
        seen: Seen = []
        for seat in range(NUM_SEATS):
            places = np.flatnonzero(tables.tables["actor"][indices] == seat)
            if places.size:
                own = indices[places]
                rows, uniforms = encode_rows(tables.tables, tables.moves, own, seat), np.zeros(len(own), np.float32)
                _fill_uniforms(tables.tables, own, uniforms)
                no_masks, policies = np.zeros((len(own), 0), np.uint8), np.full(len(own), LATEST, np.int32)
                candidates = Candidates(*tables.legal(own))
                seen.append((places, Observations(seat, rows, no_masks, policies, uniforms, candidates)))
        return seen


LEARNING = DouDizhuLearning()


@jit
def _fill_uniforms(tables: Records, indices: I64, uniforms: F32) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        uniforms[i] = uniform_of(t.seed, 1 + t.num_moves, 0)
