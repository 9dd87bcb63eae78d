"""Shanten, waits and ukeire of random hands are those of PyPI ``riichienv`` and ``mahjong``, without exception."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mahjong.shanten import Shanten
from riichienv import HandEvaluator, Meld, MeldType, calculate_shanten

from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi.shanten import improving_kinds, shanten, waiting_kinds
from suphx.kernel.record import I8
from tests.games.riichi.twins import shanten_twin

SUITS = load_suits()


def random_hand(rng: np.random.Generator, size: int) -> I8:
    """Return ``size`` tiles of all kinds, of a suit or two with honours, or of few kinds: far, near and odd hands."""
    num_kinds = int(rng.choice([34, 25, 16, size // 3 + 3]))
    kinds = rng.permutation(34)[:num_kinds] if num_kinds < 16 else range(34 - num_kinds, 34)
    tiles = rng.choice(np.repeat(kinds, 4), size, replace=False)
    return np.bincount(tiles, minlength=34).astype(np.int8)


def tile_ids(hand: I8) -> list[int]:
    return [4 * kind + i for kind in np.flatnonzero(hand).tolist() for i in range(int(hand[kind]))]


def melds_beside(hand: I8, num_melds: int) -> list[Any]:
    """Return pons of kinds that the hand does not hold."""
    kinds = np.flatnonzero(hand == 0)[:num_melds].tolist()
    return [Meld(MeldType.Pon, [4 * kind, 4 * kind + 1, 4 * kind + 2], True) for kind in kinds]


def compare(num_hands: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for i in range(num_hands):
        num_melds = (0, 0, 0, 1, 2, 3, 4)[i % 7]
        hand = random_hand(rng, 13 - 3 * num_melds + i % 2)
        ours = shanten(SUITS, hand, num_melds)
        assert calculate_shanten(tile_ids(hand)) == ours, hand
        their_count = Shanten.calculate_shanten if num_melds == 0 else Shanten.calculate_shanten_for_regular_hand
        assert their_count(hand.tolist()) == ours, hand
        if i % 2 == 0:
            compare_kinds(hand, num_melds, ours)


def compare_kinds(hand: I8, num_melds: int, now: int) -> None:
    """Compare the helping kinds with the peer's shanten after each, and the waits with its waits."""
    better = 0
    for kind in np.flatnonzero(hand < 4).tolist():
        hand[kind] += 1
        better |= (calculate_shanten(tile_ids(hand)) < now) << kind
        hand[kind] -= 1
    assert improving_kinds(SUITS, hand, num_melds, now) == better, hand
    waits = HandEvaluator(tile_ids(hand), melds_beside(hand, num_melds)).get_waits()
    assert waiting_kinds(SUITS, hand, num_melds) == sum(1 << kind for kind in waits), hand


def test_5000_hands() -> None:
    compare(5000, 0)


@pytest.mark.slow
def test_100000_hands() -> None:
    compare(100_000, 1)


@pytest.mark.slow
def test_the_search_finds_the_same_shanten_and_helping_tiles_of_2000_hands() -> None:
    rng = np.random.default_rng(2)
    for i in range(2000):
        num_melds = i % 5
        hand = random_hand(rng, 13 - 3 * num_melds)
        expected, kinds = shanten_twin.shanten_and_improving(hand, num_melds)
        assert shanten(SUITS, hand, num_melds) == expected, hand
        assert improving_kinds(SUITS, hand, num_melds, expected) == sum(1 << kind for kind in kinds), hand
