"""Indices that no simulator of three tables may take for its moves, and what it says of them."""

from __future__ import annotations

WRONG_TABLES = [
    ([0, 2, 0], "table 0 is named twice: give each table one move in a call"),
    ([0, 3], "there is no table 3: use 0 to 2"),
    ([-1, 0], "there is no table -1: use 0 to 2"),
]
