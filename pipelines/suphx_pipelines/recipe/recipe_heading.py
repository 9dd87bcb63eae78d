"""Checks of the keys that recipes of every command and game have: ``name`` and ``minutes``."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from suphx.number_range import Range

RecipeMinutes: TypeAlias = Annotated[int, Range(0, 1_000_000)]
"""Approximate duration; 0 = not measured."""


def check_name(name: str) -> None:
    """Raise ValueError unless the name can be a part of the name of a folder and of an object of a cluster."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", name):
        raise ValueError(
            f"name is {name!r}: use 1 to 63 lower-case letters, digits, - and _, as it becomes a folder name"
        )
