"""One kind of file that a run stores or is given: how to damage it, and how the project reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class StoredForm:
    """``read`` may raise ValueError; any other exception is a finding."""

    name: str
    weight: float
    make: Callable[[Random], Files]
    """Returns the files of a damaged input."""
    read: Callable[[Path, Random], None]
    """Reads them from a folder as the project does."""
