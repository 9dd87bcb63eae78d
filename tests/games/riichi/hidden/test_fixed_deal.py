from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.hidden import deal_hand
from suphx.games.riichi.rules import Rules, tenhou, tenhou_no_red, tonpuu
from suphx.games.riichi.table import OWN_TURN
from suphx.games.riichi.tile import face_name, parse_faces
from tests.games.riichi.invariants import check_invariants

HAND = "0m55m34p067s11222z"


@pytest.mark.parametrize(("seat", "kyoku"), [(0, 0), (1, 0), (3, 6), (2, 6)])
def test_the_seat_gets_its_hand_whatever_the_seed(seat: int, kyoku: int) -> None:
    faces = parse_faces(HAND)
    tables = deal_hand(tenhou(), seat, faces, range(50), kyoku=kyoku)
    wanted = np.bincount([face if face < 34 else 4 + 9 * (face - 34) for face in faces], minlength=34)
    for table in tables:
        hand = table["hand"][seat].astype(int)
        if seat == kyoku % 4:
            assert table["phase"] == OWN_TURN
            drawn = int(table["drawn"])
            hand[drawn if drawn < 34 else 4 + 9 * (drawn - 34)] -= 1
        else:
            assert table["red"][seat] == 0b101
        np.testing.assert_array_equal(hand, wanted)
        check_invariants(table)
    assert len({table["hand"][(seat + 1) % 4].tobytes() for table in tables}) == 50


def test_the_dealer_may_get_its_first_draw_too() -> None:
    tables = deal_hand(tenhou(), 0, [*parse_faces(HAND), *parse_faces("9s")], range(10))
    assert {face_name(int(face)) for face in tables["drawn"]} == {"9s"}


def test_every_other_tile_is_equally_likely_to_lie_anywhere() -> None:
    tables = deal_hand(tenhou_no_red(), 0, parse_faces("111222333444m1p"), range(4000))
    first_of_next = tables["wall"][:, 4] >> 2  # the first tile dealt to seat 1
    counts = np.bincount(first_of_next, minlength=34)
    left = np.full(34, 4)
    left[[0, 1, 2, 3]] = 1
    left[9] = 3
    expected = 4000 * left / left.sum()
    assert ((counts - expected) ** 2 / expected).sum() < 70  # chi-square with 33 degrees of freedom: 1 in 5,000


def test_the_state_of_the_round_is_as_given() -> None:
    (table,) = deal_hand(
        tenhou(), 2, parse_faces(HAND), [7], kyoku=5, honba=2, kyotaku=1, scores=[30_000, 20_000, 40_000, 9_000]
    )
    assert (table["kyoku"], table["honba"], table["kyotaku"]) == (5, 2, 1)
    assert table["scores"].tolist() == [30_000, 20_000, 40_000, 9_000]
    check_invariants(table)


@pytest.mark.parametrize(
    ("hand", "message"),
    [
        ("123m", "3 tiles"),
        ("00m123456789m11p", "2 x 0m"),
        ("55550m12345678p", "4 x 5m"),
        (HAND + "9s", "14 tiles"),
    ],
)
def test_hands_that_cannot_be_dealt_are_refused(hand: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deal_hand(tenhou(), 1, parse_faces(hand), [0])


@pytest.mark.parametrize(
    ("seed", "numbers", "message"),
    [
        (0, {"kyoku": 12}, "kyoku is 12: these rules have the kyoku 0-11"),
        (0, {"scores": [1, 2, 3, 4]}, "multiples of 100"),
        (-1, {}, "seeds"),
    ],
)
def test_numbers_that_no_game_has_are_refused(seed: int, numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deal_hand(tenhou(), 1, parse_faces(HAND), [seed], **numbers)


@pytest.mark.parametrize(("rules", "last"), [(tonpuu(), 7), (tenhou(), 11), (Rules(num_winds=4, extra_wind=False), 15)])
def test_the_kyoku_are_those_of_the_rules(rules: Rules, last: int) -> None:
    assert deal_hand(rules, 1, parse_faces(HAND), [0], kyoku=last)["kyoku"].tolist() == [last]
    with pytest.raises(ValueError, match=f"these rules have the kyoku 0-{last}"):
        deal_hand(rules, 1, parse_faces(HAND), [0], kyoku=last + 1)
