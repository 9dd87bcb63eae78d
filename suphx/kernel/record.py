"""A typed class becomes a numpy record dtype: how kernels get a state that copies, compares and pickles by itself.

>>> class Point:
...     x: int = field("i4")
...     history: I8 = field("i1", 3)
>>> record_dtype(Point).names
('x', 'history')

``as_integers``, ``check_in_range`` and ``index_fault`` check the numbers that name some of many tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

I8: TypeAlias = NDArray[np.int8]
U8: TypeAlias = NDArray[np.uint8]
I16: TypeAlias = NDArray[np.int16]
U16: TypeAlias = NDArray[np.uint16]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]
Records: TypeAlias = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class _Field:
    format: str | np.dtype[np.void]
    shape: tuple[int, ...]


def field(format: str | np.dtype[np.void], *shape: int) -> Any:
    """Declare one field of a record class: numpy ``format`` ("i1", "i8" …, or another record) and its inner shape."""
    return _Field(format, shape)


def record_dtype(cls: type) -> np.dtype[np.void]:
    """Return the aligned numpy record dtype of ``cls``: inherited fields first, then its own, as declared."""
    declared = [item for part in reversed(cls.__mro__) for item in vars(part).items()]
    fields = [(name, f.format, f.shape) for name, f in declared if isinstance(f, _Field)]
    return np.dtype(fields, align=True)


def as_integers(values: ArrayLike, name: str, num_tables: int | None = None) -> I64:
    """Return ``values``, such as a list, as int64 (n,); with ``num_tables``, one for each table.

    ValueError, which calls them ``name``, for another shape and for what is not an integer, such as logits.
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
