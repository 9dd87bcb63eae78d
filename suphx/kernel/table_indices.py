"""Which of many tables a call is about: what is wrong with the numbers that name them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from suphx.kernel.record import I64


def as_integers(values: ArrayLike, name: str, num_tables: int | None = None) -> I64:
    """Return ``values``, such as a list, as int64 (n,); with ``num_tables``, one for each table.

    ValueError, which calls them ``name``, for another shape and for what is no integer, such as logits.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} have the shape {list(array.shape)}: give a list, one number for each table")
    if num_tables is not None and array.size != num_tables:
        raise ValueError(f"{array.size} {name} for {num_tables} tables: give one a table")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} are {array.dtype}: give integers")
    return array.astype(np.int64, copy=False)


def check_in_range(indices: I64, num_tables: int) -> None:
    """Raise ValueError if one of ``indices`` is not in 0 … ``num_tables`` - 1: kernels read and write unchecked."""
    if indices.size and (indices.min() < 0 or indices.max() >= num_tables):
        outside = indices[(indices < 0) | (indices >= num_tables)]
        raise ValueError(_outside(int(outside[0]), num_tables))


def index_fault(indices: I64, position: int, num_tables: int) -> str:
    """Return what is wrong with ``indices[position]`` of tables that get a move each, such as a table named before;
    empty if nothing is."""
    index = int(indices[position])
    if not 0 <= index < num_tables:
        return _outside(index, num_tables)
    if index in indices[:position]:
        return f"table {index} is named twice: give each table one move in a call"
    return ""


def _outside(index: int, num_tables: int) -> str:
    return f"there is no table {index}: use 0 to {num_tables - 1}"
