from __future__ import annotations

import itertools

import numpy as np
import pytest

from suphx.games.mahjong import shanten

RUN_STARTS = range(7)


def lacking(code: int, num_sets: int, has_pair: bool) -> int:
    row = shanten.load_suits().rows[code]
    return int(shanten.load_suits().lacking[row & shanten.CLASS_MASK, int(has_pair)] >> 8 * num_sets & 0xFF)


def code_of(digits: str) -> int:
    return sum(5 ** (int(digit) - 1) for digit in digits)


def least_lacking(counts: list[int], num_sets: int, has_pair: bool, has_runs: bool) -> int:
    """Return the least number of missing tiles by trying every choice of sets (at most four of a kind)."""
    sets = [[3 * (k == i) for k in range(len(counts))] for i in range(len(counts))]
    if has_runs:
        sets += [[int(i <= k < i + 3) for k in range(9)] for i in RUN_STARTS]
    pairs = [[0] * len(counts)]
    if has_pair:
        pairs = [[2 * (k == i) for k in range(len(counts))] for i in range(len(counts))]
    best = 14
    for chosen in itertools.combinations_with_replacement(sets, num_sets):
        for pair in pairs:
            needed = [sum(column) for column in zip(*chosen, pair, strict=True)]
            if max(needed) <= 4:
                best = min(best, sum(max(0, n - c) for n, c in zip(needed, counts, strict=True)))
    return best


@pytest.mark.parametrize(
    ("digits", "num_sets", "has_pair", "missing"),
    [
        ("", 0, False, 0),
        ("", 1, False, 3),
        ("", 4, True, 14),
        ("123", 1, False, 0),
        ("12", 1, False, 1),
        ("13", 1, True, 3),
        ("1112345678999", 4, True, 1),
        ("11123456789995", 4, True, 0),
        ("1111", 1, True, 2),
        ("11112222333344", 4, True, 0),
        ("22", 0, True, 0),
    ],
)
def test_known_suits(digits: str, num_sets: int, has_pair: bool, missing: int) -> None:
    assert lacking(code_of(digits), num_sets, has_pair) == missing


def test_random_suits_lack_what_an_exhaustive_search_finds() -> None:
    rng = np.random.default_rng(0)
    for _ in range(120):
        counts = rng.multinomial(int(rng.integers(0, 15)), np.ones(9) / 9).clip(max=4).tolist()
        code = sum(c * 5**i for i, c in enumerate(counts))
        for num_sets in range(3):
            for has_pair in (False, True):
                assert lacking(code, num_sets, has_pair) == least_lacking(counts, num_sets, has_pair, True), counts


def test_random_honours_lack_what_an_exhaustive_search_finds() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        counts = rng.multinomial(int(rng.integers(0, 15)), np.ones(7) / 7).clip(max=4).tolist()
        code = shanten.HONOUR_BASE + sum(c * 5**i for i, c in enumerate(counts))
        for num_sets in range(4):
            for has_pair in (False, True):
                assert lacking(code, num_sets, has_pair) == least_lacking(counts, num_sets, has_pair, False), counts


def test_the_tables_are_read_only() -> None:
    suits = shanten.load_suits()
    assert suits.rows.shape == (shanten.SUIT_CODES + shanten.HONOUR_CODES,)
    for table in (suits.rows, suits.merged, suits.shanten, suits.lacking):
        assert not table.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        suits.rows[0] = 1
