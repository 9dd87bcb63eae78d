from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.features.decision_planes import DECISION, decision_layout, encode_decision
from suphx.games.riichi.features.encoder import ENCODERS
from suphx.games.riichi.features.layout.planes import unpack_planes
from suphx.games.riichi.table.action import PASS, PON, RIICHI
from suphx.games.riichi.table.table import CALL_DISCARD, CLAIM, GAME_END, RIICHI_DISCARD, ROB_KAN
from suphx.games.riichi.table.tile import parse_kinds
from suphx.kernel.record import U8
from tests.games.riichi.builders.table_builder import Deal
from tests.games.riichi.features.builders.random_tables import hide_differently, random_tables

FULL = list(range(34))
WAITS = "123456789m1123p"
PAIR_OF_FIVES = "55p123456789s11z"


def encoded(table: np.void, seat: int) -> U8:
    row = np.zeros(DECISION.observation_bytes, np.uint8)
    encode_decision(table.view(np.recarray), seat, 0, row)  # type: ignore[arg-type]
    return unpack_planes(row, DECISION.num_planes)


def shown(table: np.void, seat: int) -> dict[str, list[int]]:
    """Return the columns of each plane that is not empty, by its name and, of several, its number."""
    planes = encoded(table, seat)
    columns: dict[str, list[int]] = {}
    for part in DECISION.ranges:
        for number in range(part.count):
            if found := np.flatnonzero(planes[part.first + number]).tolist():
                columns[part.name if part.count == 1 else f"{part.name}[{number}]"] = found
    return columns


def kinds(text: str) -> list[int]:
    return sorted(set(parse_kinds(text)))


def asked(deal: Deal, seat: int) -> Deal:
    """Let those who are asked before ``seat`` pass."""
    while deal.table["actor"] != seat:
        deal.act(int(deal.table["actor"]), PASS)
    return deal


def test_the_tile_just_drawn_is_shown_to_who_drew_it() -> None:
    table = Deal([WAITS, "", "", ""], draws="4p").table
    assert shown(table, 0) == {"drawn_tile": kinds("4p")}
    assert [shown(table, seat) for seat in (1, 2, 3)] == [{}] * 3


def test_red_fives_drawn_and_held_are_shown() -> None:
    assert shown(Deal([WAITS, "", "", ""], draws="0p").table, 0) == {
        "drawn_tile": kinds("5p"),
        "drawn_is_red": FULL,
        "own_red_fives": kinds("5p"),
    }
    assert shown(Deal(["123406789m1123p", "", "", ""], draws="4p").table, 0) == {
        "drawn_tile": kinds("4p"),
        "own_red_fives": kinds("5m"),
    }


def test_a_discard_that_can_be_claimed_is_shown_with_its_seat() -> None:
    deal = Deal([WAITS, "", PAIR_OF_FIVES, ""], draws="5p")
    deal.discard(0, "5p")
    asked(deal, 2)
    assert deal.table["phase"] == CLAIM
    assert shown(deal.table, 2) == {"claimed_tile": kinds("5p"), "claimed_from[1]": FULL}
    assert shown(deal.table, 3) == {}
    red = Deal([WAITS, "", PAIR_OF_FIVES, ""], draws="0p")
    red.discard(0, "0p")
    assert shown(asked(red, 2).table, 2)["claimed_is_red"] == FULL


@pytest.mark.parametrize(("turn", "place"), [(0, 0), (1, 1), (2, 2)])
def test_the_tile_of_a_kan_is_marked_as_such(turn: int, place: int) -> None:
    (table,) = random_tables(1, seed=1)
    table["phase"], table["actor"], table["turn"], table["claimed_face"], table["red"] = ROB_KAN, 3, turn, 8, 0
    expected = {"claimed_tile": kinds("9m"), f"claimed_from[{place}]": FULL, "claimed_from_kan": FULL}
    assert shown(table, 3) == expected


def test_the_discards_after_a_claim_and_after_riichi_are_told_apart() -> None:
    deal = Deal([WAITS, "", PAIR_OF_FIVES, ""], draws="5p")
    deal.discard(0, "5p")
    deal.act(2, PON)
    deal.pass_all()
    assert deal.table["phase"] == CALL_DISCARD
    assert shown(deal.table, 2) == {"after_claim": FULL}
    ready = Deal([WAITS, "", "", ""], draws="4p")
    ready.act(0, RIICHI)
    assert ready.table["phase"] == RIICHI_DISCARD
    assert shown(ready.table, 0) == {"drawn_tile": kinds("4p"), "after_riichi": FULL}


def test_nothing_hidden_has_any_influence_and_who_does_not_decide_sees_nothing() -> None:
    rng = np.random.default_rng(3)
    for table in random_tables(200, seed=2):
        for seat in range(4):
            before = encoded(table, seat)
            assert seat == table["actor"] or not before.any()
            other = table.copy()
            hide_differently(other, seat, rng)
            assert (encoded(other, seat) == before).all()
        table["phase"] = GAME_END
        assert not encoded(table, int(table["actor"])).any()


@pytest.mark.parametrize("name", ENCODERS)
def test_they_stand_behind_the_public_planes_of_every_encoder(name: str) -> None:
    public = ENCODERS[name].public
    both = decision_layout(public)
    assert both.num_planes == public.num_planes + DECISION.num_planes
    assert both["hand"] == public["hand"]
    assert both["after_claim"].first == both.num_planes - 1
