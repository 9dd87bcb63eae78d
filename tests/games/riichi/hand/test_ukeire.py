from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.shanten import NOT_HELD, count_discard_ukeire, count_shanten, count_ukeire, find_waits
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.record import I8
from tests.games.riichi.builders.table_builder import counts_of
from tests.games.riichi.twins import shanten_twin


def random_hands(count: int, size: int, seed: int) -> tuple[I8, I8]:
    """Return hands of ``size`` tiles, melds counted as three, and their melds; most from few suits, so near tenpai."""
    rng = np.random.default_rng(seed)
    melds = rng.integers(0, 5, count).astype(np.int8)
    hands = np.zeros((count, 34), np.int8)
    for i in range(count):
        kinds = [*range(9 * int(rng.integers(1, 4))), *range(27, 34)]
        np.add.at(hands[i], rng.choice(np.repeat(kinds, 4), size - 3 * melds[i], replace=False), 1)
    return hands, melds


def test_a_batch_is_what_the_search_finds_hand_by_hand() -> None:
    hands, melds = random_hands(150, 13, 1)
    before = hands.copy()
    found = count_ukeire(hands, melds)
    waits = find_waits(hands, melds)
    np.testing.assert_array_equal(count_shanten(hands, melds), found.shanten)
    for i, hand in enumerate(hands):
        shanten, kinds = shanten_twin.shanten_and_improving(hand, int(melds[i]))
        assert found.shanten[i] == shanten
        assert set(np.flatnonzero(found.kinds[i]).tolist()) == kinds
        assert found.tiles[i] == sum(4 - hand[kind] for kind in kinds)
        assert set(np.flatnonzero(waits[i]).tolist()) == (kinds if shanten == 0 else set())
    assert waits.any(axis=1).sum() > 20
    np.testing.assert_array_equal(hands, before)


def test_discards_are_what_the_search_finds_after_each_of_them() -> None:
    hands, melds = random_hands(12, 14, 2)
    unseen = np.random.default_rng(3).integers(0, 5, (12, 34))
    before = hands.copy()
    found = count_discard_ukeire(hands, melds, unseen=unseen)
    for i, hand in enumerate(before):
        for kind in range(34):
            if hand[kind] == 0:
                assert (found.shanten[i, kind], found.tiles[i, kind]) == (NOT_HELD, 0)
                continue
            rest = hand.copy()
            rest[kind] -= 1
            shanten, kinds = shanten_twin.shanten_and_improving(rest, int(melds[i]))
            assert (found.shanten[i, kind], found.tiles[i, kind]) == (shanten, sum(unseen[i, k] for k in kinds))
    np.testing.assert_array_equal(hands, before)


def test_one_number_of_melds_and_one_row_of_unseen_tiles_serve_all_hands() -> None:
    hands = np.array([counts_of("2345m"), counts_of("2223m")])
    unseen = np.zeros(34, int)
    unseen[parse_kinds("124m")] = [4, 3, 2]
    found = count_ukeire(hands, 3, unseen=unseen)
    assert found.shanten.tolist() == [0, 0]
    assert found.tiles.tolist() == [3, 4 + 2]  # 2m and 5m; 1m, 3m and 4m
    after = count_discard_ukeire([counts_of("23456m")], 3)
    assert (after.shanten[0, 1], after.tiles[0, 1]) == (0, 6)  # 3456m: three of 3m, three of 6m


def test_any_integers_will_do_and_no_hands_give_no_results() -> None:
    hand = counts_of("123456789m1122p")
    for dtype in (np.uint8, np.int64, np.int8):
        assert count_shanten(np.stack([hand, hand]).astype(dtype)[:1]).tolist() == [0]
    assert count_shanten(np.asfortranarray([hand, hand])).tolist() == [0, 0]
    assert count_shanten([hand.tolist()]).tolist() == [0]
    empty = np.zeros((0, 34), np.int8)
    assert count_shanten(empty).shape == (0,)
    assert find_waits(empty).shape == (0, 34)


HAND = counts_of("123456789m1122p")


@pytest.mark.parametrize(
    ("hands", "num_melds", "message"),
    [
        (HAND, 0, r"hands has the shape \(34,\): give \(n, 34\)"),
        ([HAND[:33]], 0, r"hands is int8 \(1, 33\): give integers \(n, 34\)"),
        ([HAND / 2], 0, r"hands is float64 \(1, 34\): give integers"),
        ([HAND, 3 * HAND], 0, r"hands\[1\] has 6 of 1p: there are 0 to 4 of a kind"),
        ([-HAND], 0, r"hands\[0\] has -1 of 1m"),
        ([HAND, HAND - counts_of("9m")], 0, r"hand 1 has 12 tiles beside 0 melds: give 13 or 14"),
        ([HAND], 1, r"hand 0 has 13 tiles beside 1 melds: give 10 or 11"),
        ([HAND], 5, r"num_melds is 5 … 5: a hand has 0 to 4 melds"),
        ([HAND], 0.0, r"num_melds is float64 \(\): give an integer, or one for each of 1"),
        ([HAND], [0, 0], r"num_melds is int64 \(2,\): give an integer, or one for each of 1"),
    ],
)
def test_hands_that_cannot_be_are_refused(hands: Any, num_melds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        count_shanten(hands, num_melds)


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (lambda: find_waits([HAND + counts_of("1z")]), r"hand 0 has 14 tiles beside 0 melds: give 13$"),
        (lambda: count_ukeire([HAND + counts_of("1z")]), r"hand 0 has 14 tiles beside 0 melds: give 13$"),
        (lambda: count_discard_ukeire([HAND]), r"hand 0 has 13 tiles beside 0 melds: give 14$"),
        (
            lambda: count_ukeire([HAND], unseen=np.ones((2, 34), int)),
            r"unseen has the shape \(2, 34\): give \(34,\) or \(1, 34\)",
        ),
        (lambda: count_ukeire([HAND], unseen=np.full(34, 5)), "unseen has 5 of 1m"),
    ],
)
def test_another_number_of_tiles_or_unseen_ones_is_refused(count: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        count()
