from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.table import PON
from tests.games.riichi.builders.hands import kind, table_with
from tests.games.riichi.features.lookahead.win_chances import WinChances, look_ahead

FAR = "147m258p19s123456z"


def chances(tiles: str, indicator: str = "9s", kyoku: int = 0, pon: str = "") -> WinChances:
    return look_ahead(table_with(tiles, indicator, kyoku, pon=pon), 1)


def test_a_straight_with_two_pairs_waits_for_four_tiles() -> None:
    seen = chances("123456789m1199p5s")
    of_5s = kind("5s")
    # riichi, tsumo, straight; 9p makes 30 fu, 4 han
    assert seen.points[of_5s, 0] == 7_700
    # without riichi by ron: straight alone, 40 fu
    assert seen.called_points[of_5s, 0] == 2_600
    # 136 - 14 - indicator = 121 unseen, of which two 1p and two 9p
    assert seen.chances[of_5s, 0] == pytest.approx(4 / 121)
    assert seen.points[kind("1m"), 0] == 0


def test_points_of_the_dealer_are_half_as_much_again() -> None:
    assert chances("123456789m1199p5s", kyoku=1).points[kind("5s"), 0] == 8_000  # 11,700


def test_dora_count_for_what_they_are_worth_in_the_hand_won() -> None:
    # three dora when the last tile is 9p
    assert chances("123456789m1199p5s", indicator="8p").points[kind("5s"), 0] == 12_000


def test_a_red_five_counts_while_it_stays_in_the_hand() -> None:
    table = table_with("123456789m1199p5s")
    table["red"][1] = 1
    assert look_ahead(table, 1).points[kind("5s"), 0] == 8_000
    table["red"][1] = 4
    assert look_ahead(table, 1).points[kind("5s"), 0] == 7_700


def test_without_riichi_a_hand_needs_a_yaku_of_its_own() -> None:
    of_7z = kind("7z")
    closed = chances("123m456789p11p23s7z", indicator="5z")
    assert (closed.points[of_7z, 0], closed.called_points[of_7z, 0]) == (2_600, 1_000)  # pinfu
    own_wind = chances("123m456p11p23s7z", indicator="5z", pon="2z")
    assert (own_wind.points[of_7z, 0], own_wind.called_points[of_7z, 0]) == (1_000, 1_000)
    none = chances("123m456p11p23s7z", indicator="5z", pon="4z")
    assert (none.points[of_7z, 0], none.called_points[of_7z, 0]) == (0, 0)


def test_nothing_is_in_reach_of_a_bad_hand() -> None:
    seen = chances(FAR)
    assert not seen.points[:, :2].any()


def test_without_a_discard_all_kinds_have_the_same_numbers() -> None:
    seen = chances("123456789m1199p")
    assert (seen.points == seen.points[0]).all()
    assert seen.chances[20, 0] == pytest.approx(4 / 122)


def test_a_claim_can_bring_the_hand_one_tile_from_a_win() -> None:
    table = table_with("123m456119p23s77z", indicator="5z")
    table["claimed_face"] = kind("7z")
    table["river"][0, 0], table["river_length"][0] = kind("7z"), 1
    now, after = look_ahead(table, 1), look_ahead(table, 1, PON)
    assert not now.points[:, 0].any()
    assert now.points[:, 1].all()
    assert np.flatnonzero(after.points[:, 0]).tolist() == [kind("9p")]
    assert after.points[kind("9p"), 0] == after.called_points[kind("9p"), 0] == 1_000
    # 1s and 4s: 136 - 13 - indicator - the claimed tile = 121 unseen
    assert after.chances[kind("9p"), 0] == pytest.approx(8 / 121)


def test_an_unknown_seat_is_an_error() -> None:
    with pytest.raises(ValueError, match="no seat 4: use 0 to 3"):
        look_ahead(table_with(FAR), 4)
