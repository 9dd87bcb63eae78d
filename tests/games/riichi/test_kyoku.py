"""Kans, their dora and rinshan tiles, and robbing them (kyoku.py)."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import KAKAN_MELD, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi import yaku_number
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.rules import RULE_VALUES
from suphx.games.riichi.table import TABLE
from suphx.games.riichi.tile import face_name
from tests.games.riichi.builders.table_builder import Deal, bits_of

TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight


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
    deal.play("0 2m, tsumogiri 3, 0 9p")
    table = deal.table
    assert table["river_length"].tolist() == [2, 1, 1, 1]
    assert [face_name(face) for face in table["river"][0][:2]] == ["2m", "9p"]
    assert table["river_flags"][0][:2].tolist() == [0, codes.TSUMOGIRI_FLAG]


def test_a_call_ends_ippatsu() -> None:
    deal = Deal([TENPAI, "", "66z4p"], draws="7z 6z")
    deal.play("0 riichi, 0 7z, 1 6z, 2 pon, 2 4p, 0 ron")
    assert yaku_number.IPPATSU not in deal.win_yaku()


def test_a_pon_goes_before_a_chi_wherever_both_sit() -> None:
    deal = Deal(["55m", "", "46m", ""], draws="9m 5m")
    deal.play("0 9m, 1 5m, 2 chi middle, 0 pon")
    assert deal.table["num_melds"].tolist() == [1, 0, 0, 0]
    assert deal.table["meld_type"][0, 0] == PON_MELD


def before_added_kan(*, has_riichi: bool) -> Deal:
    """Return a deal in which seat 0 may add 4p to its pon, and seat 1 waits for 4p."""
    deal = Deal(["44p258m2589s1234z", TENPAI, "", ""], draws="1s 7z 7z 4p 6z 5s 5s 4p", rinshan="8s")
    deal.play("0 1s, tsumogiri 2, 3 4p, 0 pon, 1 pass, 0 9s, all pass")
    if has_riichi:
        deal.act(1, codes.RIICHI)
    deal.play("1 6z, tsumogiri 2, 0 kakan 4p")
    return deal


def test_an_added_kan_is_robbed() -> None:
    deal = before_added_kan(has_riichi=False)
    assert deal.table["phase"] == codes.ROB_KAN
    deal.act(1, codes.RON)
    assert yaku_number.CHANKAN in deal.win_yaku()
    assert deal.table["win_loser"][0] == 0
    assert deal.table["num_dora"] == 1
    assert sum(deal.deltas()) == 0


def test_what_a_seat_lets_pass_is_kept_until_its_own_discard_and_from_riichi_on() -> None:
    deal = Deal([TENPAI, "", "", ""], draws="7z 6z 5z 2s 4z 3s 9s 8s 7s")
    deal.play("0 7z, tsumogiri 3")
    assert deal.table["passed_kinds"].tolist() == [bits_of(text) for text in ("6z5z2s", "5z2s", "2s", "")]
    deal.play("0 riichi, 0 4z, tsumogiri 3, 0 7s, all pass")
    assert deal.table["passed_kinds"].tolist() == [bits_of(text) for text in ("3s9s8s", "9s8s7s", "8s7s", "7s")]


def test_robbing_a_kan_keeps_ippatsu() -> None:
    deal = before_added_kan(has_riichi=True)
    deal.act(1, codes.RON)
    assert {yaku_number.RIICHI, yaku_number.IPPATSU, yaku_number.CHANKAN} <= deal.win_yaku()


@pytest.mark.parametrize("answer", [codes.RON, codes.PASS])
def test_the_mask_of_a_robbed_kan_does_not_outlive_it(answer: int) -> None:
    deal = before_added_kan(has_riichi=False)
    assert set(np.flatnonzero(deal.table["legal"])) == {codes.RON, codes.PASS}
    deal.act(1, answer)
    if answer == codes.RON:
        assert deal.table["num_legal"] == 0
        assert not deal.table["legal"].any()
    else:
        assert not deal.table["legal"][codes.RON :].any()
        deal.discard(0, "8s")
        # The seat that let the kan pass is in furiten until its discard: the same tile gives it no ron either.
        assert not deal.is_offered(1, codes.RON)


def test_a_kan_that_nobody_robs_stands_and_its_dora_waits_for_the_discard() -> None:
    deal = before_added_kan(has_riichi=True)
    deal.act(1, codes.PASS)
    table = deal.table
    assert table["phase"] == codes.OWN_TURN
    assert table["actor"] == 0
    assert table["meld_type"][0, 0] == KAKAN_MELD
    assert face_name(table["drawn"]) == "8s"
    assert table["ippatsu"].tolist() == [0, 0, 0, 0]
    assert table["missed_win"][1] == 2
    assert table["passed_kinds"][1] & bits_of("4p") == bits_of("4p")
    assert table["num_dora"] == 1
    deal.discard(0, "8s")
    assert table["num_dora"] == 2
