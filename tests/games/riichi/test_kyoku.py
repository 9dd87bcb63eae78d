"""Kans, their dora and rinshan tiles, and robbing them (kyoku.py)."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, KAKAN_MELD, PON_MELD
from suphx.games.riichi import yaku_number
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.rules import RULE_VALUES
from suphx.games.riichi.table import (
    ANKAN,
    CALLED_FLAG,
    CHI,
    KAKAN,
    MINKAN,
    OWN_TURN,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RIICHI_FLAG,
    ROB_KAN,
    RON,
    TABLE,
    TRIPLE_RON_DRAW,
    TSUMO,
    TSUMOGIRI_FLAG,
    WIN_RESULT,
)
from suphx.games.riichi.tile import face_name
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal, bits_of


def test_a_new_deal_keeps_nothing_of_the_one_before() -> None:
    fresh, other = Deal([""], draws="1z"), Deal([""], draws="1z")
    names = TABLE.names or ()
    kept = {*(RULE_VALUES.names or ()), "scores", "kyoku", "honba", "kyotaku", "wall", "wall_seed", "placement"}
    kept |= {"num_kyoku", "num_decisions", "has_draw_lanes"}  # of the game
    for name in set(names) - kept:
        other.table[name] = 1
    start_kyoku(other.tables[0], load_suits())
    for name in names:
        assert np.array_equal(other.table[name], fresh.table[name]), name


TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight
STRAIGHT = "123456789s2399p"  # waits for 1p and 4p
DRAGON = "555z345678s56p99m"  # waits for 4p and 7p
WINDS = "111222333z444z6z"  # waits for 6z


# --- the deal


def test_each_seat_gets_thirteen_tiles_and_the_dealer_draws() -> None:
    hands = ["1111m555z2222s34p", "", "", ""]
    for dealer in range(4):
        deal = Deal(hands, kyoku=dealer, draws="7z")
        sizes = deal.table["hand"].sum(axis=1).tolist()
        assert sizes == [14 if seat == dealer else 13 for seat in range(4)]
        assert deal.table["actor"] == dealer
        assert face_name(deal.table["drawn"]) == "7z"
        assert deal.table["hand"][0][0] == 4
        assert deal.num_left == 69


def test_turns_go_round_and_rivers_keep_what_was_discarded() -> None:
    deal = Deal(["258m", "", "", ""], draws="7z 6z 5z 5s 9p")
    deal.discard(0, "2m")
    deal.tsumogiri(3)
    deal.discard(0, "9p")
    table = deal.table
    assert table["river_length"].tolist() == [2, 1, 1, 1]
    assert [face_name(face) for face in table["river"][0][:2]] == ["2m", "9p"]
    assert table["river_flags"][0][:2].tolist() == [0, TSUMOGIRI_FLAG]


# --- riichi


def test_the_stick_is_paid_when_nobody_wins_by_the_discard() -> None:
    deal = Deal([TENPAI, "", "", ""], draws="7z", kyotaku=1)
    deal.act(0, RIICHI)
    assert deal.table["scores"][0] == 25_000
    deal.discard(0, "7z")
    deal.pass_all()
    assert deal.table["scores"][0] == 24_000
    assert deal.table["kyotaku"] == 2
    assert deal.table["river_flags"][0, 0] & RIICHI_FLAG


def test_the_stick_is_not_paid_when_the_discard_is_ronned() -> None:
    deal = Deal([TENPAI, "123456789s78p55m", "", ""], draws="9p")
    deal.act(0, RIICHI)
    deal.discard(0, "9p")
    deal.act(1, RON)
    points = int(deal.table["win_points"][0])
    assert deal.table["scores"].tolist() == [25_000 - points, 25_000 + points, 25_000, 25_000]
    assert deal.table["kyotaku"] == 0


def test_the_stick_is_paid_before_the_discard_is_called() -> None:
    deal = Deal([TENPAI, "77z", "", ""], draws="7z")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.act(1, PON)
    assert deal.table["scores"][0] == 24_000


def test_riichi_on_the_first_turn_is_double_riichi() -> None:
    deal = Deal([TENPAI, "4p", "", ""], draws="7z")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    deal.act(0, RON)
    assert {yaku_number.DOUBLE_RIICHI, yaku_number.IPPATSU} <= deal.win_yaku()
    assert yaku_number.RIICHI not in deal.win_yaku()


def test_a_call_before_the_first_turn_leaves_single_riichi() -> None:
    deal = Deal(["6z", TENPAI, "4p", "66z5m"], draws="6z 7m 7z")
    deal.discard(0, "6z")
    deal.act(3, PON)
    deal.discard(3, "5m")
    deal.tsumogiri()
    deal.act(1, RIICHI)
    deal.discard(1, "7z")
    deal.discard(2, "4p")
    deal.act(1, RON)
    assert yaku_number.RIICHI in deal.win_yaku()
    assert yaku_number.DOUBLE_RIICHI not in deal.win_yaku()


def after_riichi(draws: str, **others: str) -> Deal:
    """Return a deal in which seat 0 has declared riichi."""
    deal = Deal([TENPAI, *(others.get(name, "") for name in ("right", "opposite", "left"))], draws=f"7z {draws}")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    return deal


def test_ippatsu_lasts_until_the_next_own_discard() -> None:
    deal = after_riichi("6z 6z 6z 4p")
    deal.tsumogiri(3)
    deal.act(0, TSUMO)
    assert yaku_number.IPPATSU in deal.win_yaku()
    deal = after_riichi("6z 6z 6z 5z 4p")
    deal.tsumogiri(4)
    deal.discard(1, "4p")
    deal.act(0, RON)
    assert yaku_number.IPPATSU not in deal.win_yaku()


def test_a_call_ends_ippatsu() -> None:
    deal = after_riichi("6z", opposite="66z4p")
    deal.discard(1, "6z")
    deal.act(2, PON)
    deal.discard(2, "4p")
    deal.act(0, RON)
    assert yaku_number.IPPATSU not in deal.win_yaku()


def test_a_closed_kan_ends_ippatsu() -> None:
    deal = after_riichi("9s", right="999s4p")
    deal.act(1, ANKAN + kind("9s"))
    deal.discard(1, "4p")
    deal.act(0, RON)
    assert yaku_number.IPPATSU not in deal.win_yaku()


# --- claims


def test_a_pon_goes_before_a_chi_whoever_is_asked_first() -> None:
    deal = Deal(["", "12m", "", "33m"], draws="3m")
    deal.discard(0, "3m")
    deal.act(1, CHI + 2)
    deal.act(3, PON)
    assert deal.table["actor"] == 3
    assert deal.table["num_melds"].tolist() == [0, 0, 0, 1]
    assert deal.table["river_flags"][0, 0] & CALLED_FLAG


def test_a_ron_goes_before_a_pon() -> None:
    deal = Deal(["", "44p", TENPAI, ""], draws="4p")
    deal.discard(0, "4p")
    deal.act(1, PON)
    deal.act(2, RON)
    assert deal.table["result"] == WIN_RESULT
    assert deal.table["win_seat"][0] == 2


def test_a_claim_skips_the_seats_between() -> None:
    deal = Deal(["", "", "", "33m5z"], draws="3m 9p")
    deal.discard(0, "3m")
    deal.act(3, PON)
    deal.discard(3, "5z")
    deal.pass_all()
    assert deal.table["actor"] == 0
    assert face_name(deal.table["drawn"]) == "9p"


def test_a_meld_keeps_its_tile_its_giver_and_its_red_five() -> None:
    deal = Deal(["", "", "05p", ""], draws="5p")
    deal.discard(0, "5p")
    deal.act(2, PON_RED)
    table = deal.table
    assert (table["meld_kind"][2, 0], table["meld_from"][2, 0], table["meld_red"][2, 0]) == (kind("5p"), 0, 1)
    assert table["red"][2] == 0
    assert table["hand"][2].sum() == 11


def test_two_rons_both_win_and_honba_and_sticks_go_to_the_first_in_turn() -> None:
    deal = Deal(["", DRAGON, STRAIGHT, ""], draws="4p", honba=2, kyotaku=3)
    deal.discard(0, "4p")
    deal.act(1, RON)
    deal.act(2, RON)
    table = deal.table
    assert table["num_wins"] == 2
    assert table["win_seat"][:2].tolist() == [1, 2]
    first, second = table["win_points"][:2].tolist()
    assert table["win_deltas"][0].tolist() == [-first - 600, first + 600 + 3000, 0, 0]
    assert table["win_deltas"][1].tolist() == [-second, 0, second, 0]
    assert table["kyotaku"] == 0


def test_three_rons_are_an_abortive_draw() -> None:
    deal = Deal(["", TENPAI, STRAIGHT, DRAGON.replace("99m", "77z")], draws="4p", kyotaku=1)
    deal.discard(0, "4p")
    for seat in (1, 2, 3):
        deal.act(seat, RON)
    assert deal.table["result"] == TRIPLE_RON_DRAW
    assert deal.deltas() == [0, 0, 0, 0]
    assert deal.table["kyotaku"] == 1


def test_a_pon_goes_before_a_chi_wherever_both_sit() -> None:
    deal = Deal(["55m", "", "46m", ""], draws="9m 5m")
    deal.discard(0, "9m")
    deal.discard(1, "5m")
    deal.act(2, CHI + 1)
    deal.act(0, PON)
    assert deal.table["num_melds"].tolist() == [1, 0, 0, 0]
    assert deal.table["meld_type"][0, 0] == PON_MELD


KAN_TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight


def test_the_dora_of_a_closed_kan_turns_over_at_once() -> None:
    deal = Deal(["1111m258p258s123z", "", "", ""], draws="9p")
    deal.act(0, ANKAN)
    assert deal.table["num_dora"] == 2
    assert deal.table["meld_type"][0, 0] == ANKAN_MELD
    assert deal.num_left == 68  # the rinshan tile shortens the wall


def test_the_dora_of_an_open_kan_turns_over_at_the_discard_and_counts_for_its_ron() -> None:
    deal = Deal([KAN_TENPAI, "555z4p", "", ""], draws="5z", dora="1z3p", rinshan="9s")
    deal.discard(0, "5z")
    deal.act(1, MINKAN)
    assert deal.table["num_dora"] == 1
    deal.discard(1, "4p")
    assert deal.table["num_dora"] == 2
    deal.act(0, RON)
    assert deal.table["win_dora"][0] == 1


def test_the_dora_of_an_open_kan_does_not_count_for_the_rinshan_win() -> None:
    deal = Deal(["5z", "555z123456m2399p", "", ""], draws="1s", dora="1z3p", rinshan="4p")
    deal.discard(0, "5z")
    deal.act(1, MINKAN)
    deal.act(1, TSUMO)
    assert deal.table["num_dora"] == 1
    assert yaku_number.RINSHAN_KAIHOU in deal.win_yaku()
    assert deal.table["win_dora"][0] == 0


def test_a_second_kan_turns_over_the_dora_of_the_first() -> None:
    deal = Deal(["5z", "555z1111m2399p", "", ""], draws="1s", rinshan="9s 8s")
    deal.discard(0, "5z")
    deal.act(1, MINKAN)
    deal.act(1, ANKAN)
    assert deal.table["num_dora"] == 3


def test_rinshan_tiles_come_in_their_order() -> None:
    deal = Deal(["1111m2222m3333m4m", "", "", ""], draws="4m", rinshan="4m 4m 7z 5z")
    drawn = []
    for tile in ("1m", "2m", "3m", "4m"):
        deal.act(0, ANKAN + kind(tile))
        drawn.append(face_name(deal.table["drawn"]))
    assert drawn == ["4m", "4m", "7z", "5z"]
    assert deal.table["num_dora"] == 5


def before_added_kan(*, has_riichi: bool) -> Deal:
    """Return a deal in which seat 0 may add 4p to its pon, and seat 1 waits for 4p."""
    deal = Deal(["44p258m2589s1234z", KAN_TENPAI, "", ""], draws="1s 7z 7z 4p 6z 5s 5s 4p", rinshan="8s")
    deal.discard(0, "1s")
    deal.tsumogiri(2)
    deal.discard(3, "4p")
    deal.act(0, PON)
    deal.act(1, PASS)
    deal.discard(0, "9s")
    deal.pass_all()
    if has_riichi:
        deal.act(1, RIICHI)
    deal.discard(1, "6z")
    deal.tsumogiri(2)
    deal.act(0, KAKAN + kind("4p"))
    return deal


def test_an_added_kan_is_robbed() -> None:
    deal = before_added_kan(has_riichi=False)
    assert deal.table["phase"] == ROB_KAN
    deal.act(1, RON)
    assert yaku_number.CHANKAN in deal.win_yaku()
    assert deal.table["win_loser"][0] == 0
    assert deal.table["num_dora"] == 1
    assert sum(deal.deltas()) == 0


def test_what_a_seat_lets_pass_is_kept_until_its_own_discard_and_from_riichi_on() -> None:
    deal = Deal([KAN_TENPAI, "", "", ""], draws="7z 6z 5z 2s 4z 3s 9s 8s 7s")
    deal.discard(0, "7z")
    deal.tsumogiri(3)
    assert deal.table["passed_kinds"].tolist() == [bits_of(text) for text in ("6z5z2s", "5z2s", "2s", "")]
    deal.act(0, RIICHI)
    deal.discard(0, "4z")
    deal.tsumogiri(3)
    deal.discard(0, "7s")
    deal.pass_all()
    assert deal.table["passed_kinds"].tolist() == [bits_of(text) for text in ("3s9s8s", "9s8s7s", "8s7s", "7s")]


def test_robbing_a_kan_keeps_ippatsu() -> None:
    deal = before_added_kan(has_riichi=True)
    deal.act(1, RON)
    assert {yaku_number.RIICHI, yaku_number.IPPATSU, yaku_number.CHANKAN} <= deal.win_yaku()


@pytest.mark.parametrize("answer", [RON, PASS])
def test_the_mask_of_a_robbed_kan_does_not_outlive_it(answer: int) -> None:
    deal = before_added_kan(has_riichi=False)
    assert set(np.flatnonzero(deal.table["legal"])) == {RON, PASS}
    deal.act(1, answer)
    if answer == RON:
        assert deal.table["num_legal"] == 0
        assert not deal.table["legal"].any()
    else:
        assert not deal.table["legal"][RON:].any()
        deal.discard(0, "8s")
        # The seat that let the kan pass is in furiten until its discard: the same tile gives it no ron either.
        assert not deal.is_offered(1, RON)


def test_a_kan_that_nobody_robs_stands_and_its_dora_waits_for_the_discard() -> None:
    deal = before_added_kan(has_riichi=True)
    deal.act(1, PASS)
    table = deal.table
    assert table["phase"] == OWN_TURN
    assert table["actor"] == 0
    assert table["meld_type"][0, 0] == KAKAN_MELD
    assert face_name(table["drawn"]) == "8s"
    assert table["ippatsu"].tolist() == [0, 0, 0, 0]
    assert table["missed_win"][1] == 2
    assert table["passed_kinds"][1] & bits_of("4p") == bits_of("4p")
    assert table["num_dora"] == 1
    deal.discard(0, "8s")
    assert table["num_dora"] == 2


def test_thirteen_orphans_do_not_rob_a_closed_kan() -> None:
    deal = Deal(["1111m258p258s444z", "9m19p19s1234567z1p", "", ""], draws="9p")
    deal.act(0, ANKAN)
    assert deal.table["phase"] == OWN_TURN
    assert deal.table["actor"] == 0
