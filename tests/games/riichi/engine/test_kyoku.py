from __future__ import annotations

import numpy as np

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import PON_MELD
from suphx.games.riichi import yaku_number
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.rules import RULE_VALUES
from suphx.games.riichi.table import (
    ANKAN,
    CALLED_FLAG,
    CHI,
    PON,
    PON_RED,
    RIICHI,
    RIICHI_FLAG,
    RON,
    TABLE,
    TRIPLE_RON_DRAW,
    TSUMO,
    TSUMOGIRI_FLAG,
    WIN_RESULT,
)
from suphx.games.riichi.tile import face_name
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal


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
