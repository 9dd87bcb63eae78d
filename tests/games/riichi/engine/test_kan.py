"""Kans, their dora and rinshan tiles, and robbing them (kyoku.py)."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.tile import ANKAN_MELD, KAKAN_MELD
from suphx.games.riichi import yaku_number
from suphx.games.riichi.table import ANKAN, KAKAN, MINKAN, OWN_TURN, PASS, PON, RIICHI, ROB_KAN, RON, TSUMO
from suphx.games.riichi.tile import face_name
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal, bits_of

TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight


def test_the_dora_of_a_closed_kan_turns_over_at_once() -> None:
    deal = Deal(["1111m258p258s123z", "", "", ""], draws="9p")
    deal.act(0, ANKAN)
    assert deal.table["num_dora"] == 2
    assert deal.table["meld_type"][0, 0] == ANKAN_MELD
    assert deal.num_left == 68  # the rinshan tile shortens the wall


def test_the_dora_of_an_open_kan_turns_over_at_the_discard_and_counts_for_its_ron() -> None:
    deal = Deal([TENPAI, "555z4p", "", ""], draws="5z", dora="1z3p", rinshan="9s")
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
    deal = Deal(["44p258m2589s1234z", TENPAI, "", ""], draws="1s 7z 7z 4p 6z 5s 5s 4p", rinshan="8s")
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
    deal = Deal([TENPAI, "", "", ""], draws="7z 6z 5z 2s 4z 3s 9s 8s 7s")
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
