"""Whose hands are shown at the end of a drawn kyoku, as on Tenhou."""

from __future__ import annotations

from collections.abc import Sequence

from suphx.games.riichi.table.table import (
    EXHAUSTIVE_DRAW,
    FOUR_RIICHI_DRAW,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    TRIPLE_RON_DRAW,
)

_SEATS = 4


def shown_hands(result: int, tenpai: Sequence[int], turn: int) -> list[int]:
    """Return the seats that show their hands after ``result``, a draw; nobody after any other result.

    ``tenpai``: by seat; ``turn``: the seat whose turn it was, who declared nine terminals or discarded the tile that
    three claimed. After four riichi all four hands are shown.
    """
    if result in (EXHAUSTIVE_DRAW, NAGASHI_MANGAN):
        return [seat for seat in range(_SEATS) if tenpai[seat]]
    if result == TRIPLE_RON_DRAW:
        return [seat for seat in range(_SEATS) if seat != turn]
    if result == NINE_TERMINALS_DRAW:
        return [turn]
    return list(range(_SEATS)) if result == FOUR_RIICHI_DRAW else []
