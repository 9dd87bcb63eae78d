from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from suphx.games.riichi.legal import chi_forbidden
from suphx.games.riichi.rules import rule_flags, tenhou
from suphx.games.riichi.table import CHI, NINE_TERMINALS, PON, RIICHI
from suphx.games.riichi.tile import format_faces, parse_faces, parse_kinds
from tests.games.riichi.builders.table_builder import Deal, bits_of

TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight
NINE = "19m19p19s123z2358m"

# hands, draws, moves and what is offered on the way; other arguments of Deal
OFFERS: dict[str, tuple[Sequence[str], str, str, dict[str, Any]]] = {
    "riichi with 1,000 points": ([TENPAI], "7z", "0 may riichi", {"scores": (1000, 25_000, 25_000, 25_000)}),
    "no riichi below them": ([TENPAI], "7z", "0 may not riichi", {"scores": (900, 25_000, 25_000, 25_000)}),
    "riichi with four tiles in the wall": ([TENPAI], "7z", "0 may riichi", {"left": 4}),
    "no riichi with three": ([TENPAI], "7z", "0 may not riichi", {"left": 3}),
    "no riichi far from tenpai": (["123456789m159p5z"], "7z", "0 may not riichi", {}),
    "no riichi with a pair too few": (["123456789m159p5z"], "5z", "0 may not riichi", {}),
    "riichi with a discard that leaves tenpai": (["123456789m125p5z"], "5z", "0 may riichi", {}),
    "no riichi with an open hand": (
        ["123456m789p11z55z"], "7z 5z 6s 6s 6s 7z", "0 7z, 1 5z, 0 pon, 0 1z, tsumogiri 3, 0 may not riichi", {},
    ),
    "riichi after a closed kan": (
        ["1111m456789p12s7z"], "7z", "0 ankan 1m, 0 may riichi", {"rinshan": "5z"},
    ),
    "no call after riichi": (
        ["111m456789p1155z"], "7z 1m 6s 6s 7z", "0 riichi, 0 7z, 1 1m, 0 may not pon, 0 may not minkan", {},
    ),
    "a kan before the last tile": (["1111m258p258s123z"], "9p", "0 may ankan 1m", {"left": 1}),
    "no kan on the last tile": (["1111m258p258s123z"], "9p", "0 may not ankan 1m", {"left": 0}),
    "an added kan needs a pon of the same kind": (
        ["77z123m456m789m55p"], "1s 7z 2s 2s 2s 7z",
        "0 1s, 1 7z, 0 pon, 0 may not kakan 7z, 0 1m, tsumogiri 3, 0 may kakan 7z, 0 may not ankan 7z", {},
    ),
    "nine terminals on the first turn only": (
        ["", NINE], "6z 5p 5p 5s 4s 5p",
        "0 6z, all pass, 1 may nine terminals, tsumogiri 4, 1 may not nine terminals", {},
    ),
    "no nine terminals after a call": (
        ["", NINE, "", "66z5m"], "6z 7m 5p", "0 6z, 3 pon, 3 5m, tsumogiri, 1 may not nine terminals", {},
    ),
    "chi is for the next seat only and pon for every seat": (
        ["", "12m", "33m", "12m"], "3m", "0 3m, 1 may chi high, 2 may pon, 3 may not chi high", {},
    ),
    "honours make no runs": (["", "67z"], "5z", "0 5z, 1 may not chi low", {}),
    "the red five is a choice of its own": (
        ["", "055p46p1111s2222s"], "5p", "0 5p, 1 may pon, 1 may pon red, 1 may minkan", {},
    ),
    "a pair that holds the red five": (
        ["", "05p34p1111s2222s7z"], "5p", "0 5p, 1 may not pon, 1 may pon red", {},
    ),
    "a run with either five": (
        ["", "05p4p1111s2222s67z"], "6p", "0 6p, 1 may chi high, 1 may chi high red", {},
    ),
    "no call on the last discard but ron": (
        [TENPAI, "4p", "44p"], "7z 4p", "0 7z, 1 4p, 2 may not pon, 0 may ron", {"left": 1},
    ),
    "a missed win forbids ron on all waits in the same turn": (
        [TENPAI, "4p", "1p", "4p"], "7z 6z 6z 5z",
        "0 7z, 1 4p, 0 may ron, 0 pass, 2 1p, 0 may not ron, 3 4p, 0 may not ron", {},
    ),
    "the next own discard ends the furiten of a missed win": (
        [TENPAI, "44p"], "7z 6z 6z 5z 9s 3s", "0 7z, 1 4p, 0 pass, tsumogiri 2, 0 9s, 1 4p, 0 may ron", {},
    ),
    "a missed win after riichi forbids ron for good but not tsumo": (
        [TENPAI, "44p"], "7z 6z 6z 5z 9s 3s 2s 2s 1p",
        "0 riichi, 0 7z, 1 4p, 0 pass, tsumogiri 3, 1 4p, 0 may not ron, tsumogiri 2, 0 may tsumo", {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("hands", "draws", "moves", "others"), OFFERS.values(), ids=OFFERS)
def test_what_is_offered(hands: Sequence[str], draws: str, moves: str, others: dict[str, Any]) -> None:
    Deal(hands, draws=draws, **others).play(moves)


def test_the_riichi_discard_must_leave_tenpai_and_later_ones_are_the_drawn_tile() -> None:
    deal = Deal([TENPAI, "", "", ""], draws="7z 1m 6s 6s 7z")
    deal.act(0, RIICHI)
    assert deal.legal() == ["discard 1p", "tsumogiri"]
    deal.play("0 7z, tsumogiri 3")
    assert deal.legal() == ["tsumogiri"]


def test_a_closed_kan_after_riichi_needs_the_drawn_tile_and_the_same_waits() -> None:
    def after_riichi(hand: str, first_draw: str, drawn: str, offered: str) -> None:
        deal = Deal([hand, "", "", ""], draws=f"{first_draw} 6z 6z 6z {drawn}")
        deal.play(f"0 riichi, 0 {first_draw}, tsumogiri 3, 0 {offered} ankan 1m")

    after_riichi("111m456789p22s34s", "7z", "1m", "may")
    after_riichi("1112m456789p123s", "7z", "1m", "may not")  # 111m is part of the wait
    after_riichi("111123m456p22s34s", "7z", "9s", "may not")  # not the drawn tile


@pytest.mark.parametrize(("hand", "is_allowed"), [(NINE, True), ("19m19p19s12z23588m", False)])
def test_nine_kinds_of_terminals_and_honours_are_needed(hand: str, is_allowed: bool) -> None:
    assert Deal([hand, "", "", ""], draws="5p").is_offered(0, NINE_TERMINALS) == is_allowed


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
    deal.play("0 1m, 1 chi low")
    assert deal.legal()[:2] == ["discard 1p", "discard 4p"]
    deal.play("1 1p, tsumogiri 3")
    assert "discard 1m" in deal.legal()  # only the discard of the claim is bound


@pytest.mark.parametrize(("rest", "is_allowed"), [("11144m", False), ("11145m", True)])
def test_a_chi_that_would_leave_no_discard_is_not_offered(rest: str, is_allowed: bool) -> None:
    deal = Deal(["", f"23m{rest}55z66z77z", "", ""], draws="5z 6z 9s 9s 1m")
    deal.play("0 5z, 1 pon, 1 7z, 2 6z, 1 pon, 1 7z, tsumogiri 2, 0 1m")
    assert deal.is_offered(1, CHI) == is_allowed
    assert deal.is_offered(1, PON)


def test_a_wait_in_the_own_river_forbids_ron_on_all_waits() -> None:
    Deal([TENPAI, "1p", "", ""], draws="4p 7z").play("0 may tsumo, 0 4p, 1 1p, 0 may not ron")


def test_a_win_without_yaku_is_not_offered_but_makes_furiten() -> None:
    no_yaku = "123m456m78p99p"  # with an open set of 4z waits for 6p and 9p without any yaku
    deal = Deal(["6p", f"{no_yaku}44z5s", "", "6p"], draws="4z 6p")
    deal.play("0 4z, 1 pon, 1 5s, 2 6p")
    deal.play("1 may not ron")
    assert deal.table["missed_win"][1] == 1


def test_a_pass_of_a_win_is_the_only_other_choice_of_a_riichi_hand() -> None:
    deal = Deal([TENPAI, "4p", "", ""], draws="7z 6z")
    deal.play("0 riichi, 0 7z, 1 4p")
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
