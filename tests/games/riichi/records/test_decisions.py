from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi import table as codes
from suphx.games.riichi.records.decisions import hand_text, has_namesake, seat_text, viewer_move
from suphx.games.riichi.records.kyoku_builder import shown_hands
from suphx.games.riichi.records.viewer_game import ViewerSteps, viewer_state
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tile import parse_faces
from tests.games.riichi.builders.table_builder import Deal

FIVE_OF_PINZU = 13


@pytest.mark.parametrize(
    ("result", "seats"),
    [
        (codes.EXHAUSTIVE_DRAW, [1, 3]),
        (codes.NAGASHI_MANGAN, [1, 3]),
        (codes.FOUR_RIICHI_DRAW, [0, 1, 2, 3]),
        (codes.TRIPLE_RON_DRAW, [0, 1, 3]),
        (codes.FOUR_WINDS_DRAW, []),
        (codes.FOUR_KANS_DRAW, []),
        (codes.WIN_RESULT, []),
    ],
)
def test_a_draw_opens_the_hands_that_tenhou_opens(result: int, seats: list[int]) -> None:
    assert shown_hands(result, [0, 1, 0, 1], 2) == seats


def test_nine_terminals_open_the_hand_of_who_declares_them() -> None:
    deal = Deal(["19m19p19s123z2345m", "", "", ""], draws="4z")
    assert viewer_state(deal.table, 0)["open"] == []
    deal.act(0, codes.NINE_TERMINALS)
    assert viewer_state(deal.table, 0)["open"] == [0]


def test_no_waits_are_shown_between_a_pon_and_its_discard() -> None:
    deal = Deal(["123m", "11p55p123s456s789s", "", ""], draws="9m 7z 1p")
    deal.tsumogiri(2)
    assert viewer_state(deal.table, 0)["waits1"] == [9, FIVE_OF_PINZU]
    deal.discard(2, "1p")
    deal.act(1, codes.PON)
    assert viewer_state(deal.table, 0)["waits1"] == []
    deal.discard(1, "5p")
    assert viewer_state(deal.table, 0)["waits1"] == [FIVE_OF_PINZU]


def test_the_red_five_of_a_closed_kan_is_one_of_the_two_tiles_that_lie_face_up() -> None:
    deal = Deal(["0555p123m123s678s", "", "", ""], draws="9m 1z")
    steps = ViewerSteps(deal.table, deal.table["red_fives"])
    deal.act(0, codes.ANKAN + FIVE_OF_PINZU)
    steps.follow(deal.table, codes.ANKAN + FIVE_OF_PINZU, codes.OWN_TURN)
    assert [step["faces"] for step in steps.steps if step["kind"] == "ankan"] == [parse_faces("0555p")]
    (meld,) = viewer_state(deal.table, deal.table["red_fives"])["melds0"]
    assert meld == {"faces": parse_faces("5055p"), "taken": None, "is_hidden": True, "is_added": False}


def test_a_kan_of_a_discard_names_the_red_five_that_was_in_the_hand_or_discarded() -> None:
    for hand, discard in (("055p", "5p"), ("555p", "0p")):
        deal = Deal(["123m", f"{hand}1238s", "", ""], draws=discard)
        deal.discard(0, discard)
        faces = viewer_move(deal.table, codes.MINKAN)["faces"]
        assert faces[0] == parse_faces(discard)[0]
        assert sorted(faces) == sorted(parse_faces("0555p"))


@pytest.mark.parametrize(("hand", "added"), [("55p", "0p"), ("05p", "5p")])
def test_a_kan_that_is_added_to_a_pon_names_its_red_five(hand: str, added: str) -> None:
    deal = Deal(["123m", f"{hand}1238s", "", ""], draws=f"5p 9m 9m 9m {added}")
    deal.discard(0, "5p")
    deal.act(1, codes.PON + (hand == "05p"))
    deal.discard(1, "8s")
    while deal.table["turn"] != 1 or not deal.table["legal"][codes.KAKAN + FIVE_OF_PINZU]:
        deal.pass_all()
        deal.tsumogiri()
    assert sorted(viewer_move(deal.table, codes.KAKAN + FIVE_OF_PINZU)["faces"]) == sorted(parse_faces("0555p"))


@pytest.mark.parametrize(
    ("names", "shared"),
    [
        (("ukeire",) * 4, [True] * 4),
        (("Anna", "net 1", "net 2", "net 3"), [False, True, True, True]),
        (("A", "B", "C", "D 1"), [False] * 4),
    ],
)
def test_seats_that_share_a_name_are_known(names: tuple[str, ...], shared: list[bool]) -> None:
    assert [has_namesake(names, seat) for seat in range(4)] == shared


HIDDEN = "13 tiles"


def test_a_seat_sees_its_own_hand_and_no_other() -> None:
    simulator = Simulator(1, tenhou())
    simulator.reset([3])
    table = simulator.tables[0]
    for seat in range(4):
        lines = seat_text(table, seat).splitlines()
        assert lines[0].startswith("East 1, 0 sticks, dora indicators ")
        assert hand_text(table, seat) in lines[1 + seat]
        assert [HIDDEN in line or "14 tiles" in line for line in lines[1:]] == [other != seat for other in range(4)]
    assert [line[0] for line in lines[1:]] == [">", " ", " ", " "]


def test_the_end_of_a_game_has_the_places() -> None:
    simulator, melds = Simulator(1, tenhou()), 0
    simulator.reset([3])
    random = np.random.default_rng(2)
    while simulator.waiting().size:
        table = simulator.tables[0]
        melds += seat_text(table, 0).count("[]") < 4
        simulator.advance(np.zeros(1, np.int64), random.choice(np.flatnonzero(table["legal"]), 1))
    assert melds > 0
    text = seat_text(simulator.tables[0], 0)
    for seat, place in enumerate(simulator.placements()[0]):
        assert f"seat {seat} {place} ({simulator.scores()[0, seat]:,} points)" in text
