from __future__ import annotations

import pytest

from suphx.games.riichi import yaku_number
from suphx.games.riichi.table import (
    ANKAN,
    CHI,
    EXHAUSTIVE_DRAW,
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    MINKAN,
    NAGASHI_MANGAN,
    NINE_TERMINALS,
    NINE_TERMINALS_DRAW,
    OWN_TURN,
    PON,
    RIICHI,
    RON,
    TSUMO,
    WIN_RESULT,
)
from suphx.games.riichi.tile import face_name
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


# --- wins


def test_a_tsumo_of_another_seat_takes_double_from_the_dealer_and_honba_from_all() -> None:
    deal = Deal(["", "123456789m1123p", "", ""], draws="7z 4p", honba=1, kyotaku=1, left=20)
    deal.discard(0, "7z")
    deal.act(1, TSUMO)
    dealer, right, opposite, left = deal.deltas()
    assert (dealer + 100) == 2 * (opposite + 100)
    assert opposite == left
    assert right == -dealer - opposite - left + 1000
    assert deal.table["win_loser"][0] == 1


def test_dora_red_fives_and_ura_dora_count_for_a_riichi_win() -> None:
    deal = Deal(["123m067p678s99s34p", "5p", "", ""], draws="7z", dora="8s", ura="5p")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.discard(1, "5p")
    deal.act(0, RON)
    table = deal.table
    assert (table["win_dora"][0], table["win_red"][0], table["win_ura"][0]) == (2, 1, 1)


def test_ura_dora_do_not_count_without_riichi() -> None:
    deal = Deal(["123456789m1123p", "4p", "", ""], draws="7z", dora="9s", ura="3p")
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    deal.act(0, RON)
    assert deal.table["win_ura"][0] == 0


def test_the_last_drawn_tile_is_haitei_and_the_last_discard_houtei() -> None:
    deal = Deal(["", "123456789m1123p", "", ""], draws="7z 4p", left=1)
    deal.discard(0, "7z")
    deal.act(1, TSUMO)
    assert yaku_number.HAITEI in deal.win_yaku()
    deal = Deal(["", "4p", "", "123456789m1123p"], draws="7z 9s", left=1)
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    deal.act(3, RON)
    assert yaku_number.HOUTEI in deal.win_yaku()


# --- pao


def dragons(*, fed_by_kan: bool = False) -> Deal:
    """Return a deal in which seat 2 has fed the third dragon set of seat 1, which waits for 1m and 4m."""
    last = "777z5p" if fed_by_kan else "77z59p"
    deal = Deal(["", f"55z66z{last}1p99s23m", "4m", "4m"], draws="5z 6z 7z 8p 8p 8p 4m", rinshan="1s", honba=1)
    deal.discard(0, "5z")
    deal.act(1, PON)
    deal.discard(1, "1p")
    deal.discard(2, "6z")
    deal.act(1, PON)
    deal.discard(1, "5p")
    deal.discard(2, "7z")
    deal.act(1, MINKAN if fed_by_kan else PON)
    deal.discard(1, "1s" if fed_by_kan else "9p")
    return deal


@pytest.mark.parametrize("fed_by_kan", [False, True])
def test_who_fed_the_third_dragon_pays_the_tsumo_alone_with_honba(fed_by_kan: bool) -> None:
    deal = dragons(fed_by_kan=fed_by_kan)
    deal.tsumogiri(3)
    deal.act(1, TSUMO)
    assert yaku_number.DAISANGEN in deal.win_yaku()
    assert deal.table["win_liable"][0] == 2
    assert deal.deltas() == [0, 32_300, -32_300, 0]


def test_who_fed_the_third_dragon_shares_a_ron_and_pays_the_honba() -> None:
    deal = dragons()
    deal.tsumogiri()
    deal.discard(3, "4m")
    deal.act(1, RON)
    assert deal.deltas() == [0, 32_300, -16_300, -16_000]


def test_who_fed_the_third_dragon_and_deals_in_pays_as_usual() -> None:
    deal = dragons()
    deal.discard(2, "4m")
    deal.act(1, RON)
    assert deal.deltas() == [0, 32_300, -32_300, 0]
    assert deal.table["win_liable"][0] == -1


def test_who_fed_the_fourth_wind_pays_the_tsumo_alone() -> None:
    deal = Deal(["", "11223344z9s159p5m", "", ""], draws="1z 2z 3z 4z 8p 8p 8p 9s")
    deal.discard(0, "1z")
    for given, thrown in (("2z", "1p"), ("3z", "5p"), ("4z", "9p")):
        deal.act(1, PON)
        deal.discard(1, thrown)
        deal.discard(2, given)
    deal.act(1, PON)
    deal.discard(1, "5m")
    deal.tsumogiri(3)
    deal.act(1, TSUMO)
    assert deal.win_yaku() == {yaku_number.DAISUUSHII}
    assert deal.deltas() == [0, 32_000, -32_000, 0]


def test_a_closed_third_set_makes_nobody_liable() -> None:
    deal = Deal(["", "5566777z15p99s23m", "", ""], draws="5z 6z 8p 8p 8p 4m")
    deal.discard(0, "5z")
    deal.act(1, PON)
    deal.discard(1, "1p")
    deal.discard(2, "6z")
    deal.act(1, PON)
    deal.discard(1, "5p")
    deal.tsumogiri(3)
    deal.act(1, TSUMO)
    assert yaku_number.DAISANGEN in deal.win_yaku()
    assert deal.deltas() == [-16_000, 32_000, -8000, -8000]


# --- exhaustive draws


@pytest.mark.parametrize(
    ("tenpai", "deltas"),
    [
        ((), [0, 0, 0, 0]),
        ((0,), [3000, -1000, -1000, -1000]),
        ((1, 2), [-1500, 1500, 1500, -1500]),
        ((0, 1, 3), [1000, 1000, -3000, 1000]),
        ((0, 1, 2, 3), [0, 0, 0, 0]),
    ],
)
def test_tenpai_seats_share_3000_points(tenpai: tuple[int, ...], deltas: list[int]) -> None:
    ready = ["123456789m1123p", "123456789s2399p", "456789m456789s7p", "111222333z444z6z"]
    far = ["147m258p369s1357z", "147m258p369s1357z", "258m369p147s1357z", "369m147p258s1357z"]
    hands = [ready[seat] if seat in tenpai else far[seat] for seat in range(4)]
    deal = Deal(hands, draws="5p 7p 8m 8s", left=3)
    deal.tsumogiri(4)
    assert deal.table["result"] == EXHAUSTIVE_DRAW
    assert deal.table["tenpai"].tolist() == [int(seat in tenpai) for seat in range(4)]
    assert deal.deltas() == deltas


def test_sticks_stay_on_the_table_at_a_draw() -> None:
    deal = Deal(["", "", "", ""], draws="5p 5m 5s 7p", left=3, kyotaku=2)
    deal.tsumogiri(4)
    assert deal.table["kyotaku"] == 2


def test_a_river_of_terminals_and_honours_is_paid_as_a_mangan() -> None:
    deal = Deal(["", "", "", ""], draws="1m 5m 5s 7p", left=3)
    deal.tsumogiri(4)
    assert deal.table["result"] == NAGASHI_MANGAN
    assert deal.deltas() == [12_000, -4000, -4000, -4000]


def test_nagashi_of_two_seats_is_paid_twice_and_nothing_for_tenpai() -> None:
    deal = Deal(["123456789m1123p", "", "", ""], draws="1z 9s 5s 7p", left=3)
    deal.tsumogiri(4)
    assert deal.deltas() == [12_000 - 4000, 8000 - 4000, -6000, -6000]


def test_a_called_discard_ends_the_hope_of_nagashi() -> None:
    deal = Deal(["", "", "11m5p", ""], draws="1m 5s 9p 7p", left=3)
    deal.discard(0, "1m")
    deal.act(2, PON)
    deal.discard(2, "5p")
    deal.tsumogiri(3)
    assert [face_name(int(face)) for face in deal.table["river"][0, :2]] == ["1m", "9p"]
    assert deal.table["result"] == EXHAUSTIVE_DRAW


def test_a_win_on_the_last_discard_leaves_no_nagashi() -> None:
    deal = Deal(["", "", "123456789m1123p", ""], draws="1m 5s 7p 4p", left=3)
    deal.tsumogiri(3)
    deal.discard(3, "4p")
    deal.act(2, RON)
    assert deal.table["num_wins"] == 1


@pytest.mark.parametrize(("call", "held", "count"), [(PON, "55z9m", 3), (MINKAN, "555z", 4)])
def test_each_tile_of_a_called_set_is_a_dora(call: int, held: str, count: int) -> None:
    deal = Deal(["", f"{held}234m678p22s34s", "", ""], draws="5z 2m 5s", rinshan="9m", dora="7z 9p")
    deal.discard(0, "5z")
    deal.act(1, call)
    deal.discard(1, "9m")
    deal.tsumogiri()
    deal.discard(3, "5s")
    deal.act(1, RON)
    assert deal.table["win_dora"][0] == count


@pytest.mark.parametrize(("tile", "count"), [("0p", 1), ("5p", 0)])
def test_the_red_five_that_is_ronned_counts(tile: str, count: int) -> None:
    deal = Deal(["", "234m678p22s234s34p", "", ""], draws=tile)
    deal.discard(0, tile)
    deal.act(1, RON)
    assert deal.table["win_red"][0] == count
