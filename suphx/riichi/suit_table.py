"""The lookup table behind shanten, waits and wins: what each suit still lacks for m sets with or without a pair.

A suit of nine kinds with counts c0..c8 has the code sum(c_i * 5**i); the seven honours follow at ``HONOUR_BASE``.
``suits[code, p]`` packs five bytes: byte m = tiles missing for m sets (and a pair if p is 1).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from suphx.riichi.jit import jit
from suphx.riichi.record import I64, U8
from suphx.riichi.stored_table import load_or_build

SUIT_CODES = 5**9
HONOUR_CODES = 5**7
HONOUR_BASE = SUIT_CODES
POWERS_OF_5 = tuple(5 ** (kind % 9) for kind in range(34))

_FAR = 14


def load_suits() -> I64:
    """Return the table, int64 (2031250, 2), read-only; built once (2 s) and mapped from the cache folder afterwards."""
    return _load_suits()


@cache
def _load_suits() -> I64:
    return load_or_build("suits", Path(__file__), build_suits)


def build_suits() -> I64:
    """Compute the table from the definition of a set: three alike, or three in a row in a suit."""
    table = np.zeros((SUIT_CODES + HONOUR_CODES, 2), np.int64)
    _fill(table[:SUIT_CODES], 9, True)
    _fill(table[HONOUR_BASE:], 7, False)
    return table


def _fill(table: I64, num_kinds: int, has_runs: bool) -> None:
    lacking = np.empty((len(table), 2, 5), np.uint8)
    _mark_contained(lacking, num_kinds, has_runs)
    _relax(lacking, num_kinds)
    weights = 1 << (8 * np.arange(5, dtype=np.int64))
    table[:] = lacking.astype(np.int64) @ weights


@jit
def _mark_contained(lacking: U8, num_kinds: int, has_runs: bool) -> None:
    """Set 0 where a code contains m sets (and a pair), a large number elsewhere."""
    for code in range(len(lacking)):
        lacking[code] = _FAR
        lacking[code, 0, 0] = 0
        rest = code
        power = 1
        for kind in range(num_kinds):
            count = rest % 5
            if count >= 3:
                _inherit(lacking, code, code - 3 * power)
            if has_runs and kind < 7 and count >= 1 and rest // 5 % 5 >= 1 and rest // 25 % 5 >= 1:
                _inherit(lacking, code, code - 31 * power)
            if count >= 2:
                for m in range(5):
                    if lacking[code - 2 * power, 0, m] == 0:
                        lacking[code, 1, m] = 0
            rest //= 5
            power *= 5


@jit
def _inherit(lacking: U8, code: int, smaller: int) -> None:
    """``code`` is ``smaller`` and one set more."""
    for p in range(2):
        for m in range(4):
            if lacking[smaller, p, m] == 0:
                lacking[code, p, m + 1] = 0


@jit
def _relax(lacking: U8, num_kinds: int) -> None:
    """Lower every entry to one more than that of the best code with one tile more."""
    for code in range(len(lacking) - 1, -1, -1):
        rest = code
        power = 1
        for _ in range(num_kinds):
            if rest % 5 < 4:
                for p in range(2):
                    for m in range(5):
                        via = lacking[code + power, p, m] + 1
                        if via < lacking[code, p, m]:
                            lacking[code, p, m] = via
            rest //= 5
            power *= 5
