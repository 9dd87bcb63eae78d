"""Generalised advantage estimation written out as its recursion, row by row: a slow twin for tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def advantages(
    values: F64, rewards: F64, is_last: Sequence[bool], traces: Sequence[float] | F64, decay: float
) -> F64:  # fmt: skip
    """Return the advantage of each row; arguments as in ``generalised_advantages``."""
    result = np.zeros(len(values))
    for i in reversed(range(len(values))):
        if is_last[i]:
            result[i] = rewards[i] - values[i]
        else:
            result[i] = values[i + 1] - values[i] + decay * traces[i + 1] * result[i + 1]
    return result
