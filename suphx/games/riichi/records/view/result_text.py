"""How a deal ended, in words: the name of a draw; han, fu and yaku of a win."""

from __future__ import annotations

from typing import Any

from suphx.games.riichi.hand.yaku_number import YAKU_NAMES
from suphx.games.riichi.table.table import (
    EXHAUSTIVE_DRAW,
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    TRIPLE_RON_DRAW,
)

DRAW_NAMES = {
    EXHAUSTIVE_DRAW: "exhaustive draw",
    NAGASHI_MANGAN: "nagashi mangan",
    NINE_TERMINALS_DRAW: "abortive draw: nine terminals and honours",
    FOUR_WINDS_DRAW: "abortive draw: four winds",
    FOUR_RIICHI_DRAW: "abortive draw: four riichi",
    FOUR_KANS_DRAW: "abortive draw: four kans",
    TRIPLE_RON_DRAW: "abortive draw: triple ron",
}
"""Result code of a deal that nobody won -> its name."""
BONUS_COLUMNS = (("dora", "win_dora"), ("red fives", "win_red"), ("ura dora", "win_ura"))
"""What adds han without being a yaku -> column of a TABLE record."""


def win_value(table: Any, win: int) -> str:
    """Return such as ``"3 han 40 fu"`` or ``"yakuman"`` for the win number ``win`` (0-2) of a TABLE record."""
    return f"{table['win_han'][win]} han {table['win_fu'][win]} fu" if table["win_han"][win] else "yakuman"


def win_yaku(table: Any, win: int) -> list[str]:
    """Return the yaku of a win, then its dora with their number: ``["riichi", "pinfu", "red fives 1"]``."""
    yaku = [name for number, name in enumerate(YAKU_NAMES) if int(table["win_yaku"][win]) >> number & 1]
    return yaku + [f"{name} {table[column][win]}" for name, column in BONUS_COLUMNS if table[column][win]]
