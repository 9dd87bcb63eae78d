"""Places 1 to 4 from points: of equal points the seat nearer to the first dealer is ahead (rule)."""

from __future__ import annotations

import numpy as np

from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I32


@jit
def place_of(scores: I32, seat: int) -> int:
    """Return the place 1-4 of ``seat`` by ``scores`` int32 [4], those of the seats 0-3."""
    place = 1
    for other in range(4):
        place += scores[other] > scores[seat] or (scores[other] == scores[seat] and other < seat)
    return place


def places_of_scores(scores: I32) -> I8:
    """Return int8 [n, 4]: the places by seat of ``scores`` int32 [n, 4]."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return (np.argsort(order, axis=1) + 1).astype(np.int8)
