"""Arrays and records of kernels in plain Python: lists of numbers, and objects with fields.

Python's own numbers in lists are several times as fast one by one as those of numpy's arrays. Programs that
plain_source.py writes have what they need of this module, so it needs no newer Python than they do (3.6).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np

from suphx.kernel.record import Records


class Fields:
    """A record: its fields are attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def copy(self) -> Fields:
        """Return a copy with arrays of its own."""
        return Fields(**{name: copied(value) for name, value in self.__dict__.items()})


class Ints(list):  # type: ignore[type-arg]
    """An array as kernels use it; rows of several dimensions are such arrays too."""

    def copy(self) -> Ints:
        """Return a copy with rows of its own."""
        return Ints(copied(value) for value in self)

    def astype(self, kind: Any) -> Ints:
        """Return a copy: all numbers are Python's."""
        return self.copy()

    def min(self) -> Any:
        """Return the lowest element."""
        return min(self)

    def max(self) -> Any:
        """Return the highest element."""
        return max(self)

    def argmax(self) -> int:
        """Return the first place of the highest element."""
        return self.index(max(self))

    def sum(self) -> Any:
        """Return the sum of the elements."""
        return sum(self)

    def any(self) -> bool:
        """Tell whether an element is not 0."""
        return any(self)


def copied(value: Any) -> Any:
    """Return a copy of an array, or a number."""
    return value.copy() if isinstance(value, (Ints, Fields)) else value


def full(shape: Any, value: Any) -> Any:
    """Return an array of a shape, a number or a tuple, with equal elements."""
    length, *inner = shape if isinstance(shape, tuple) else (shape,)
    return Ints(full(tuple(inner), value) for _ in range(length)) if inner else Ints([value] * length)


def zeros(shape: Any) -> Any:
    """Return an array of zeros."""
    return full(shape, 0)


def new_record(fields: Iterable[tuple[str, tuple[int, ...]]]) -> Any:
    """Return a record of zeros; ``fields``: name and shape."""
    return Fields(**{name: zeros(shape) if shape else 0 for name, shape in fields})


def new_records(number: int, fields: Iterable[tuple[str, tuple[int, ...]]]) -> Ints:
    """Return records of zeros."""
    return Ints(new_record(fields) for _ in range(number))


def arange(length: int) -> Ints:
    """Return 0, 1, … up to a length."""
    return Ints(range(length))


def take_part(values: Any, *indices: Any) -> Any:
    """Return a part of an array, copied: an index or a slice for each dimension."""
    first, rest = indices[0], indices[1:]
    if not isinstance(first, slice):
        return take_part(values[first], *rest) if rest else values[first]
    return Ints(take_part(row, *rest) if rest else copied(row) for row in values[first])


def fill_part(new: Any, values: Any, *indices: Any) -> None:
    """Set a part of an array to the elements of another one, or all of it to a number."""
    first, rest = indices[0], indices[1:]
    if not isinstance(first, slice):
        fill_part(new, values[first], *rest)
        return
    for number, place in enumerate(range(*first.indices(len(values)))):
        own = new[number] if isinstance(new, list) else new
        if rest or isinstance(values[place], Ints):
            fill_part(own, values[place], *(rest or (slice(None),)))
        else:
            values[place] = own


def add_to_part(number: Any, values: Any, *indices: Any) -> None:
    """Add a number to a part of an array."""
    first, rest = indices[0], indices[1:]
    for place in range(*first.indices(len(values))) if isinstance(first, slice) else (first,):
        if rest:
            add_to_part(number, values[place], *rest)
        else:
            values[place] += number


def unpack_record(data: bytes, fields: Iterable[tuple[str, str, tuple[int, ...]]]) -> Any:
    """Return the record that ``pack_record`` packed; ``fields``: name, type code of Python's arrays, shape."""
    values: dict[str, Any] = {}
    start = 0
    for name, code, shape in fields:
        numbers, size = array(code), 1
        for length in shape:
            size *= length
        numbers.frombytes(data[start : start + size * numbers.itemsize])
        start += size * numbers.itemsize
        if len(shape) == 1:
            values[name] = numbers  # long ones stay as small as they are
        else:
            values[name] = _nested(numbers.tolist(), shape) if shape else numbers[0]
    return Fields(**values)


def _nested(numbers: list[Any], shape: tuple[int, ...]) -> Any:
    if len(shape) == 1:
        return Ints(numbers)
    length = len(numbers) // shape[0]
    return Ints(_nested(numbers[length * i : length * (i + 1)], shape[1:]) for i in range(shape[0]))


def pack_record(record: Records) -> bytes:
    """Return the numbers of a record, such as tables that are slow to compute."""
    assert record.dtype.names is not None
    return b"".join(np.ascontiguousarray(record[name]).tobytes() for name in record.dtype.names)


def field_types(dtype: np.dtype[np.void]) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    """Return what ``unpack_record`` needs of a record's type."""
    return tuple((name, part.base.char, part.shape) for name, part in _parts(dtype))


def field_shapes(dtype: np.dtype[np.void]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return what ``new_record`` needs of a record's type."""
    return tuple((name, part.shape) for name, part in _parts(dtype))


def _parts(dtype: np.dtype[np.void]) -> list[tuple[str, np.dtype[Any]]]:
    assert dtype.fields is not None
    return [(name, dtype.fields[name][0]) for name in dtype.names or ()]
