from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.features.encoder import (
    DECISION,
    ENCODERS,
    decision_layout,
    encode_batch,
    encode_decision,
    encode_observation,
    find_encoder,
)
from suphx.games.riichi.features.mini import encode
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.names import CHOW_HEAD, CLAIM_HEADS, DISCARD_HEAD, HEAD_NAMES, KONG_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import (
    ANKAN,
    CALL_DISCARD,
    CHI,
    CLAIM,
    GAME_END,
    MINKAN,
    OWN_TURN,
    PASS,
    PON,
    RIICHI,
    RIICHI_DISCARD,
    ROB_KAN,
    TABLE,
    TSUMO,
)
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.record import I64, U8, Records
from tests.games.riichi.builders.table_builder import Deal
from tests.games.riichi.features.builders.random_tables import hide_differently, random_tables

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
def test_a_batch_is_the_rows_one_by_one_on_any_number_of_threads(name: str, head: int, tables: Records) -> None:
    encoder = find_encoder(name)
    indices, actions = observed_candidates(tables, head)
    assert len(indices) > 5
    shape = (len(indices), encoder.layout(head).observation_bytes)
    expected = np.zeros(shape, np.uint8)
    for row, index, action in zip(expected, indices, actions, strict=True):
        table = tables[index].view(np.recarray)
        encode_observation(encoder.id, load_lookup(), table, int(table["actor"]), head, int(action), row)
    for num_threads in (1, 3):
        rows = np.full(shape, 255, np.uint8)
        encode_batch(encoder, head, tables, indices, actions, rows, num_threads=num_threads)
        assert np.array_equal(rows, expected)


@pytest.mark.parametrize("num_threads", [1, 2])
def test_an_empty_batch_leaves_all_rows_as_they_are(num_threads: int, tables: Records) -> None:
    nothing = np.zeros(0, np.int64)
    encoder = find_encoder("suphx")
    rows = np.full((3, encoder.layout(RIICHI_HEAD).observation_bytes), 255, np.uint8)
    for some in (tables[:0], tables):
        encode_batch(encoder, RIICHI_HEAD, some, nothing, nothing, rows[:0], num_threads=num_threads)
    assert (rows == 255).all()


@pytest.mark.parametrize(
    ("head", "index", "action", "message"),
    [
        (DISCARD_HEAD, 10_000, -1, "row 1 is of table 10000, but there are"),
        (DISCARD_HEAD, -1, -1, "row 1 is of table -1"),
        (CHOW_HEAD, 0, PON, "row 0, table 0, seat 0: pon is not a possible claim that the chow head judges"),
        (KONG_HEAD, 0, ANKAN, "row 0, table 0, seat 0: ankan 1m is not a possible claim that the kong head judges"),
        (PONG_HEAD, 0, -1, "is not a possible claim that the pong head judges"),
    ],
)
def test_a_row_that_does_not_fit_is_named(
    head: int, index: int, action: int, message: str, tables: Records
) -> None:  # fmt: skip
    encoder = find_encoder("suphx")
    rows = np.zeros((2, encoder.layout(head).observation_bytes), np.uint8)
    with pytest.raises(ValueError, match=message):
        encode_batch(encoder, head, tables, np.array([0, index]), np.array([action, action]), rows)
    assert not rows.any()


def test_a_table_that_waits_for_nobody_is_refused() -> None:
    rows = np.zeros((1, 3562), np.uint8)
    with pytest.raises(ValueError, match=r"row 0: table 0 waits for no decision \(phase 0\)"):
        encode_batch(
            find_encoder("suphx"), DISCARD_HEAD, np.zeros(1, TABLE), np.zeros(1, np.int64), np.full(1, -1), rows
        )


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("rows", lambda rows: rows[:, 1:], r"rows are uint8\[2, 3561\]: give contiguous uint8\[2, 3562\]"),
        ("rows", lambda rows: rows.astype(np.float64), "rows are float64"),
        ("indices", lambda indices: indices.astype(np.int32), r"indices are int32\[2\]: give int64 \(n,\)"),
        ("actions", lambda actions: actions[:1], "1 actions for 2 indices"),
        ("tables", lambda tables: tables["hand"], r"tables are .* give TABLE records"),
        ("num_threads", lambda _: 0, "num_threads is 0"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    name: str, change: Callable[[Any], Any], message: str, tables: Records
) -> None:
    fitting: dict[str, Any] = {
        "tables": tables,
        "indices": np.flatnonzero(tables["phase"] == OWN_TURN)[:2],
        "actions": np.full(2, -1),
        "rows": np.zeros((2, 3562), np.uint8),
        "num_threads": 1,
    }
    with pytest.raises(ValueError, match=message):
        encode_batch(find_encoder("suphx"), DISCARD_HEAD, **fitting | {name: change(fitting[name])})


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


def test_every_encoder_is_found_by_its_name_and_has_its_own_number() -> None:
    assert [find_encoder(name).name for name in ENCODERS] == list(ENCODERS)
    assert len({encoder.id for encoder in ENCODERS.values()}) == len(ENCODERS)


def test_an_unknown_encoder_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'maxi' is no encoder: use one of mini"):
        find_encoder("maxi")


@pytest.mark.parametrize(
    ("head", "planes"), [(DISCARD_HEAD, 288), (RIICHI_HEAD, 288), (CHOW_HEAD, 310), (PONG_HEAD, 310), (KONG_HEAD, 310)]
)
def test_each_head_has_its_layout(head: int, planes: int) -> None:
    assert find_encoder("mini").layout(head).num_planes == planes


@pytest.mark.parametrize("head", [-1, 5])
def test_a_head_that_is_none_is_refused(head: int) -> None:
    with pytest.raises(ValueError, match=f"{head} is no head: use 0 to 4"):
        find_encoder("mini").layout(head)


@pytest.mark.parametrize("head", range(len(HEAD_NAMES)))
def test_the_row_of_a_head_is_that_of_the_encoder(head: int) -> None:
    encoder = find_encoder("mini")
    table = random_tables(1, seed=6)[0].view(np.recarray)
    action = ANKAN + 3 if head == KONG_HEAD else PON
    expected, row = np.zeros((2, encoder.layout(head).observation_bytes), np.uint8)
    encode(table, 2, action if head in CLAIM_HEADS else -1, expected)
    encode_observation(encoder.id, load_lookup(), table, 2, head, action, row)
    assert np.array_equal(row, expected)
