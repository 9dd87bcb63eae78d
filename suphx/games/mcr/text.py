"""A game of MCR as people read and type it: in the terminal, and step by step on the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from suphx.games.mahjong.hand_text import HandText
from suphx.games.mahjong.viewer import CALLED
from suphx.games.mcr.fans import FANS
from suphx.games.mcr.record import GAME, GameRecord, positions, winning_fans
from suphx.games.mcr.table import (
    CLAIM,
    ENDED,
    KIND_NAMES,
    KONG,
    MOVES,
    NAME_ORDER,
    NO_SEAT,
    NUM_SEATS,
    ROB,
    SEAT_NAMES,
    move_text,
)


class McrText(HandText):
    """Tiles have the names of the game."""

    game = GAME
    word = "game"
    help = (
        "Tiles: W1-W9 are characters, T1-T9 bamboo, B1-B9 dots, F1-F4 east to north, J1-J3 red, green, white dragon.",
        "Moves: a tile discards it; 'kong W5', 'chow T5' (T5 is its middle tile), 'pung', 'win', 'pass'.",
    )
    seat_names = SEAT_NAMES
    tile_names = KIND_NAMES
    moves = MOVES
    text_of_move = staticmethod(move_text)
    positions = staticmethod(positions)
    claim_phases = (CLAIM, ROB)
    ended_phase = ENDED
    scores = "score"
    hides_kongs = True

    def tiles_text(self, counts: np.typing.NDArray[np.integer]) -> str:
        """Return counts by kind as text: ``W123 T55 F1``."""
        names = [KIND_NAMES[kind] for kind in NAME_ORDER for _ in range(counts[kind])]
        groups = {suit: "".join(name[1] for name in names if name[0] == suit) for suit in "WTBFJ"}
        return " ".join(suit + ranks for suit, ranks in groups.items() if ranks)

    def about(self, table: Any) -> str:
        """Return the round wind."""
        return f"Round wind: {SEAT_NAMES[table['round_wind']]}"

    def about_seat(self, table: Any, seat: int) -> tuple[list[str], list[str]]:
        """Return how many tiles a seat can draw."""
        return [f"{table['wall_left'][seat]} in the wall;"], []

    def river(self, table: Any, seat: int) -> list[int]:
        """Return the discards of a seat that nobody claimed."""
        is_there = table["is_taken"][seat, : table["num_discards"][seat]] == 0
        return [kind for kind, stays in zip(super().river(table, seat), is_there, strict=True) if stays]

    def winners(self, table: Any) -> list[tuple[int, int, list[str]]]:
        """Return the seat that has won, its fan, and the fans with their values: ``All Chows 2``."""
        if table["winner"] == NO_SEAT:
            return []
        names = [
            f"{FANS[number - 1][0]} {FANS[number - 1][2]}{f' x {count}' if count > 1 else ''}"
            for number, count in winning_fans(table)
        ]
        return [(int(table["winner"]), int(table["win_fan"]), names)]

    def ending(self, table: Any) -> tuple[str, str]:
        """Return how a game without a winner ended, perhaps by an illegal reply."""
        if table["offender"] != NO_SEAT:
            return "illegal reply", f"an illegal reply of {SEAT_NAMES[table['offender']]}"
        return super().ending(table)

    def told(self, move: int) -> tuple[str, int] | None:
        """Return a discard."""
        return ("discard", move) if move < KONG else None

    def about_deal(self, record: GameRecord) -> dict[str, Any]:
        """Return the round wind; the first seat is the dealer."""
        return {"dealer": 0, "round": record.round_wind}

    def more(self, table: Any) -> dict[str, Any]:
        """Return all discards, those that somebody claimed too."""
        taken = CALLED * table["is_taken"].astype(np.int64)
        return {
            f"river{seat}": (table["river"][seat] + taken[seat])[: table["num_discards"][seat]].tolist()
            for seat in range(NUM_SEATS)
        }
