from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from suphx.games.mahjong.shanten import (
    CLASS_MASK,
    END_PAIRS_MASK,
    END_PAIRS_SHIFT,
    ENDS_MASK,
    ENDS_SHIFT,
    HONOUR_BASE,
    HONOUR_CODES,
    KINDS_MASK,
    NUM_CLASSES,
    PAIRS_MASK,
    PAIRS_SHIFT,
    SUIT_CODES,
    SUITS,
    build_suits,
    load_suits,
    special_counts,
)
from suphx.games.mahjong.tile import TERMINALS_AND_HONOURS

RUN_STARTS = range(7)


def lacking(code: int, num_sets: int, has_pair: bool) -> int:
    row = load_suits().rows[code]
    return int(load_suits().lacking[row & CLASS_MASK, int(has_pair)] >> 8 * num_sets & 0xFF)


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
        code = HONOUR_BASE + sum(c * 5**i for i, c in enumerate(counts))
        for num_sets in range(4):
            for has_pair in (False, True):
                assert lacking(code, num_sets, has_pair) == least_lacking(counts, num_sets, has_pair, False), counts


def test_one_tile_more_lowers_what_is_missing_by_at_most_one() -> None:
    suits = load_suits()
    classes = suits.rows & CLASS_MASK
    codes = np.random.default_rng(2).integers(0, SUIT_CODES, 5_000)
    for kind in range(9):
        less = codes[codes // 5**kind % 5 < 4]
        for shift in range(0, 40, 8):
            before, after = (suits.lacking[classes[c]] >> shift & 0xFF for c in (less, less + 5**kind))
            assert ((before - after >= 0) & (before - after <= 1)).all()


def test_merged_classes_share_sets_and_pair_in_the_cheapest_way() -> None:
    suits = load_suits()
    numbers = suits.lacking[:, :, None] >> 8 * np.arange(5) & 0xFF
    rng = np.random.default_rng(3)
    for a, b in rng.integers(0, NUM_CLASSES, (2_000, 2)):
        for m in range(5):
            shares = [(i, m - i) for i in range(m + 1)]
            plain = min(numbers[a, 0, i] + numbers[b, 0, j] for i, j in shares)
            paired = min(numbers[a, p, i] + numbers[b, 1 - p, j] for i, j in shares for p in range(2))
            merged = suits.merged[a, b]
            assert (numbers[merged, 0, m], numbers[merged, 1, m]) == (plain, paired)


def test_merging_does_not_depend_on_the_order() -> None:
    merged = load_suits().merged
    np.testing.assert_array_equal(merged, merged.T)
    a, b, c = np.random.default_rng(4).integers(0, NUM_CLASSES, (3, 5_000))
    np.testing.assert_array_equal(merged[merged[a, b], c], merged[a, merged[b, c]])


def test_shanten_of_a_class_is_what_it_lacks_for_the_sets_beside_the_melds() -> None:
    suits = load_suits()
    for num_melds in range(5):
        lacking = suits.lacking[:, 1] >> 8 * (4 - num_melds) & 0xFF
        np.testing.assert_array_equal(suits.shanten[:, num_melds], lacking - 1)


@pytest.mark.parametrize("seed", range(3))
def test_rows_count_kinds_pairs_and_ends(seed: int) -> None:
    rows = load_suits().rows
    rng = np.random.default_rng(seed)
    for _ in range(200):
        counts = rng.integers(0, 5, 34)
        m, p, s, z = (int(rows[code]) for code in codes_of(counts))
        total = special_counts((m, p, s, z))
        ends = counts[list(TERMINALS_AND_HONOURS)]
        assert total & KINDS_MASK == np.count_nonzero(counts)
        assert total >> PAIRS_SHIFT & PAIRS_MASK == np.count_nonzero(counts > 1)
        assert total >> ENDS_SHIFT & ENDS_MASK == np.count_nonzero(ends)
        assert total >> END_PAIRS_SHIFT & END_PAIRS_MASK == np.count_nonzero(ends > 1)


def codes_of(counts: NDArray[np.int64]) -> tuple[int, int, int, int]:
    suits = [counts[9 * suit : 9 * suit + 9] for suit in range(4)]
    m, p, s, z = (int((suit * 5 ** np.arange(len(suit))).sum()) for suit in suits)
    return m, p, s, z + HONOUR_BASE


def test_the_tables_are_read_only() -> None:
    suits = load_suits()
    assert suits.rows.shape == (SUIT_CODES + HONOUR_CODES,)
    for table in (suits.rows, suits.merged, suits.shanten, suits.lacking):
        assert not table.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        suits.rows[0] = 1


@pytest.mark.slow
def test_building_anew_gives_the_tables_of_the_cache() -> None:
    built = build_suits()[0]
    for name in SUITS.names or ():
        np.testing.assert_array_equal(built[name], getattr(load_suits(), name))
