"""A hand of Dazhong as people read and type it: in the terminal, and step by step on the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from suphx.games.dazhong.records import GAME, HandRecord, positions
from suphx.games.dazhong.table import (
    CLAIM,
    DECLARE,
    ENDED,
    KONG,
    MOVES,
    NO_KIND,
    NUM_KINDS,
    ROB,
    SEAT_NAMES,
    TING,
    move_text,
)
from suphx.games.mahjong.hand_text import HandText
from suphx.games.mahjong.tile import join_names, kind_name


class DazhongText(HandText):
    """Tiles are 1-9m (characters), 1-9p (dots), 1-9s (bamboo)."""

    game = GAME
    word = "hand"
    help = (
        "Tiles: 1-9m are characters, 1-9p dots, 1-9s bamboo.",
        "Moves: a tile discards it, 'ting 5m' declares a ready hand and discards it; 'kong 5m', 'chow 345m', 'pung',",
        "'win', 'pass'.",
    )
    seat_names = SEAT_NAMES
    tile_names = tuple(map(kind_name, range(NUM_KINDS)))
    moves = MOVES
    text_of_move = staticmethod(move_text)
    positions = staticmethod(positions)
    claim_phases = (CLAIM, ROB)
    ended_phase = ENDED
    scores = "fan"

    def tiles_text(self, counts: np.typing.NDArray[np.integer]) -> str:
        """Return counts by kind as text: ``123m55p``."""
        return join_names(kind_name(kind) for kind in range(NUM_KINDS) for _ in range(counts[kind]))

    def about(self, table: Any) -> str:
        """Return how long the hand can last."""
        return f"{table['wall_left']} tiles in the wall"

    def about_seat(self, table: Any, seat: int) -> tuple[list[str], list[str]]:
        """Return whether a seat is ready, and what it was paid."""
        return ["ready"] * bool(table["ready"][seat]), [f"({table['fan'][seat]:+d} fan)"]

    def winners(self, table: Any) -> list[tuple[int, int, list[str]]]:
        """Return the seats that have won, with their fan."""
        return [(seat, fan, []) for seat, fan in enumerate(table["win_fan"].tolist()) if fan]

    def told(self, move: int) -> tuple[str, int] | None:
        """Return a discard, perhaps with ting, or ting alone."""
        if move == DECLARE:
            return "ready", NO_KIND
        return None if move >= KONG else ("ting" if move >= TING else "discard", move % NUM_KINDS)

    def about_deal(self, record: HandRecord) -> dict[str, Any]:
        """Return who is the dealer."""
        return {"dealer": record.dealer}

    def more(self, table: Any) -> dict[str, Any]:
        """Return who is ready."""
        return {"riichi": table["ready"].tolist()}
