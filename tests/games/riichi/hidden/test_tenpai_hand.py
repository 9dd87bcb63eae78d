from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.hand.shanten import standard_shanten
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.hidden.tenpai_hand import TENPAI_WEIGHTS, choose, count_tenpai, draw_tenpai, weigh_tenpai
from suphx.games.riichi.hidden.tenpai_table import load_tenpai_table
from suphx.games.riichi.table.tile import parse_kinds
from suphx.kernel.record import I64
from tests.games.riichi.twins.tenpai_twin import Kinds, kinds_held, surprise, tenpai_hands

HIDDEN = [
    ("111222333444555m1p", 0),
    ("1112345678999m12356p", 0),
    ("23455567m456p33788s", 0),
    ("11223344556677m2288p", 0),
    ("1199m19p19s12345677z", 0),
    ("19m19p19s1234567z12m99p", 0),
    ("112233m445566p7788s1z", 0),
    ("1111222233334444m", 0),
    ("11112233m555z678p67s1z", 1),
    ("123456m777p5556z1234s", 2),
    ("1123456789m11223344p55567z", 3),
    ("11119m5p1277z", 4),
]


def weights_of(left: I64) -> Any:
    weights = np.zeros(1, TENPAI_WEIGHTS)[0]
    weigh_tenpai(load_tenpai_table(), weights, left)
    return weights


def draw(tiles: str, num_melds: int, number: int) -> list[Kinds]:
    weights = weights_of(np.bincount(parse_kinds(tiles), minlength=34))
    hand, state = np.zeros(34, np.int8), np.array([1])
    found = []
    for _ in range(number):
        assert draw_tenpai(load_tenpai_table(), load_suits(), weights, num_melds, hand, state)
        found.append(kinds_held(hand))
    return found


def is_both(kinds: Kinds) -> bool:
    """Tell whether a tenpai hand is one of seven pairs and one of sets."""
    hand = np.bincount(kinds, minlength=34).astype(np.int8)
    return bool((hand == 2).sum() == 6 and len(kinds) == 13 and standard_shanten(load_suits(), hand, 0) == 0)


@pytest.mark.parametrize(("tiles", "num_melds"), HIDDEN)
def test_hands_are_counted_as_by_trying_all_sets_of_tiles(tiles: str, num_melds: int) -> None:
    weights = weights_of(np.bincount(parse_kinds(tiles), minlength=34))
    ways = tenpai_hands(tiles, num_melds)
    twice = sum(number for kinds, number in ways.items() if is_both(kinds))
    assert count_tenpai(load_tenpai_table(), weights, num_melds) == sum(ways.values()) + twice


@pytest.mark.parametrize(("tiles", "num_melds"), HIDDEN)
def test_every_set_of_tiles_is_equally_likely(tiles: str, num_melds: int) -> None:
    ways = tenpai_hands(tiles, num_melds)
    draws = draw(tiles, num_melds, 6000)
    assert abs(surprise(draws, ways)) < 4
    assert len(ways) < 600
    assert set(draws) == set(ways)


def test_random_hidden_tiles_are_counted_exactly() -> None:
    rng = np.random.default_rng(4)
    for num_melds in (0, 0, 0, 1, 2, 3, 4):
        numbers = np.bincount(rng.choice(40, 17, replace=False) // 4, minlength=10)
        tiles = "".join(f"{i + 1}m" if i < 9 else "5z" for i in range(10) for _ in range(numbers[i]))
        weights = weights_of(np.bincount(parse_kinds(tiles), minlength=34))
        ways = tenpai_hands(tiles, num_melds)
        twice = sum(number for kinds, number in ways.items() if is_both(kinds))
        assert count_tenpai(load_tenpai_table(), weights, num_melds) == sum(ways.values()) + twice


def test_seven_pairs_and_thirteen_orphans_are_drawn_where_only_they_are_ready() -> None:
    assert {len(set(kinds)) for kinds in draw("1133m1155p1177s2255z9m", 0, 500)} == {7}
    assert {len(set(kinds)) for kinds in draw("19m19p19s1234567z1z5m", 0, 500)} == {12, 13}
    assert len(set(draw("19m19p19s123456z66z5m", 0, 500))) == 1


def test_a_wait_of_which_the_hand_holds_all_four_is_no_wait() -> None:
    assert set(draw("1111234567m222z", 1, 100)) <= set(tenpai_hands("1111234567m222z", 1))
    assert tenpai_hands("1111m", 3) == {}
    weights = weights_of(np.bincount(parse_kinds("1111m"), minlength=34))
    assert count_tenpai(load_tenpai_table(), weights, 3) == 0


def test_no_ready_hand_is_told() -> None:
    weights = weights_of(np.bincount(parse_kinds("147m147p147s1234z"), minlength=34))
    hand, state = np.zeros(34, np.int8), np.array([1])
    assert not draw_tenpai(load_tenpai_table(), load_suits(), weights, 0, hand, state)


def test_a_single_tile_beside_four_melds_is_ready() -> None:
    weights = weights_of(np.full(34, 4))
    assert count_tenpai(load_tenpai_table(), weights, 4) == 136


def test_hands_of_the_whole_set_of_tiles_are_ready_and_of_all_forms() -> None:
    weights = weights_of(np.full(34, 4))
    hand, state = np.zeros(34, np.int8), np.array([1])
    is_sevens = []
    for _ in range(5000):
        draw_tenpai(load_tenpai_table(), load_suits(), weights, 0, hand, state)
        is_sevens.append((hand == 2).sum() == 6)
    # Six kinds of 34 twice, and one of the others.
    share = comb(34, 6) * 6**6 * 28 * 4 / count_tenpai(load_tenpai_table(), weights, 0)
    assert abs(np.mean(is_sevens) - share) < 4 * np.sqrt(share / 5000)


@pytest.mark.parametrize("number", range(5))
def test_ways_to_choose_tiles(number: int) -> None:
    assert [choose(number, size) for size in range(5)] == [comb(number, size) for size in range(5)]
