"""Columns of one length side by side: what observations, outputs, samples and decisions have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray


class Columns:
    """Base of dataclasses whose arrays have one row for each thing; other fields are the same for all rows.

    A field may be columns itself, or have rows of different lengths (``SparsePlanes``, ``Candidates``).
    """

    __slots__ = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns().values())))

    def columns(self) -> dict[str, Any]:
        """Return all columns by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if hasattr(value, "take")}

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return sum(column.nbytes for column in self.columns().values())

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Return copies of ``rows`` [k], in that order."""
        # Several times as fast as an index in brackets for rows of kilobytes, and other threads may run meanwhile.
        return self._of_each(lambda column: column.take(rows, axis=0), lambda ragged: ragged.take(rows))

    def part(self, start: int, stop: int) -> Self:
        """Return views of the rows from ``start`` up to ``stop``, at most to the end."""
        stop = min(stop, len(self))
        return self._of_each(lambda column: column[start:stop], lambda ragged: ragged.part(start, stop))

    def copied(self) -> Self:
        """Return a copy that shares no memory with this one and may be written to."""
        return self._of_each(np.array, lambda ragged: ragged.copied())

    def _of_each(self, array: Callable[[np.ndarray], np.ndarray], ragged: Callable[[Any], Any]) -> Self:
        changed = {
            name: array(column) if isinstance(column, np.ndarray) else ragged(column)
            for name, column in self.columns().items()
        }
        return replace(self, **changed)  # type: ignore[type-var]

    @staticmethod
    def joined(parts: Sequence[C]) -> C:
        """As the function ``joined``."""
        return joined(parts)


C = TypeVar("C", bound=Columns)


def joined(parts: Sequence[C]) -> C:
    """Return the rows of all ``parts``, at least one, one after another."""
    if len(parts) == 1:
        return parts[0]
    columns = [part.columns() for part in parts]
    whole = {}
    for name, first in columns[0].items():
        own = [each[name] for each in columns]
        whole[name] = np.concatenate(own) if isinstance(first, np.ndarray) else first.joined(own)
    return replace(parts[0], **whole)  # type: ignore[type-var]
