"""From the logits of a yes-or-no net to a score that the decision flow compares with one half (paper, Figure 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.models.calibration import Calibration
from suphx.riichi.record import U8
from suphx.selfplay.choice import Answers

Floats = NDArray[np.float32]


def yes_scores(
    logits: NDArray[np.float32], rows: U8, calibration: Calibration, answers: Answers
) -> NDArray[np.float32]:
    """Return float32 [n]: above 0.5 where the answer is yes, and the higher the surer the net is.

    ``logits`` [n, 2]; ``rows`` [n, row_bytes] are what the net saw: equal rows get equal answers, sampled ones too.
    """
    yes = _sigmoid((logits[:, 1] - logits[:, 0]) / calibration.temperature)
    if answers == "sampled":
        return np.where(row_fractions(rows) < yes, 0.5 + yes / 2, 0).astype(np.float32)
    border = calibration.yes_threshold if answers == "matched" else 0.5
    below, above = 0.5 * yes / border, 0.5 + 0.5 * (yes - border) / (1 - border)
    return np.where(yes <= border, below, above).astype(np.float32)


def row_fractions(rows: U8) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each of the rows [n, row_bytes] that follows from its bytes alone, as if random."""
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


def _sigmoid(values: Floats) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-values.astype(np.float64)))
