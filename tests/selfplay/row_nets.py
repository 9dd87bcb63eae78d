"""Nets whose answers follow from the bytes of a row alone: as good as random, the same in every batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import Observations, PolicyOutputs
from suphx.games.riichi.features.encoder import Encoder
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.selfplay.decision import HeadOutputs, decide, discard_outputs
from suphx.kernel.record import I16, I64, U8, Records

YES_SHARE = 0.3


def forward(observations: Observations, lines: I64) -> HeadOutputs:
    """Answer as the forward of the decision flow."""
    fractions = row_fractions(observations.planes)
    if observations.decision == DISCARD_HEAD:
        scores = (fractions[:, None] * (7 + np.arange(34))) % 1
        return discard_outputs(np.where(observations.masks > 0, scores, -1).argmax(axis=1))
    is_yes = fractions < YES_SHARE
    return is_yes.astype(np.int16), np.where(is_yes, 0.5 + fractions, 0).astype(np.float32)


def policy_outputs(observations: Observations, version: int = 0) -> PolicyOutputs:
    """Answer the observations of a group in the same way; log-probs tell the rows apart."""
    actions, scores = forward(observations, np.zeros(0, np.int64))
    return PolicyOutputs(
        actions=actions,
        scores=scores,
        log_probs=-row_fractions(observations.planes).astype(np.float32),
        versions=np.full(len(scores), version, np.int32),
    )


class RowAgent:
    """The same as an agent."""

    name = "row"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def act(self, tables: Records, indices: I64) -> I16:
        return decide(tables, indices, self._encoder, forward)


def row_fractions(rows: U8) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each of n observations that follows from its bytes alone, as if random."""
    num_words = -(-rows.shape[1] // 8)
    padded = np.zeros((len(rows), 8 * num_words), np.uint8)
    padded[:, : rows.shape[1]] = rows
    odd = np.random.default_rng(0).integers(2**64, size=num_words, dtype=np.uint64) | np.uint64(1)
    mixed = (padded.view(np.uint64) * odd).sum(axis=1, dtype=np.uint64)
    # The finaliser of splitmix64: every bit of the sum reaches every bit of the result.
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    fractions: NDArray[np.float64] = ((mixed ^ mixed >> np.uint64(31)) >> np.uint64(11)) / 2.0**53
    return fractions
