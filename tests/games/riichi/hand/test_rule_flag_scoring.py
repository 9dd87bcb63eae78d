"""What the options of scoring change: pao, limits, yakuman and fu (rules.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest

from suphx.games.riichi.rules import Rules, mahjong_soul, rule_flags
from suphx.games.riichi.table import PON, RON, TSUMO
from suphx.games.riichi.yaku import IS_LAST_TILE, IS_RINSHAN, IS_TSUMO, base_points
from tests.games.riichi.builders.hands import EAST, SOUTH, score
from tests.games.riichi.builders.table_builder import Deal

Pao = Literal["whole hand", "its yakuman", "none"]


def fed_dragons(pao: Pao) -> Deal:
    """Return a deal in which seat 2 fed the third dragon of seat 1, whose hand will be all honours too."""
    deal = Deal(["", "1122556677z159p", "", "1z"], draws="5z 6z 7z 8p 8p 8p 1z", rules=Rules(pao=pao))
    deal.discard(0, "5z")
    for given, thrown in (("6z", "1p"), ("7z", "5p"), ("", "9p")):
        deal.act(1, PON)
        deal.discard(1, thrown)
        if given:
            deal.discard(2, given)
    return deal


@pytest.mark.parametrize(
    ("pao", "deltas"),
    [
        ("whole hand", [0, 64_000, -64_000, 0]),
        ("its yakuman", [-16_000, 64_000, -40_000, -8000]),
        ("none", [-32_000, 64_000, -16_000, -16_000]),
    ],
)
def test_the_feeder_answers_for_a_tsumo(pao: Pao, deltas: list[int]) -> None:
    deal = fed_dragons(pao)
    deal.tsumogiri(3)
    deal.act(1, TSUMO)
    assert deal.deltas() == deltas


@pytest.mark.parametrize(
    ("pao", "deltas"),
    [
        ("whole hand", [0, 64_000, -32_000, -32_000]),
        ("its yakuman", [0, 64_000, -16_000, -48_000]),
        ("none", [0, 64_000, 0, -64_000]),
    ],
)
def test_the_feeder_answers_for_a_ron(pao: Pao, deltas: list[int]) -> None:
    deal = fed_dragons(pao)
    deal.tsumogiri()
    deal.discard(3, "1z")
    deal.act(1, RON)
    assert deal.deltas() == deltas


def test_who_feeds_big_four_winds_answers_for_two_yakuman_where_they_count_double() -> None:
    deal = Deal(["", "11223344z9s159p5m", "", ""], draws="1z 2z 3z 4z 8p 8p 8p 9s", rules=mahjong_soul())
    deal.discard(0, "1z")
    for given, thrown in (("2z", "1p"), ("3z", "5p"), ("4z", "9p")):
        deal.act(1, PON)
        deal.discard(1, thrown)
        deal.discard(2, given)
    deal.act(1, PON)
    deal.discard(1, "5m")
    deal.tsumogiri(3)
    deal.act(1, TSUMO)
    assert deal.deltas() == [0, 64_000, -64_000, 0]


# --- points


@pytest.mark.parametrize(("rounds_up", "points"), [(True, 2000), (False, 1920)])
def test_4_han_30_fu_and_3_han_60_fu_may_be_a_mangan(rounds_up: bool, points: int) -> None:
    rules = rule_flags(Rules(kiriage_mangan=rounds_up))
    assert base_points(4, 30, 0, rules) == base_points(3, 60, 0, rules) == points
    assert base_points(3, 50, 0, rules) == 1600
    assert base_points(4, 40, 0, rules) == 2000


@pytest.mark.parametrize(("counts", "points"), [(True, 8000), (False, 6000)])
def test_13_han_may_be_no_yakuman(counts: bool, points: int) -> None:
    rules = rule_flags(Rules(counted_yakuman=counts))
    assert base_points(13, 30, 0, rules) == base_points(30, 30, 0, rules) == points
    assert base_points(12, 30, 0, rules) == 6000


DOUBLE_HANDS = {
    "double_kokushi_13_waits": ("119m19p19s1234567z", "1m"),
    "double_suuankou_tanki": ("111m222p333s444s55p", "5p"),
    "double_junsei_chuuren": ("11123455678999m", "5m"),
    "double_daisuushii": ("111222333444z55p", "5p"),
}


@pytest.mark.parametrize("option", list(DOUBLE_HANDS))
def test_some_waits_are_worth_two_yakuman(option: str) -> None:
    tiles, win = DOUBLE_HANDS[option]
    switched_on: dict[str, Any] = {option: True}
    others = 1 if option == "double_daisuushii" else 0  # which is four concealed triplets as well
    assert score(tiles, win).num_yakuman == 1 + others
    assert score(tiles, win, rules=replace(Rules(), **switched_on)).num_yakuman == 2 + others


def test_the_same_hands_with_other_waits_are_worth_one() -> None:
    rules = mahjong_soul()
    assert score("119m19p19s1234567z", "9m", rules=rules).num_yakuman == 1
    assert score("111m222p333s444s55p", "4s", circumstances=IS_TSUMO, rules=rules).num_yakuman == 1
    assert score("11123455678999m", "6m", rules=rules).num_yakuman == 1


def test_several_yakuman_may_be_paid_as_one() -> None:
    all_honours = ("555666777z11z", "1z", "pon 222z")  # and big three dragons
    assert score(*all_honours).num_yakuman == 2
    assert score(*all_honours, rules=Rules(yakuman_add_up=False)).num_yakuman == 1
    winds = ("111222333z55z", "5z", "pon 444z")  # big four winds and all honours
    assert score(*winds, rules=Rules(yakuman_add_up=False, double_daisuushii=True)).num_yakuman == 2


@pytest.mark.parametrize(("fu", "expected"), [(4, 40), (2, 30)])
def test_a_pair_of_both_winds_has_4_or_2_fu(fu: Any, expected: int) -> None:
    # 20, tsumo 2, open triplet 2, concealed triplet 4, and the pair
    hand = ("222m456m678p11z", "8p", "pon 333s")
    rules = Rules(double_wind_pair_fu=fu)
    last_draw = IS_TSUMO | IS_LAST_TILE
    assert score(*hand, seat_wind=EAST, round_wind=EAST, circumstances=last_draw, rules=rules).fu == expected
    assert score(*hand, seat_wind=EAST, round_wind=SOUTH, circumstances=last_draw, rules=rules).fu == 30


@pytest.mark.parametrize(("counts", "fu", "has_pinfu"), [(True, 20, True), (False, 30, False)])
def test_pinfu_may_not_count_with_a_tsumo(counts: bool, fu: int, has_pinfu: bool) -> None:
    rules = Rules(pinfu_tsumo=counts)
    tsumo = score("123m678p789s23499p", "4p", circumstances=IS_TSUMO, rules=rules)
    assert (tsumo.fu, "pinfu" in tsumo.yaku) == (fu, has_pinfu)
    assert "pinfu" in score("123m678p789s23499p", "4p", rules=rules).yaku


@pytest.mark.parametrize(("has_fu", "expected"), [(True, 40), (False, 30)])
def test_a_rinshan_win_may_have_no_fu_for_the_tsumo(has_fu: bool, expected: int) -> None:
    # 20, open kan of simples 8, middle wait 2, and the tsumo's 2
    rules = Rules(rinshan_tsumo_fu=has_fu)
    hand = ("234m678p46599s", "5s", "minkan 2222p")
    assert score(*hand, circumstances=IS_TSUMO | IS_RINSHAN, rules=rules).fu == expected
    assert score(*hand, circumstances=IS_TSUMO | IS_LAST_TILE, rules=rules).fu == 40
