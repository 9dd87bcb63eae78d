"""Ragged lists side by side: rows one after another, and offsets that say where each list begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.record import I64


def segment_rows(offsets: I64) -> I64:
    """Return int64 (m,): the list that each row belongs to.

    ``offsets`` int64 (n + 1,): list i has the rows ``offsets[i]`` to ``offsets[i + 1]`` - 1; the first offset is 0.
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def taken_segments(offsets: I64, lists: NDArray[np.integer]) -> tuple[I64, I64]:
    """Return the offsets int64 (k + 1,) of the ``lists`` (k,) one after another, and the rows int64 of them."""
    counts = offsets[lists + 1] - offsets[lists]
    taken: I64 = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return taken, np.arange(taken[-1]) + np.repeat(offsets[lists] - taken[:-1], counts)


def segment_argmax(values: NDArray[np.floating], offsets: I64) -> I64:
    """Return int64 (n,): the row of the highest of ``values`` (m,) in each list, the first one among equals.

    ``offsets`` as in ``segment_rows``. ValueError for a list without rows, and for values that are not a number.
    """
    empty = np.flatnonzero(np.diff(offsets) < 1)
    if empty.size:
        raise ValueError(f"list {empty[0]} has no rows: each needs at least one candidate")
    if np.isnan(values).any():
        raise ValueError(f"the value of row {np.flatnonzero(np.isnan(values))[0]} is not a number")
    if len(offsets) == 1:
        return np.zeros(0, np.int64)
    lists = segment_rows(offsets)
    highest = np.flatnonzero(values == np.maximum.reduceat(values, offsets[:-1])[lists])
    return highest[np.unique(lists[highest], return_index=True)[1]]
