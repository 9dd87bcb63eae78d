"""Kinds of tiles in tile notation."""

from __future__ import annotations

from suphx.games.riichi.table.tile import parse_kinds


def kind(tile: str) -> int:
    """Return the kind (0-33) of one tile, such as ``"5m"``."""
    (number,) = parse_kinds(tile)
    return number
