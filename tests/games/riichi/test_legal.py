from __future__ import annotations

import pytest

from suphx.games.riichi.legal import chi_forbidden
from suphx.games.riichi.rules import rule_flags, tenhou
from suphx.games.riichi.table import (
    ANKAN,
    CHI,
    CHI_RED,
    KAKAN,
    MINKAN,
    NINE_TERMINALS,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
)
from suphx.games.riichi.tile import format_faces, parse_faces, parse_kinds
from tests.games.riichi.builders.table_builder import Deal, bits_of

TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight
CHUN = 33


# --- riichi


@pytest.mark.parametrize(("points", "is_allowed"), [(1000, True), (900, False), (0, False)])
def test_riichi_is_refused_under_1000_points(points: int, is_allowed: bool) -> None:
    deal = Deal([TENPAI, "", "", ""], draws="7z", scores=(points, 25_000, 25_000, 25_000))
    assert deal.is_offered(0, RIICHI) == is_allowed


@pytest.mark.parametrize(("left", "is_allowed"), [(4, True), (3, False)])
def test_riichi_needs_four_tiles_in_the_wall(left: int, is_allowed: bool) -> None:
    assert Deal([TENPAI, "", "", ""], draws="7z", left=left).is_offered(0, RIICHI) == is_allowed


def test_riichi_needs_tenpai_after_the_discard() -> None:
    assert not Deal(["123456789m159p5z", "", "", ""], draws="7z").is_offered(0, RIICHI)
    assert not Deal(["123456789m159p5z", "", "", ""], draws="5z").is_offered(0, RIICHI)
    assert Deal(["123456789m125p5z", "", "", ""], draws="5z").is_offered(0, RIICHI)


def test_riichi_needs_a_closed_hand() -> None:
    deal = Deal(["123456m789p11z55z", "", "", ""], draws="7z 5z 6s 6s 6s 7z")
    deal.discard(0, "7z")
    deal.discard(1, "5z")
    deal.act(0, PON)
    deal.discard(0, "1z")
    deal.tsumogiri(3)
    assert deal.table["actor"] == 0
    assert deal.table["waits"][0] == bits_of("1z")
    assert not deal.is_offered(0, RIICHI)


def test_a_closed_kan_leaves_the_hand_closed() -> None:
    deal = Deal(["1111m456789p12s7z", "", "", ""], draws="7z", rinshan="5z")
    deal.act(0, ANKAN)
    assert deal.is_offered(0, RIICHI)


def test_the_riichi_discard_must_leave_tenpai() -> None:
    deal = Deal([TENPAI, "", "", ""], draws="7z")
    deal.act(0, RIICHI)
    assert deal.legal() == ["discard 1p", "tsumogiri"]


def test_after_riichi_only_the_drawn_tile_is_discarded_and_nothing_is_claimed() -> None:
    deal = Deal(["111m456789p1155z", "", "", ""], draws="7z 1m 6s 6s 7z")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.discard(1, "1m")
    assert not deal.is_offered(0, PON)
    assert not deal.is_offered(0, MINKAN)
    deal.tsumogiri(2)
    assert deal.legal() == ["tsumogiri"]


# --- kans


@pytest.mark.parametrize(("left", "is_allowed"), [(1, True), (0, False)])
def test_no_kan_on_the_last_tile(left: int, is_allowed: bool) -> None:
    deal = Deal(["1111m258p258s123z", "", "", ""], draws="9p", left=left)
    assert deal.is_offered(0, ANKAN) == is_allowed


def test_a_closed_kan_after_riichi_needs_the_drawn_tile_and_the_same_waits() -> None:
    def after_riichi(hand: str, first_draw: str, drawn: str) -> Deal:
        deal = Deal([hand, "", "", ""], draws=f"{first_draw} 6z 6z 6z {drawn}")
        deal.act(0, RIICHI)
        deal.discard(0, first_draw)
        deal.tsumogiri(3)
        return deal

    assert after_riichi("111m456789p22s34s", "7z", "1m").is_offered(0, ANKAN)
    assert not after_riichi("1112m456789p123s", "7z", "1m").is_offered(0, ANKAN)  # 111m is part of the wait
    assert not after_riichi("111123m456p22s34s", "7z", "9s").is_offered(0, ANKAN)  # not the drawn tile


def test_an_added_kan_needs_a_pon_of_the_same_kind() -> None:
    deal = Deal(["77z123m456m789m55p", "", "", ""], draws="1s 7z 2s 2s 2s 7z")
    deal.discard(0, "1s")
    deal.discard(1, "7z")
    deal.act(0, PON)
    assert not deal.is_offered(0, KAKAN + CHUN)
    deal.discard(0, "1m")
    deal.tsumogiri(3)
    assert deal.is_offered(0, KAKAN + CHUN)
    assert not deal.is_offered(0, ANKAN + CHUN)


# --- nine terminals


@pytest.mark.parametrize(("hand", "is_allowed"), [("19m19p19s123z2358m", True), ("19m19p19s12z23588m", False)])
def test_nine_kinds_of_terminals_and_honours_are_needed(hand: str, is_allowed: bool) -> None:
    assert Deal([hand, "", "", ""], draws="5p").is_offered(0, NINE_TERMINALS) == is_allowed


def test_nine_terminals_only_on_the_first_turn() -> None:
    deal = Deal(["", "19m19p19s123z2358m", "", ""], draws="6z 5p 5p 5s 4s 5p")
    deal.discard(0, "6z")
    deal.pass_all()
    assert deal.is_offered(1, NINE_TERMINALS)
    deal.tsumogiri(4)
    assert deal.table["actor"] == 1
    assert not deal.is_offered(1, NINE_TERMINALS)


def test_no_nine_terminals_after_a_call() -> None:
    deal = Deal(["", "19m19p19s123z2358m", "", "66z5m"], draws="6z 7m 5p")
    deal.discard(0, "6z")
    deal.act(3, PON)
    deal.discard(3, "5m")
    deal.tsumogiri()
    assert deal.table["actor"] == 1
    assert not deal.is_offered(1, NINE_TERMINALS)


# --- claims


def test_chi_is_for_the_next_seat_only_and_pon_for_every_seat() -> None:
    deal = Deal(["", "12m", "33m", "12m"], draws="3m")
    deal.discard(0, "3m")
    assert deal.is_offered(1, CHI + 2)
    assert deal.is_offered(2, PON)
    assert not deal.is_offered(3, CHI + 2)


@pytest.mark.parametrize(
    ("own", "claimed", "positions"),
    [
        ("12m", "3m", {2}),
        ("13m", "2m", {1}),
        ("23m", "1m", {0}),
        ("1245m", "3m", {0, 1, 2}),
        ("89p", "7p", {0}),
        ("9m1p", "8m", set()),
    ],
)
def test_every_run_with_the_claimed_tile_is_offered(own: str, claimed: str, positions: set[int]) -> None:
    hand = format_faces((parse_faces(own) + parse_faces("1447s1234567z"))[:13])
    deal = Deal(["", hand, "", ""], draws=claimed)
    deal.discard(0, claimed)
    assert {i for i in range(3) if deal.is_offered(1, CHI + i)} == positions


def test_honours_make_no_runs() -> None:
    deal = Deal(["", "67z", "", ""], draws="5z")
    deal.discard(0, "5z")
    assert not any(deal.is_offered(1, CHI + i) for i in range(6))


def test_the_red_five_is_a_choice_of_its_own() -> None:
    deal = Deal(["", "055p46p1111s2222s", "", ""], draws="5p")
    deal.discard(0, "5p")
    assert deal.is_offered(1, PON)
    assert deal.is_offered(1, PON_RED)
    assert deal.is_offered(1, MINKAN)
    deal = Deal(["", "05p34p1111s2222s7z", "", ""], draws="5p")
    deal.discard(0, "5p")
    assert not deal.is_offered(1, PON)  # the pair holds the red five
    assert deal.is_offered(1, PON_RED)
    deal = Deal(["", "05p4p1111s2222s67z", "", ""], draws="6p")
    deal.discard(0, "6p")
    assert deal.is_offered(1, CHI + 2)
    assert deal.is_offered(1, CHI_RED + 2)


def test_red_and_plain_fives_are_different_discards() -> None:
    deal = Deal(["05p123456789m12s", "", "", ""], draws="5s")
    assert {"discard 5p", "discard 0p", "tsumogiri"} <= set(deal.legal())
    assert "discard 5s" not in deal.legal()  # it is the drawn tile
    deal = Deal(["05p123456789m12s", "", "", ""], draws="5p")
    assert {"discard 5p", "discard 0p", "tsumogiri"} <= set(deal.legal())


def test_no_call_on_the_last_discard_but_ron() -> None:
    deal = Deal([TENPAI, "4p", "44p", ""], draws="7z 4p", left=1)
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    assert not deal.is_offered(2, PON)
    assert deal.is_offered(0, RON)


# --- kuikae


@pytest.mark.parametrize(
    ("claimed", "position", "forbidden"),
    [
        ("1m", 0, "14m"),
        ("2m", 1, "2m"),
        ("3m", 2, "3m"),
        ("4m", 2, "14m"),
        ("6s", 0, "69s"),
        ("7s", 0, "7s"),
        ("9p", 2, "69p"),
    ],
)
def test_kuikae_forbids_the_same_tile_and_the_other_end_of_the_run(claimed: str, position: int, forbidden: str) -> None:
    assert chi_forbidden(parse_kinds(claimed)[0], position, rule_flags(tenhou())) == bits_of(forbidden)


def test_after_chi_neither_the_same_tile_nor_the_other_end_is_discarded() -> None:
    deal = Deal(["", "1234m147p147s123z", "", ""], draws="1m")
    deal.discard(0, "1m")
    deal.act(1, CHI)
    assert deal.legal()[:2] == ["discard 1p", "discard 4p"]
    deal.discard(1, "1p")
    deal.tsumogiri(3)
    assert "discard 1m" in deal.legal()  # only the discard of the claim is bound


def test_after_pon_the_same_tile_is_not_discarded() -> None:
    deal = Deal(["", "333m147p147s1234z", "", ""], draws="3m")
    deal.discard(0, "3m")
    deal.act(1, PON)
    assert "discard 3m" not in deal.legal()


@pytest.mark.parametrize(("rest", "is_allowed"), [("11144m", False), ("11145m", True)])
def test_a_chi_that_would_leave_no_discard_is_not_offered(rest: str, is_allowed: bool) -> None:
    deal = Deal(["", f"23m{rest}55z66z77z", "", ""], draws="5z 6z 9s 9s 1m")
    deal.discard(0, "5z")
    deal.act(1, PON)
    deal.discard(1, "7z")
    deal.discard(2, "6z")
    deal.act(1, PON)
    deal.discard(1, "7z")
    deal.tsumogiri(2)
    deal.discard(0, "1m")
    assert deal.is_offered(1, CHI) == is_allowed
    assert deal.is_offered(1, PON)


# --- furiten and wins


def test_a_wait_in_the_own_river_forbids_ron_on_all_waits() -> None:
    deal = Deal([TENPAI, "1p", "", ""], draws="4p 7z")
    assert deal.is_offered(0, TSUMO)
    deal.discard(0, "4p")
    deal.discard(1, "1p")
    assert not deal.is_offered(0, RON)


def test_a_missed_win_forbids_ron_on_all_waits_in_the_same_turn() -> None:
    deal = Deal([TENPAI, "4p", "1p", "4p"], draws="7z 6z 6z 5z")
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    assert deal.is_offered(0, RON)
    deal.act(0, PASS)
    deal.discard(2, "1p")
    assert not deal.is_offered(0, RON)
    deal.discard(3, "4p")
    assert not deal.is_offered(0, RON)


def test_the_next_own_discard_ends_the_furiten_of_a_missed_win() -> None:
    deal = Deal([TENPAI, "44p", "", ""], draws="7z 6z 6z 5z 9s 3s")
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    deal.act(0, PASS)
    deal.tsumogiri(2)
    deal.discard(0, "9s")
    deal.discard(1, "4p")
    assert deal.is_offered(0, RON)


def test_a_missed_win_after_riichi_forbids_ron_for_good_but_not_tsumo() -> None:
    deal = Deal([TENPAI, "44p", "", ""], draws="7z 6z 6z 5z 9s 3s 2s 2s 1p")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    deal.act(0, PASS)
    deal.tsumogiri(3)
    deal.discard(1, "4p")
    assert not deal.is_offered(0, RON)
    deal.tsumogiri(2)
    assert deal.table["actor"] == 0
    assert deal.is_offered(0, TSUMO)


def test_a_win_without_yaku_is_not_offered_but_makes_furiten() -> None:
    no_yaku = "123m456m78p99p"  # with an open set of 4z waits for 6p and 9p without any yaku
    deal = Deal(["6p", f"{no_yaku}44z5s", "", "6p"], draws="4z 6p")
    deal.discard(0, "4z")
    deal.act(1, PON)
    deal.discard(1, "5s")
    deal.discard(2, "6p")
    assert not deal.is_offered(1, RON)
    assert deal.table["missed_win"][1] == 1


def test_a_pass_of_a_win_is_the_only_other_choice_of_a_riichi_hand() -> None:
    deal = Deal([TENPAI, "4p", "", ""], draws="7z 6z")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    assert deal.legal() == ["ron", "pass"]


@pytest.mark.parametrize(
    ("held", "drawn", "discards"),
    [
        ("5p", "0p", {"5p", "tsumogiri"}),  # the drawn red five leaves as what was drawn only
        ("0p", "5p", {"0p", "tsumogiri"}),
        ("50p", "5p", {"5p", "0p", "tsumogiri"}),
        ("55p", "0p", {"5p", "tsumogiri"}),
    ],
)
def test_each_five_has_one_way_to_leave(held: str, drawn: str, discards: set[str]) -> None:
    names = Deal([held + "123456789m1z"], draws=drawn).legal()
    assert {name.removeprefix("discard ") for name in names if name.endswith(("5p", "0p", "tsumogiri"))} == discards
