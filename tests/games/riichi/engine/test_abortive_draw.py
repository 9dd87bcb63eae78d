"""Deals that end without a winner before the wall does (kyoku.py)."""

from __future__ import annotations

import pytest

from suphx.games.riichi.table.action import (
    ANKAN,
    CHI,
    MINKAN,
    NINE_TERMINALS,
    PON,
    RIICHI,
    RON,
)
from suphx.games.riichi.table.table import (
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    NINE_TERMINALS_DRAW,
    OWN_TURN,
    WIN_RESULT,
)
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal

TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight
STRAIGHT = "123456789s2399p"  # waits for 1p and 4p
WINDS = "111222333z444z6z"  # waits for 6z


def test_nine_terminals_end_the_deal_when_declared() -> None:
    deal = Deal(["19m19p19s123z2358m", "", "", ""], draws="5p")
    deal.act(0, NINE_TERMINALS)
    assert deal.table["result"] == NINE_TERMINALS_DRAW
    assert deal.deltas() == [0, 0, 0, 0]


def first_round(tiles: list[str]) -> Deal:
    deal = Deal(tiles, draws="258m2p")
    for seat, tile in enumerate(tiles):
        deal.discard(seat, tile)
    deal.pass_all()
    return deal


def test_four_equal_winds_as_first_discards_end_the_deal() -> None:
    assert first_round(["2z"] * 4).table["result"] == FOUR_WINDS_DRAW


@pytest.mark.parametrize("tiles", [["5z"] * 4, ["2z", "2z", "2z", "3z"], ["1m"] * 4])
def test_other_first_discards_do_not(tiles: list[str]) -> None:
    assert first_round(tiles).table["phase"] == OWN_TURN


def test_four_winds_after_a_call_do_not_count() -> None:
    deal = Deal(["2z5m", "2z46m", "2z", "2z"], draws="9m 258s")
    deal.discard(0, "5m")
    deal.act(1, CHI + 1)
    deal.discard(1, "2z")
    for seat in (2, 3, 0):
        deal.discard(seat, "2z")
    deal.pass_all()
    assert deal.table["phase"] == OWN_TURN


def test_four_winds_after_a_closed_kan_do_not_count() -> None:
    deal = Deal(["2z", "1111m2z", "2z", "2z"], draws="9m 258s 3p")
    deal.discard(0, "2z")
    deal.act(1, ANKAN + kind("1m"))
    for seat in (1, 2, 3):
        deal.discard(seat, "2z")
    deal.pass_all()
    assert deal.table["river_length"].tolist() == [1, 1, 1, 1]
    assert deal.table["phase"] == OWN_TURN


def test_the_fourth_riichi_ends_the_deal_after_its_stick_is_paid() -> None:
    deal = Deal([TENPAI, STRAIGHT, "456789m456789s7p", WINDS], draws="7z 7z 5z 5z")
    for seat, tile in enumerate(["7z", "7z", "5z", "5z"]):
        deal.pass_all()
        deal.act(seat, RIICHI)
        deal.discard(seat, tile)
    deal.pass_all()
    assert deal.table["result"] == FOUR_RIICHI_DRAW
    assert deal.table["kyotaku"] == 4
    assert deal.table["scores"].tolist() == [24_000] * 4


def test_the_fourth_riichi_tile_can_be_ronned() -> None:
    deal = Deal([TENPAI, STRAIGHT, "456789m456789s7p", WINDS], draws="7z 7z 5z 4p")
    for seat, tile in enumerate(["7z", "7z", "5z", "4p"]):
        deal.pass_all()
        deal.act(seat, RIICHI)
        deal.discard(seat, tile)
    deal.act(0, RON)
    deal.pass_all()  # seat 1 could win by it as well
    assert deal.table["result"] == WIN_RESULT
    assert deal.table["win_deltas"][0, 0] == deal.table["win_points"][0] + 3000


def test_four_kans_of_two_seats_end_the_deal_after_the_discard() -> None:
    deal = Deal(["1111m2222m147p19s", "3333m4444m147p28s", "", ""], draws="5z 6z", rinshan="7z 3s 7z 3z")
    deal.act(0, ANKAN + kind("1m"))
    deal.act(0, ANKAN + kind("2m"))
    deal.discard(0, "5z")
    deal.pass_all()
    deal.act(1, ANKAN + kind("3m"))
    deal.act(1, ANKAN + kind("4m"))
    assert deal.table["phase"] == OWN_TURN
    deal.discard(1, "6z")
    deal.pass_all()
    assert deal.table["result"] == FOUR_KANS_DRAW


def test_the_discard_after_the_fourth_kan_of_two_seats_can_be_won_but_not_called() -> None:
    hands = ["1111m2222m147p19s", "3333m4444m147p28s", "66z258p258s12345z", "123456789p111s6z"]
    deal = Deal(hands, draws="5z 6z", rinshan="7z 3s 7z 3z")
    deal.act(0, ANKAN + kind("1m"))
    deal.act(0, ANKAN + kind("2m"))
    deal.discard(0, "5z")
    deal.act(1, ANKAN + kind("3m"))
    deal.act(1, ANKAN + kind("4m"))
    deal.discard(1, "6z")
    assert not deal.is_offered(2, PON)
    assert deal.is_offered(3, RON)
    deal.pass_all()
    assert deal.table["result"] == FOUR_KANS_DRAW


def test_four_kans_of_one_seat_play_on_and_a_fifth_is_refused() -> None:
    deal = Deal(["1111m2222m3333m4m", "0555p666s", "", "88p"], draws="4m 6s 8p", rinshan="4m 4m 7z 5z")
    for tile in ("1m", "2m", "3m", "4m"):
        deal.act(0, ANKAN + kind(tile))
    deal.discard(0, "5z")
    deal.pass_all()
    assert deal.table["phase"] == OWN_TURN
    assert not deal.is_offered(1, ANKAN + kind("5p"))
    deal.discard(1, "6s")
    deal.discard(2, "8p")
    assert deal.is_offered(3, PON)


def test_an_open_fifth_kan_is_refused() -> None:
    deal = Deal(["1111m2222m3333m4m", "9s", "", "555z"], draws="4m", rinshan="4m 4m 7z 5z")
    for tile in ("1m", "2m", "3m", "4m"):
        deal.act(0, ANKAN + kind(tile))
    deal.discard(0, "5z")
    assert deal.is_offered(3, PON)
    assert not deal.is_offered(3, MINKAN)
