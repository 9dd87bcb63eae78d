"""Names of deals, and hands in short form, for lines that a person reads."""

from __future__ import annotations

from typing import Any

from suphx.games.riichi.records.view.shown_tiles import hand_faces
from suphx.games.riichi.table.tile import format_faces


def kyoku_name(kyoku: int, honba: int) -> str:
    """Return such as ``"East 1"`` or ``"South 4, honba 2"``."""
    name = f"{('East', 'South', 'West', 'North')[kyoku // 4]} {kyoku % 4 + 1}"
    return f"{name}, honba {honba}" if honba else name


def hand_text(table: Any, seat: int) -> str:
    """Return the concealed tiles of ``seat`` (0-3) at a TABLE record in short form: ``"13m067p5z"``, 0 = a red five."""
    return format_faces(hand_faces(table, seat))
