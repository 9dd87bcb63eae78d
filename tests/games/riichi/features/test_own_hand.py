from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.planes import count_masks
from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi.features.own_hand import FAR, NO_DISCARD, fill_progress
from suphx.games.riichi.shanten import improving_kinds, shanten
from suphx.kernel.record import I8, I64
from tests.games.riichi.builders.table_builder import bits_of, counts_of

SUITS = load_suits()


def progress(hand: I8, num_melds: int, allowed: int) -> tuple[int, I64, I64]:
    after, helps = np.zeros(35, np.int64), np.ones(35, np.int64)
    least = fill_progress(SUITS, hand, count_masks(hand), num_melds, allowed, after, helps)
    return least, after, helps


def one_by_one(hand: I8, num_melds: int, allowed: int) -> tuple[int, I64, I64]:
    """Return the same, a hand at a time."""
    after, helps = np.full(35, FAR, np.int64), np.zeros(35, np.int64)
    for discard in np.flatnonzero(hand) if allowed else [NO_DISCARD]:
        after[discard] = shanten(SUITS, without(hand, int(discard)), num_melds)
    choices = [kind for kind in range(34) if allowed >> kind & 1 and hand[kind]] if allowed else [NO_DISCARD]
    least = int(after[choices].min())
    for discard in choices:
        if after[discard] == least:
            helps[discard] = improving_kinds(SUITS, without(hand, discard), num_melds, least)
    return least, after, helps


def without(hand: I8, discard: int) -> I8:
    left = hand.copy()
    if discard != NO_DISCARD:
        left[discard] -= 1
    return left


def random_hand(rng: np.random.Generator, num_tiles: int) -> I8:
    """Return a hand of all tiles, of two suits and honours, or of few kinds."""
    tiles = np.arange(136)
    style = rng.integers(0, 3)
    if style == 1:
        tiles = tiles[tiles // 36 != rng.integers(0, 3)]
    elif style == 2:
        tiles = tiles[np.isin(tiles // 4, rng.choice(34, 10, replace=False))]
    return np.bincount(rng.choice(tiles, num_tiles, replace=False) // 4, minlength=34).astype(np.int8)


def check_hands(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        num_melds = int(rng.integers(0, 5)) * int(rng.integers(0, 2))
        has_discard = bool(rng.integers(0, 2))
        hand = random_hand(rng, 13 - 3 * num_melds + has_discard)
        held = [1 << int(kind) for kind in np.flatnonzero(hand)]
        allowed = sum(rng.permutation(held)[: rng.integers(1, len(held) + 1)].tolist()) if has_discard else 0
        least, after, helps = progress(hand, num_melds, allowed)
        slow_least, slow_after, slow_helps = one_by_one(hand, num_melds, allowed)
        assert least == slow_least, (hand.tolist(), num_melds, allowed)
        assert after.tolist() == slow_after.tolist()
        assert helps.tolist() == slow_helps.tolist()


def test_all_discards_at_once_are_what_each_hand_alone_is() -> None:
    check_hands(5_000, seed=1)


@pytest.mark.slow
def test_a_hundred_thousand_hands_are_what_each_discard_alone_leaves() -> None:
    check_hands(100_000, seed=2)


def test_a_discard_that_leaves_tenpai_shows_its_waits() -> None:
    hand = counts_of("123456789m1123p7z")
    least, after, helps = progress(hand, 0, bits_of("1237z"))
    assert least == after[33] == 0
    assert helps[33] == bits_of("14p")
    assert after[0] == 1
    assert helps[0] == 0


def test_the_tile_just_discarded_completes_a_complete_hand() -> None:
    least, _, helps = progress(counts_of("123456789m11123p"), 0, bits_of("3p"))
    assert least == 0
    assert helps[11] == bits_of("23p")


def test_without_a_discard_the_hand_is_taken_as_it_is() -> None:
    least, after, helps = progress(counts_of("1199m2288p3377s5z"), 0, 0)
    assert least == after[NO_DISCARD] == 0
    assert helps[NO_DISCARD] == bits_of("5z")
