from __future__ import annotations

from collections.abc import Sequence

import pytest

from suphx.games.riichi.rules import Rules
from suphx.games.riichi.yaku import (
    IS_CHANKAN,
    IS_DOUBLE_RIICHI,
    IS_FIRST_TURN,
    IS_IPPATSU,
    IS_LAST_TILE,
    IS_RIICHI,
    IS_RINSHAN,
    IS_TSUMO,
)
from suphx.games.riichi.yaku_number import YAKU_NAMES
from tests.games.riichi.builders.hands import EAST, SOUTH, WEST, Score, score

NO_OPEN_TANYAO = Rules(open_tanyao=False)


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


def test_no_yakuman_counts_double_by_its_wait() -> None:
    assert score("222m333p444s999p99s", "9s").num_yakuman == 1
    assert score("19m19p19s12345677z", "7z").num_yakuman == 1
    assert score("11123456678999m", "6m").num_yakuman == 1
    assert score("111222333z44m", "4m", "pon 444z").num_yakuman == 1


def test_a_thirteenth_han_is_counted_not_a_yakuman() -> None:
    result = score("123m345m567m22299m", "9m", circumstances=IS_RIICHI, dora=7)
    assert (result.han, result.num_yakuman) == (14, 0)


def test_dora_alone_are_no_yaku() -> None:
    assert score("123m678p99s", "8p", "pon 444z", "chi 789s", dora=8) == Score(set(), 0, 0, 0)


def test_dora_add_han_to_a_yaku() -> None:
    assert score("123m678p789s23499p", "4p", dora=3).han == 4


def test_open_tanyao_is_an_option() -> None:
    assert score("678p678s23455p", "4p", "chi 234m", rules=NO_OPEN_TANYAO) == Score(set(), 0, 0, 0)
    closed = score("234m678p678s23455p", "4p", rules=NO_OPEN_TANYAO)
    assert "tanyao" in closed.yaku
    assert "tanyao" in score("678p678s23455p", "4p", "ankan 2222m", rules=NO_OPEN_TANYAO).yaku


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
