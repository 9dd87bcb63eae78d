from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.features.encoder import (
    DECISION,
    ENCODERS,
    decision_layout,
    encode_decision,
    encode_observation,
    encode_rows,
    find_encoder,
)
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.names import CHOW_HEAD, HEAD_NAMES, KONG_HEAD, PONG_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import (
    ANKAN,
    CALL_DISCARD,
    CHI,
    CLAIM,
    GAME_END,
    MINKAN,
    PASS,
    PON,
    RIICHI,
    RIICHI_DISCARD,
    ROB_KAN,
    TSUMO,
)
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.record import I64, U8, Records
from tests.games.riichi.builders.table_builder import Deal
from tests.games.riichi.features.builders.positions import hide_differently

SPANS = {CHOW_HEAD: [(CHI, PASS)], PONG_HEAD: [(PON, MINKAN)], KONG_HEAD: [(ANKAN, TSUMO), (MINKAN, CHI)]}


@pytest.fixture(scope="module")
def tables() -> Records:
    """Tables of random games, of every phase that a net is asked in."""
    rng = np.random.default_rng(1)
    simulator = Simulator(16, tenhou())
    simulator.reset(range(16))
    kept = []
    for _ in range(120):
        waiting = simulator.waiting()
        kept.append(simulator.tables[waiting].copy())
        actions = [int(rng.choice(np.flatnonzero(table["legal"]))) for table in simulator.tables[waiting]]
        simulator.advance(waiting, np.array(actions))
    return np.concatenate(kept)


def observed_candidates(tables: Records, head: int) -> tuple[I64, I64]:
    """Return the table and the candidate of every row that ``head`` may be asked for."""
    pairs = []
    for index, table in enumerate(tables):
        if table["phase"] == ROB_KAN:
            continue
        if head not in SPANS:
            pairs += [(index, -1)] if table["phase"] != CLAIM else []
            continue
        pairs += [(index, a) for first, last in SPANS[head] for a in range(first, last) if table["legal"][a]]
    return np.array([pair[0] for pair in pairs], np.int64), np.array([pair[1] for pair in pairs], np.int64)


@pytest.mark.parametrize("head", range(len(HEAD_NAMES)), ids=HEAD_NAMES)
@pytest.mark.parametrize("name", ENCODERS)
def test_rows_of_a_table_that_follow_each_other_are_those_of_each_alone(name: str, head: int, tables: Records) -> None:
    encoder = find_encoder(name)
    indices, actions = observed_candidates(tables, head)
    assert len(indices) > 5
    expected = np.zeros((len(indices), encoder.layout(head).observation_bytes), np.uint8)
    for row, index, action in zip(expected, indices, actions, strict=True):
        table = tables[index].view(np.recarray)
        encode_observation(encoder.id, load_lookup(), table, int(table["actor"]), head, int(action), row)
    assert np.array_equal(encode_rows(encoder, head, tables, indices, actions), expected)


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
    table = Deal([""]).table.copy()
    table["phase"], table["actor"], table["turn"], table["claimed_face"], table["red"] = ROB_KAN, 3, turn, 8, 0
    expected = {"claimed_tile": kinds("9m"), f"claimed_from[{place}]": FULL, "claimed_from_kan": FULL}
    assert shown(table, 3) == expected


def test_the_discards_after_a_claim_and_after_riichi_are_told_apart() -> None:
    deal = Deal([WAITS, "", PAIR_OF_FIVES, ""], draws="5p")
    deal.play("0 5p, 2 pon, all pass")
    assert deal.table["phase"] == CALL_DISCARD
    assert shown(deal.table, 2) == {"after_claim": FULL}
    ready = Deal([WAITS, "", "", ""], draws="4p")
    ready.act(0, RIICHI)
    assert ready.table["phase"] == RIICHI_DISCARD
    assert shown(ready.table, 0) == {"drawn_tile": kinds("4p"), "after_riichi": FULL}


def test_nothing_hidden_has_any_influence_and_who_does_not_decide_sees_nothing(tables: Records) -> None:
    rng = np.random.default_rng(3)
    for table in tables[::9].copy():
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
