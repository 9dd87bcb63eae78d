"""What the options of scoring change: pao, limits, yakuman and fu (rules.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest

from suphx.games.riichi import yaku_number
from suphx.games.riichi.rules import Rules, mahjong_soul, rule_flags, tenhou
from suphx.games.riichi.yaku import (
    IS_CHANKAN,
    IS_DOUBLE_RIICHI,
    IS_FIRST_TURN,
    IS_IPPATSU,
    IS_LAST_TILE,
    IS_RIICHI,
    IS_RINSHAN,
    IS_TSUMO,
    base_points,
    pay_win,
)
from suphx.games.riichi.yaku_number import YAKU_NAMES
from tests.games.riichi.builders.hands import EAST, SOUTH, WEST, Score, score
from tests.games.riichi.builders.table_builder import Deal

# tiles with the winning one, the winning tile, melds, circumstances; yaku, han, fu
HANDS: list[tuple[str, str, Sequence[str], int, str, int, int]] = [
    ("123m678p789s23499p", "4p", (), 0, "pinfu", 1, 30),
    ("123m678p789s23499p", "4p", (), IS_TSUMO, "menzen tsumo, pinfu", 2, 20),
    ("123m678p789s23499p", "3p", (), IS_RIICHI, "riichi", 1, 40),  # middle wait: no pinfu
    ("123m678p789s23499p", "3m", (), IS_RIICHI, "riichi", 1, 40),  # edge wait
    ("123m678p789s23499p", "7s", (), IS_RIICHI, "riichi", 1, 40),  # edge wait at the other end
    ("123m678p789s23499p", "9p", (), IS_RIICHI, "riichi", 1, 40),  # pair wait
    ("123m678p789s234p22z", "4p", (), IS_RIICHI, "riichi", 1, 40),  # pair of the seat's wind
    ("123m678p789s234p44z", "4p", (), IS_RIICHI, "riichi, pinfu", 2, 30),  # pair of a guest wind
    ("234m678p678s23455p", "4p", (), IS_RIICHI | IS_IPPATSU, "riichi, ippatsu, pinfu, tanyao", 4, 30),
    ("234m678p678s23455p", "4p", (), IS_DOUBLE_RIICHI, "double riichi, pinfu, tanyao", 4, 30),
    ("678p678s23455p", "4p", ("chi 234m",), 0, "tanyao", 1, 30),
    ("678p678s23455p", "4p", ("chi 234m",), IS_TSUMO, "tanyao", 1, 30),
    ("223344m678p789s55s", "4m", (), 0, "pinfu, iipeikou", 2, 30),
    ("223344m667788p55s", "4m", (), 0, "pinfu, tanyao, ryanpeikou", 5, 30),
    ("222333444m678p55s", "4m", (), IS_TSUMO, "menzen tsumo, tanyao, sanankou", 4, 40),
    ("123m678p789s55z222z", "3m", (), 0, "seat wind south", 1, 50),
    ("123m678p789s55p", "9s", ("pon 111z",), 0, "round wind east", 1, 30),
    ("123m678p99s", "9s", ("pon 555z", "chi 789s"), 0, "haku", 1, 30),
    ("123m678p99s", "8p", ("pon 666z", "chi 789s"), 0, "hatsu", 1, 30),
    ("123m678p99s", "8p", ("pon 777z", "chi 789s"), 0, "chun", 1, 30),
    ("678m99s", "8m", ("pon 555z", "chi 789s", "chi 234p"), IS_CHANKAN, "chankan, haku", 2, 30),
    ("678m99s", "8m", ("ankan 1111m", "chi 789s", "chi 234p"), IS_TSUMO | IS_RINSHAN, "rinshan kaihou", 1, 60),
    ("678m99s", "8m", ("pon 111m", "chi 789s", "chi 234p"), IS_TSUMO | IS_LAST_TILE, "haitei", 1, 30),
    ("678m99s", "8m", ("pon 111m", "chi 789s", "chi 234p"), IS_LAST_TILE, "houtei", 1, 30),
    ("1122m3344p5566s77z", "7z", (), 0, "chiitoitsu", 2, 25),
    ("1122m3344p5566s77z", "7z", (), IS_TSUMO, "menzen tsumo, chiitoitsu", 3, 25),
    ("2288m3344p5566s77s", "7s", (), IS_RIICHI, "riichi, tanyao, chiitoitsu", 4, 25),
    ("1199m1199p1199s77z", "7z", (), 0, "chiitoitsu, honroutou", 4, 25),
    ("123m789m123p99s111z", "1m", (), 0, "round wind east, chanta", 3, 40),
    ("123m789m123p99s", "1m", ("pon 444z",), 0, "chanta", 1, 30),
    ("123m789m123p789s11p", "1m", (), 0, "junchan, pinfu", 4, 30),
    ("123m789m99s789s", "1m", ("chi 123p",), 0, "junchan", 2, 30),
    ("123456789m234p99s", "4p", (), 0, "pinfu, ittsuu", 3, 30),
    ("456789m234p99s", "4p", ("chi 123m",), 0, "ittsuu", 1, 30),
    ("123m123p123s678p99s", "8p", (), 0, "pinfu, sanshoku doujun", 3, 30),
    ("123p123s678p99s", "8p", ("chi 123m",), 0, "sanshoku doujun", 1, 30),
    ("222m222p345s99s", "5s", ("pon 222s",), 0, "sanshoku doukou", 2, 30),
    ("345s99s", "5s", ("ankan 2222m", "minkan 3333p", "kakan 4444z"), 0, "sankantsu", 2, 60),
    ("222m333p99s", "9s", ("pon 444s", "pon 444z"), 0, "toitoi", 2, 40),
    ("222m333p444s678p99s", "8p", (), 0, "sanankou", 2, 50),
    ("222m333p444s999p99s", "9p", (), 0, "toitoi, sanankou", 4, 50),  # the ron's triplet is open
    ("555z666z77z234m678p", "4m", (), 0, "haku, hatsu, shousangen", 4, 50),
    ("111m999m99s", "9s", ("pon 111p", "pon 444z"), 0, "toitoi, honroutou", 4, 50),
    ("123m456m789m11m444z", "1m", (), 0, "ittsuu, honitsu", 5, 40),
    ("123m567m11m444z", "1m", ("chi 345m",), 0, "honitsu", 2, 30),
    ("123m345m567m22299m", "9m", (), 0, "chinitsu", 6, 40),
    ("123m567m22299m", "9m", ("chi 345m",), 0, "chinitsu", 5, 30),
]  # fmt: skip


@pytest.mark.parametrize(("tiles", "win", "melds", "circumstances", "yaku", "han", "fu"), HANDS)
def test_hands(tiles: str, win: str, melds: Sequence[str], circumstances: int, yaku: str, han: int, fu: int) -> None:
    expected = Score({name for name in yaku.split(", ") if name}, han, fu, 0)
    assert score(tiles, win, *melds, circumstances=circumstances) == expected


YAKUMAN: list[tuple[str, str, Sequence[str], int, str]] = [
    ("555666777z234m99s", "4m", (), 0, "daisangen"),
    ("777z234m99s", "4m", ("pon 555z", "minkan 6666z"), 0, "daisangen"),
    ("222m333p444s999p99s", "9s", (), 0, "suuankou tanki"),
    ("222m333p444s999p99s", "9p", (), IS_TSUMO, "suuankou"),
    ("222m333p99s", "9s", ("ankan 4444s", "ankan 9999p"), 0, "suuankou tanki"),
    ("11155566677z", "7z", ("pon 444z",), 0, "tsuuiisou"),
    ("11223344556677z", "7z", (), 0, "tsuuiisou"),
    ("222333444666s66z", "6z", (), 0, "suuankou tanki, ryuuiisou"),
    ("223344s888s66z", "4s", ("pon 666s",), 0, "ryuuiisou"),
    ("111999m11p", "1p", ("pon 999p", "pon 111s"), 0, "chinroutou"),
    ("11123456678999m", "6m", (), 0, "junsei chuuren poutou"),
    ("11123456678999m", "1m", (), 0, "chuuren poutou"),
    ("11112345678999m", "1m", (), 0, "junsei chuuren poutou"),
    ("11112345678999m", "5m", (), IS_TSUMO, "chuuren poutou"),
    ("19m19p19s12345677z", "7z", (), 0, "kokushi musou 13 waits"),
    ("19m19p19s12345677z", "1m", (), 0, "kokushi musou"),
    ("111222333z44m", "4m", ("pon 444z",), 0, "daisuushii"),
    ("111222z33z234m", "4m", ("pon 444z",), 0, "shousuushii"),
    ("55m", "5m", ("ankan 1111m", "minkan 2222p", "kakan 3333s", "ankan 4444z"), 0, "suukantsu"),
]


@pytest.mark.parametrize(("tiles", "win", "melds", "circumstances", "yaku"), YAKUMAN)
def test_yakuman(tiles: str, win: str, melds: Sequence[str], circumstances: int, yaku: str) -> None:
    names = set(yaku.split(", "))
    assert score(tiles, win, *melds, circumstances=circumstances, dora=3) == Score(names, 0, 0, len(names))


def test_the_first_draw_of_the_dealer_is_tenhou_and_of_the_others_chiihou() -> None:
    tiles, first = "123m678p789s23499p", IS_TSUMO | IS_FIRST_TURN
    assert score(tiles, "4p", circumstances=first, seat_wind=EAST).yaku == {"tenhou"}
    assert score(tiles, "4p", circumstances=first, seat_wind=WEST).yaku == {"chiihou"}


def test_every_yaku_but_renhou_stands_in_these_tables() -> None:
    named = {name for *_, yaku, _, _ in HANDS for name in yaku.split(", ")}
    named |= {name for *_, yaku in YAKUMAN for name in yaku.split(", ")} | {"tenhou", "chiihou"}
    winds = {f"{which} wind {wind}" for which in ("seat", "round") for wind in ("east", "south", "west", "north")}
    assert set(YAKU_NAMES) - named - winds == {"renhou"}  # Tenhou does not play it


def test_yakuman_add_up_and_leave_out_all_else() -> None:
    result = score("555666777z111z22z", "2z", circumstances=IS_TSUMO | IS_RIICHI | IS_FIRST_TURN, dora=5)
    assert result.yaku == {"chiihou", "daisangen", "suuankou tanki", "tsuuiisou"}
    assert result.num_yakuman == 4


def test_a_thirteenth_han_is_counted_not_a_yakuman() -> None:
    result = score("123m345m567m22299m", "9m", circumstances=IS_RIICHI, dora=7)
    assert (result.han, result.num_yakuman) == (14, 0)


def test_dora_alone_are_no_yaku() -> None:
    assert score("123m678p99s", "8p", "pon 444z", "chi 789s", dora=8) == Score(set(), 0, 0, 0)


def test_dora_add_han_to_a_yaku() -> None:
    assert score("123m678p789s23499p", "4p", dora=3).han == 4


@pytest.mark.parametrize("wind", range(4))
def test_wind_triplets_count_for_the_seat_and_for_the_round(wind: int) -> None:
    name = ("east", "south", "west", "north")[wind]
    other = 27 + (wind + 1) % 4
    tiles = f"123m678p789s55p{str(wind + 1) * 3}z"
    assert score(tiles, "3m", seat_wind=27 + wind, round_wind=other).yaku == {f"seat wind {name}"}
    assert score(tiles, "3m", seat_wind=other, round_wind=27 + wind).yaku == {f"round wind {name}"}
    both = score(tiles, "3m", seat_wind=27 + wind, round_wind=27 + wind)
    assert both.yaku == {f"seat wind {name}", f"round wind {name}"}
    assert both.han == 2


# fu: 20, +10 closed ron, +2 tsumo, sets, pair, wait; rounded up
@pytest.mark.parametrize(
    ("tiles", "win", "melds", "circumstances", "fu"),
    [
        ("123m678p789s234p11z", "4p", (), IS_RIICHI, 40),  # pair of the round's wind 2
        ("678m55p", "8m", ("pon 222m", "chi 345s", "chi 345p"), 0, 30),  # open triplet of simples 2
        ("678m55p", "8m", ("pon 111z", "chi 345s", "chi 345p"), 0, 30),  # 4
        ("678m55p", "8m", ("minkan 2222m", "chi 345s", "chi 345p"), 0, 30),  # 8
        ("678m55p", "8m", ("kakan 1111z", "chi 345s", "chi 345p"), 0, 40),  # 16
        ("678m55p", "8m", ("ankan 2222m", "chi 345s", "chi 345p"), 0, 40),  # 16
        ("678m55p", "8m", ("ankan 1111z", "chi 345s", "chi 345p"), 0, 60),  # 32
        ("678m55p222m345s345p", "8m", (), IS_RIICHI, 40),  # concealed triplet of simples 4
        ("678m55p111z345s345p", "8m", (), IS_RIICHI, 40),  # 8
        ("678m55p111z345s345p", "1z", (), IS_RIICHI, 40),  # completed by ron: 4
        ("678m55p111z345s345p", "1z", (), IS_RIICHI | IS_TSUMO, 30),  # 8 + 2
        ("55p", "5p", ("ankan 1111z", "ankan 9999m", "ankan 1111s", "chi 345p"), 0, 120),  # 96 + 2
        ("1122m3344p5566s77z", "7z", (), IS_RIICHI | IS_TSUMO, 25),
    ],
)  # fmt: skip
def test_fu(tiles: str, win: str, melds: Sequence[str], circumstances: int, fu: int) -> None:
    assert score(tiles, win, *melds, circumstances=circumstances | IS_LAST_TILE).fu == fu  # the last tile: a yaku


def test_a_pair_of_a_double_wind_is_worth_4_fu() -> None:
    # 20 and the kan's 8 are 28: 2 more still make 30, 4 more make 40.
    melds = ("minkan 2222m", "chi 345s", "chi 345p")
    assert score("678m44z", "8m", *melds, circumstances=IS_LAST_TILE).fu == 30
    assert score("678m11z", "8m", *melds, circumstances=IS_LAST_TILE, seat_wind=EAST).fu == 40
    assert score("678m11z", "8m", *melds, circumstances=IS_LAST_TILE, seat_wind=SOUTH).fu == 30


def test_the_reading_worth_most_is_taken() -> None:
    # Three equal runs, or three concealed triplets.
    assert score("111222333m678p99s", "8p").yaku == {"sanankou"}
    # Seven pairs are worth 2 han, two double runs 3.
    assert score("112233m667788p99s", "8p").yaku == {"pinfu", "ryanpeikou"}
    # 2p is the end of 123p or the pair: pinfu asks for an open wait.
    assert score("234m678p678s22234p", "4p").yaku == {"tanyao", "pinfu"}


def test_last_tile_after_a_kan_is_rinshan_not_haitei() -> None:
    last = IS_TSUMO | IS_RINSHAN | IS_LAST_TILE
    result = score("678m99s", "8m", "ankan 1111m", "chi 789s", "chi 234p", circumstances=last)
    assert result.yaku == {"rinshan kaihou"}


def test_a_yakuman_goes_before_a_counted_one_of_the_same_hand() -> None:
    # Three runs with 13 han and more, or four concealed triplets: the points are equal.
    result = score("111222333m77z", "2m", "ankan 6666z", circumstances=IS_TSUMO | IS_RIICHI, dora=8)
    assert result == Score({"suuankou"}, 0, 0, 1)


DEALER, OTHER = 0, 1
TENHOU = rule_flags(tenhou())

# Points of a ron by another seat than the dealer, and by the dealer (the usual tables, no rounding up to mangan).
RON_POINTS = {
    (1, 30): (1000, 1500),
    (1, 40): (1300, 2000),
    (1, 50): (1600, 2400),
    (1, 60): (2000, 2900),
    (1, 70): (2300, 3400),
    (1, 110): (3600, 5300),
    (2, 25): (1600, 2400),
    (2, 30): (2000, 2900),
    (2, 40): (2600, 3900),
    (2, 110): (7100, 10_600),
    (3, 25): (3200, 4800),
    (3, 30): (3900, 5800),
    (3, 50): (6400, 9600),
    (3, 60): (7700, 11_600),
    (3, 70): (8000, 12_000),
    (4, 25): (6400, 9600),
    (4, 30): (7700, 11_600),
    (4, 40): (8000, 12_000),
    (5, 20): (8000, 12_000),
    (6, 30): (12_000, 18_000),
    (7, 30): (12_000, 18_000),
    (8, 30): (16_000, 24_000),
    (10, 30): (16_000, 24_000),
    (11, 30): (24_000, 36_000),
    (12, 30): (24_000, 36_000),
    (13, 30): (32_000, 48_000),
    (30, 30): (32_000, 48_000),
}

# What the dealer and the others pay for a tsumo.
TSUMO_SHARES = {
    (1, 30): (500, 300),
    (2, 20): (700, 400),
    (2, 30): (1000, 500),
    (3, 20): (1300, 700),
    (3, 25): (1600, 800),
    (4, 20): (2600, 1300),
    (4, 25): (3200, 1600),
    (4, 30): (3900, 2000),
    (5, 30): (4000, 2000),
    (13, 30): (16_000, 8000),
}


@pytest.mark.parametrize(("han", "fu"), list(RON_POINTS))
def test_ron_points(han: int, fu: int) -> None:
    deltas = np.zeros(4, np.int32)
    for winner, expected in zip((OTHER, DEALER), RON_POINTS[han, fu], strict=True):
        assert pay_win(winner, 3, DEALER, base_points(han, fu, 0, TENHOU), deltas) == expected
        assert deltas[winner] == expected
        assert deltas[3] == -expected
        assert np.count_nonzero(deltas) == 2


@pytest.mark.parametrize(("han", "fu"), list(TSUMO_SHARES))
def test_tsumo_shares(han: int, fu: int) -> None:
    of_dealer, of_others = TSUMO_SHARES[han, fu]
    deltas = np.zeros(4, np.int32)
    assert pay_win(2, 2, DEALER, base_points(han, fu, 0, TENHOU), deltas) == of_dealer + 2 * of_others
    assert deltas.tolist() == [-of_dealer, -of_others, of_dealer + 2 * of_others, -of_others]
    assert pay_win(DEALER, DEALER, DEALER, base_points(han, fu, 0, TENHOU), deltas) == 3 * of_dealer
    assert deltas.tolist() == [3 * of_dealer, -of_dealer, -of_dealer, -of_dealer]


def test_yakuman_add_up_without_a_limit() -> None:
    assert [base_points(0, 0, n, TENHOU) for n in (1, 2, 3, 7)] == [8000, 16_000, 24_000, 56_000]


Pao = Literal["whole hand", "its yakuman", "none"]


FED_DRAGONS = "0 5z, 1 pon, 1 1p, 2 6z, 1 pon, 1 5p, 2 7z, 1 pon, 1 9p"


@pytest.mark.parametrize(
    ("pao", "of_tsumo", "of_ron"),
    [
        ("whole hand", [0, 64_000, -64_000, 0], [0, 64_000, -32_000, -32_000]),
        ("its yakuman", [-16_000, 64_000, -40_000, -8000], [0, 64_000, -16_000, -48_000]),
        ("none", [-32_000, 64_000, -16_000, -16_000], [0, 64_000, 0, -64_000]),
    ],
)
def test_the_feeder_of_three_dragons_answers_for_a_hand_that_is_all_honours_too(
    pao: Pao, of_tsumo: list[int], of_ron: list[int]
) -> None:
    for end, deltas in (("tsumogiri 3, 1 tsumo", of_tsumo), ("tsumogiri, 3 1z, 1 ron", of_ron)):
        deal = Deal(["", "1122556677z159p", "", "1z"], draws="5z 6z 7z 8p 8p 8p 1z", rules=Rules(pao=pao))
        deal.play(f"{FED_DRAGONS}, {end}")
        assert deal.deltas() == deltas


@pytest.mark.parametrize(("rules", "points"), [(Rules(), 32_000), (mahjong_soul(), 64_000)])
def test_who_feeds_big_four_winds_answers_for_one_yakuman_or_two(rules: Rules, points: int) -> None:
    deal = Deal(["", "11223344z9s159p5m", "", ""], draws="1z 2z 3z 4z 8p 8p 8p 9s", rules=rules)
    deal.play("0 1z, 1 pon, 1 1p, 2 2z, 1 pon, 1 5p, 2 3z, 1 pon, 1 9p, 2 4z, 1 pon, 1 5m, tsumogiri 3, 1 tsumo")
    assert deal.win_yaku() == {yaku_number.DAISUUSHII}
    assert deal.deltas() == [0, points, -points, 0]


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


LAST_DRAW, RINSHAN_WIN = IS_TSUMO | IS_LAST_TILE, IS_TSUMO | IS_RINSHAN
WIND_PAIR = "222m456m678p11z", "8p", "pon 333s"
DOUBLE_WIND = {"circumstances": LAST_DRAW, "seat_wind": EAST, "round_wind": EAST}
KAN_WIN = "234m678p46599s", "5s", "minkan 2222p"
PINFU = "123m678p789s23499p", "4p"
ALL_HONOURS = "555666777z11z", "1z", "pon 222z"  # and big three dragons
BIG_WINDS = "111222333z55z", "5z", "pon 444z"  # and all honours

# option, a hand and what else ``score`` is told, and by value of the option: which part of the score, and what it is
OPTIONS: list[tuple[str, tuple[str, ...], dict[str, Any], str, dict[Any, int]]] = [
    ("double_kokushi_13_waits", ("119m19p19s1234567z", "1m"), {}, "num_yakuman", {False: 1, True: 2}),
    ("double_kokushi_13_waits", ("119m19p19s1234567z", "9m"), {}, "num_yakuman", {True: 1}),
    ("double_suuankou_tanki", ("111m222p333s444s55p", "5p"), {}, "num_yakuman", {False: 1, True: 2}),
    ("double_suuankou_tanki", ("111m222p333s444s55p", "4s"), {"circumstances": IS_TSUMO}, "num_yakuman", {True: 1}),
    ("double_junsei_chuuren", ("11123455678999m", "5m"), {}, "num_yakuman", {False: 1, True: 2}),
    ("double_junsei_chuuren", ("11123455678999m", "6m"), {}, "num_yakuman", {True: 1}),
    ("double_daisuushii", ("111222333444z55p", "5p"), {}, "num_yakuman", {False: 2, True: 3}),  # and suuankou tanki
    ("yakuman_add_up", ALL_HONOURS, {}, "num_yakuman", {True: 2, False: 1}),
    ("yakuman_add_up", BIG_WINDS, {"more": {"double_daisuushii": True}}, "num_yakuman", {True: 3, False: 2}),
    # 20, tsumo 2, open triplet 2, concealed triplet 4, and the pair
    ("double_wind_pair_fu", WIND_PAIR, DOUBLE_WIND, "fu", {4: 40, 2: 30}),
    ("double_wind_pair_fu", WIND_PAIR, DOUBLE_WIND | {"round_wind": SOUTH}, "fu", {4: 30, 2: 30}),
    ("pinfu_tsumo", PINFU, {"circumstances": IS_TSUMO}, "fu", {True: 20, False: 30}),
    ("pinfu_tsumo", PINFU, {"circumstances": IS_TSUMO}, "han", {True: 2, False: 1}),
    ("pinfu_tsumo", PINFU, {}, "han", {True: 1, False: 1}),
    # 20, open kan of simples 8, middle wait 2, and the tsumo's 2
    ("rinshan_tsumo_fu", KAN_WIN, {"circumstances": RINSHAN_WIN}, "fu", {True: 40, False: 30}),
    ("rinshan_tsumo_fu", KAN_WIN, {"circumstances": LAST_DRAW}, "fu", {True: 40, False: 40}),
    ("open_tanyao", ("678p678s23455p", "4p", "chi 234m"), {}, "han", {True: 1, False: 0}),
    ("open_tanyao", ("234m678p678s23455p", "4p"), {}, "han", {True: 2, False: 2}),  # closed; and pinfu
    ("open_tanyao", ("678p678s23455p", "4p", "ankan 2222m"), {}, "han", {True: 1, False: 1}),
]


@pytest.mark.parametrize(("option", "hand", "others", "part", "expected"), OPTIONS)
def test_an_option_of_scoring_changes_this(
    option: str, hand: tuple[str, ...], others: dict[str, Any], part: str, expected: dict[Any, int]
) -> None:
    told = {name: value for name, value in others.items() if name != "more"}
    for value, found in expected.items():
        rules = Rules(**{option: value, **others.get("more", {})})
        assert getattr(score(*hand, **told, rules=rules), part) == found, value
