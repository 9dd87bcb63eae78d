from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suphx.games.mahjong.readings import MAX_READINGS, is_thirteen_orphans, read_hand
from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi.shanten import (
    NOT_HELD,
    count_discard_ukeire,
    count_shanten,
    count_ukeire,
    find_waits,
    improving_kinds,
    shanten,
    tenpai_discards,
    waiting_kinds,
)
from suphx.games.riichi.yaku import is_seven_pairs
from suphx.kernel.record import I8
from tests.games.riichi.builders.table_builder import bits_of, counts_of
from tests.games.riichi.twins import shanten_twin

SUITS = load_suits()


@pytest.mark.parametrize(
    ("tiles", "num_melds", "expected"),
    [
        ("123456789m11122p", 0, -1),
        ("123456789m1112p", 0, 0),
        ("123456789m112p5z", 0, 1),
        ("19m19p19s1234567z", 0, 0),
        ("19m19p19s1234567z1m", 0, -1),
        ("19m19p19s123456z5m", 0, 1),
        ("1122m3344p5566s7z", 0, 0),
        ("1122m3344p5566s77z", 0, -1),
        ("1111m3344p5566s7z", 0, 2),  # four alike are one pair only
        ("147m258p369s1234z", 0, 6),  # twelve kinds and no pair: seven pairs are nearest
        ("55m", 4, -1),
        ("5m", 4, 0),
        ("123m5z", 3, 0),
        ("1111m", 3, 1),  # the fifth 1m does not exist, 23m and a pair do
        ("1111222233334m", 0, 0),
    ],
)
def test_known_hands(tiles: str, num_melds: int, expected: int) -> None:
    assert shanten(SUITS, counts_of(tiles), num_melds) == expected


@pytest.mark.parametrize(
    ("tiles", "num_melds", "waits"),
    [
        ("1112345678999m", 0, "123456789m"),
        ("19m19p19s1234567z", 0, "19m19p19s1234567z"),
        ("19m19p19s123456z1m", 0, "7z"),
        ("123456789m1122p", 0, "12p"),
        ("123456789m12p55z", 0, "3p"),
        ("2345m", 3, "25m"),
        ("2223m", 3, "134m"),
        ("3334m", 3, "245m"),
        ("1122m3344p5566s7z", 0, "7z"),
        ("2233445566778m", 0, "258m"),
        ("123m456m789m123p4z", 0, "4z"),
        ("111122223333m4p", 0, "4p"),
        ("1m", 4, "1m"),
        ("1111m", 3, ""),  # would need the fifth
        ("1112223334445m", 0, "23456m"),
    ],
)
def test_waits(tiles: str, num_melds: int, waits: str) -> None:
    assert waiting_kinds(SUITS, counts_of(tiles), num_melds) == bits_of(waits)


def random_hands(count: int, size: int, seed: int) -> tuple[I8, I8]:
    """Return hands of ``size`` tiles, melds counted as three, and their melds; most from few suits, so near tenpai."""
    rng = np.random.default_rng(seed)
    melds = rng.integers(0, 5, count).astype(np.int8)
    hands = np.zeros((count, 34), np.int8)
    for i in range(count):
        kinds = [*range(9 * int(rng.integers(1, 4))), *range(27, 34)]
        np.add.at(hands[i], rng.choice(np.repeat(kinds, 4), size - 3 * melds[i], replace=False), 1)
    return hands, melds


def test_tenpai_discards_are_those_after_which_the_hand_waits_for_something() -> None:
    num_tenpai = 0
    for hand, num_melds in zip(*random_hands(3000, 14, 5), strict=True):
        expected = 0
        for kind in np.flatnonzero(hand).tolist():
            hand[kind] -= 1
            expected |= (waiting_kinds(SUITS, hand, num_melds) != 0) << kind
            hand[kind] += 1
        assert tenpai_discards(SUITS, hand, num_melds) == expected, hand
        assert (shanten(SUITS, hand, num_melds) <= 0) == (expected != 0), hand
        num_tenpai += expected != 0
    assert num_tenpai > 200


@st.composite
def hands_and_melds(draw: st.DrawFn, size: int) -> tuple[I8, int]:
    """Draw a hand of ``size`` tiles, melds counted as three; mostly of few kinds, so near tenpai."""
    num_melds = draw(st.integers(0, 4))
    num_kinds = draw(st.sampled_from([5, 9, 18, 34]))
    hand = np.zeros(34, np.int8)
    for wanted in draw(
        st.lists(st.integers(0, num_kinds - 1), min_size=size - 3 * num_melds, max_size=size - 3 * num_melds)
    ):
        kind = 33 - wanted if num_kinds == 5 else wanted  # five kinds: honours
        while hand[kind] == 4:
            kind = (kind + 1) % 34
        hand[kind] += 1
    return hand, num_melds


def is_complete(hand: I8, num_melds: int) -> bool:
    readings = np.zeros((MAX_READINGS, 5), np.int8)
    special = num_melds == 0 and (is_seven_pairs(hand) or is_thirteen_orphans(hand))
    return bool(special or read_hand(hand, 4 - num_melds, readings) > 0)


@given(hands_and_melds(13))
@settings(max_examples=300, deadline=None)
def test_a_drawn_tile_lowers_shanten_by_one_or_not_at_all(hand_and_melds: tuple[I8, int]) -> None:
    hand, num_melds = hand_and_melds
    now = shanten(SUITS, hand, num_melds)
    improving = improving_kinds(SUITS, hand, num_melds, now)
    assert 0 <= now <= 8 - 2 * num_melds
    assert improving != 0
    for kind in np.flatnonzero(hand < 4).tolist():
        hand[kind] += 1
        assert shanten(SUITS, hand, num_melds) == now - (improving >> kind & 1)
        hand[kind] -= 1


@given(hands_and_melds(13))
@settings(max_examples=300, deadline=None)
def test_a_hand_waits_for_exactly_the_tiles_that_complete_it(hand_and_melds: tuple[I8, int]) -> None:
    hand, num_melds = hand_and_melds
    waits = waiting_kinds(SUITS, hand, num_melds)
    for kind in np.flatnonzero(hand < 4).tolist():
        hand[kind] += 1
        assert is_complete(hand, num_melds) == bool(waits >> kind & 1)
        hand[kind] -= 1
    assert all(hand[kind] < 4 for kind in range(34) if waits >> kind & 1)


@given(hands_and_melds(14))
@settings(max_examples=300, deadline=None)
def test_a_hand_is_complete_where_shanten_is_minus_one(hand_and_melds: tuple[I8, int]) -> None:
    assert is_complete(*hand_and_melds) == (shanten(SUITS, *hand_and_melds) == -1)


@given(hands_and_melds(13), st.permutations(range(3)), st.permutations(range(7)), st.booleans())
@settings(max_examples=300, deadline=None)
def test_other_suits_other_honours_and_counting_backwards_change_nothing(
    hand_and_melds: tuple[I8, int], suit_order: list[int], honour_order: list[int], is_backwards: bool
) -> None:
    hand, num_melds = hand_and_melds
    numbers = range(8, -1, -1) if is_backwards else range(9)
    order = [*(9 * suit + number for suit in suit_order for number in numbers), *(27 + kind for kind in honour_order)]
    other = hand[order]
    now = shanten(SUITS, hand, num_melds)
    assert shanten(SUITS, other, num_melds) == now
    improving, others = (improving_kinds(SUITS, h, num_melds, now) for h in (hand, other))
    assert [others >> place & 1 for place in range(34)] == [improving >> kind & 1 for kind in order]


def test_a_batch_is_what_the_search_finds_hand_by_hand() -> None:
    hands, melds = random_hands(400, 13, 1)
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
