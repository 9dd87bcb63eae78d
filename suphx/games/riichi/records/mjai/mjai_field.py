"""Numbers of mjai events, read with their bounds: what a record or an arena sends may be anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_POINTS = 10_000_000
"""Of a seat, far above any game."""
MAX_STICKS = 999
"""Of honba, and of riichi sticks on the table."""


def read_integer(event: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """Return the number ``name`` of an event, from ``low`` to ``high``; ValueError if it is another or none."""
    value = event.get(name)
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name}={value!r:.40} is not a whole number from {low} to {high}")
    return value


def read_points(event: Mapping[str, Any], name: str) -> list[int]:
    """Return the points ``name`` of the four seats; ValueError if they are not four numbers within MAX_POINTS."""
    values = event.get(name)
    if not isinstance(values, list) or len(values) != 4:
        raise ValueError(f"{name} is not a list of four numbers")
    return [read_integer({name: value}, name, -MAX_POINTS, MAX_POINTS) for value in values]
