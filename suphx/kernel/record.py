"""A typed class becomes a numpy record dtype: how kernels get a state that copies, compares and pickles by itself.

>>> class Point:
...     x: int = field("i4")
...     history: I8 = field("i1", 3)
>>> record_dtype(Point).names
('x', 'history')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
