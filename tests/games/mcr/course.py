"""Games of MCR with given hands and draws."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mcr.engine import start, step
from suphx.games.mcr.table import (
    CLAIM,
    KIND_OF_NAME,
    MOVES,
    PASS,
    ROB,
    TABLE,
    WALL_TILES,
    move_text,
)
from suphx.kernel.record import Records

SUITS = load_suits()


def new_table(minimum: int = 8) -> Any:
    """Return an empty table: a numpy record, which kernels take as a ``Table``."""
    tables: Records = np.zeros(1, TABLE)
    tables["minimum_fan"] = minimum
    return tables[0]


def kinds(text: str) -> list[int]:
    """Return kinds of a text such as ``W123 F11 J2``."""
    return [KIND_OF_NAME[f"{group[0]}{digit}"] for group in text.split() for digit in group[1:]]


class Course:
    """A game with given hands and draws: all other tiles follow in the order of kinds, high ones first."""

    def __init__(self, hands: dict[int, str], draws: dict[int, str] | None = None, minimum: int = 8) -> None:
        self.table = table = new_table(minimum)
        own = [kinds(hands.get(seat, "")) for seat in range(4)]
        drawn = [kinds((draws or {}).get(seat, "")) for seat in range(4)]
        used = Counter(kind for part in (*own, *drawn) for kind in part)
        rest = [kind for kind in range(34) for _ in range(4 - used[kind])]
        wall = []
        for hand in own:
            hand += [rest.pop() for _ in range(13 - len(hand))]
        for hand, next_ones in zip(own, drawn, strict=True):
            tail = [rest.pop() for _ in range(WALL_TILES - 13 - len(next_ones))]
            wall += [*hand, *next_ones, *tail][::-1]
        places = np.argsort(np.array(wall), kind="stable")
        table["wall"][places] = np.arange(136)
        start(table, SUITS)

    def play(self, *moves: str) -> Course:
        """Play moves such as ``0 W5``: who moves, and what."""
        for text in moves:
            seat, move = text.split(" ", 1)
            assert int(seat) == self.table["actor"]
            assert self.table["legal"][MOVES[move]], text
            step(self.table, SUITS, MOVES[move])
        return self

    def discard(self) -> Course:
        """Discard the tile that was drawn, and let it pass."""
        step(self.table, SUITS, int(self.table["drawn"]))
        return self.passes()

    def passes(self) -> Course:
        """Let everybody pass who is asked."""
        while self.table["phase"] in (CLAIM, ROB):
            step(self.table, SUITS, PASS)
        return self

    def empty(self, *seats: int) -> Course:
        """Take the rest of some walls away."""
        self.table["wall_left"][list(seats)] = 0
        return self

    def legal(self) -> set[str]:
        return {move_text(int(move)) for move in np.flatnonzero(self.table["legal"])}
