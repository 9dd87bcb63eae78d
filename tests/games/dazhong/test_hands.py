from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from suphx.games.dazhong.hands import count_all_pairs, is_complete, is_ready, wait_kinds
from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import NUM_KINDS, join_names, kind_name, parse_names
from suphx.kernel.record import I8

KINDS = {kind_name(kind): kind for kind in range(27)}


def hand_of(text: str) -> I8:
    return np.bincount(parse_names(text, KINDS), minlength=NUM_KINDS).astype(np.int8)


def complete_twin(hand: I8, num_melds: int) -> bool:
    """Take away every pair, and then sets from the lowest tile up."""
    counts = Counter({kind: int(count) for kind, count in enumerate(hand) if count})
    if num_melds == 0 and sum(count // 2 for count in counts.values()) == 7:
        return True
    pairs = [kind for kind, count in counts.items() if count >= 2]
    return any(_sets_twin(tuple(sorted((counts - Counter({kind: 2})).elements()))) for kind in pairs)


@cache
def _sets_twin(tiles: tuple[int, ...]) -> bool:
    if not tiles:
        return True
    lowest, left = tiles[0], Counter(tiles)
    sets = [Counter({lowest: 3})]
    if lowest % 9 < 7:
        sets.append(Counter({lowest: 1, lowest + 1: 1, lowest + 2: 1}))
    return any(not wanted - left and _sets_twin(tuple(sorted((left - wanted).elements()))) for wanted in sets)


@pytest.mark.parametrize(
    ("text", "is_pairs"),
    [
        ("11m33m55m77m99m22p44s", True),
        ("1111m55m77m99m22p44s", True),
        ("1111m5555m77p99p44s", True),
        ("111m3m55m77m99m22p44s", False),
    ],
)
def test_four_equal_tiles_are_two_pairs(text: str, is_pairs: bool) -> None:
    hand = hand_of(text)
    assert (count_all_pairs(hand) == 7) == is_complete(load_suits(), hand, 0) == is_pairs
    assert not is_complete(load_suits(), hand, 1)


@pytest.mark.parametrize(
    ("text", "num_melds", "waits"),
    [
        ("1112345678999m", 0, "123456789m"),
        ("1111m55m77m99m22p4s", 0, "4s"),
        ("111m55m77m99m22p44s", 0, "1m"),
        ("1112233445566m", 0, "1234567m"),
        ("1m", 4, "1m"),
        ("2233m", 3, "23m"),
        ("2222m", 3, ""),
        ("9m1p99s", 3, ""),
        ("24s55p", 3, "3s"),
        ("147m258p369s1111m", 0, ""),
    ],
)
def test_waits(text: str, num_melds: int, waits: str) -> None:
    kinds = wait_kinds(load_suits(), hand_of(text), num_melds)
    found = [kind_name(kind) for kind in range(NUM_KINDS) if kinds >> kind & 1]
    assert join_names(found) == join_names(kind_name(kind) for kind in sorted(set(parse_names(waits, KINDS))))


def test_hands_near_a_win_are_complete_and_wait_as_a_search_finds() -> None:
    rng = np.random.default_rng(0)
    suits = load_suits()
    num_complete = num_ready = 0
    for _ in range(2000):
        num_melds = int(rng.integers(0, 5))
        hand = _near_win(rng, num_melds)
        expected = complete_twin(hand, num_melds)
        assert is_complete(suits, hand, num_melds) == expected
        num_complete += expected
        hand[rng.choice(np.flatnonzero(hand))] -= 1
        waits = 0
        for kind in range(27):
            if hand[kind] < 4:
                hand[kind] += 1
                waits |= complete_twin(hand, num_melds) << kind
                hand[kind] -= 1
        assert wait_kinds(suits, hand, num_melds) == waits
        assert is_ready(suits, hand, num_melds) == (waits != 0)
        num_ready += waits != 0
    assert num_complete > 500
    assert num_ready > 1000


def _near_win(rng: np.random.Generator, num_melds: int) -> I8:
    """Return 14 tiles, melds counted as three: sets and a pair, or seven pairs, often with one tile exchanged."""
    while True:
        hand = np.zeros(NUM_KINDS, np.int8)
        if num_melds == 0 and rng.random() < 0.4:
            for _ in range(7):
                hand[rng.integers(0, 27)] += 2
        else:
            for _ in range(4 - num_melds):
                if rng.random() < 0.6:
                    lowest = 9 * rng.integers(0, 3) + rng.integers(0, 7)
                    hand[lowest : lowest + 3] += 1
                else:
                    hand[rng.integers(0, 27)] += 3
            hand[rng.integers(0, 27)] += 2
        if rng.random() < 0.5:
            hand[rng.choice(np.flatnonzero(hand))] -= 1
            hand[rng.integers(0, 27)] += 1
        if hand.max() <= 4:
            return hand
