from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.features.batch import encode_batch
from suphx.games.riichi.features.encoder import ENCODERS, encode_observation, find_encoder
from suphx.games.riichi.features.head import CHOW_HEAD, DISCARD_HEAD, HEAD_NAMES, KONG_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.features.lookahead.lookup import load_lookup
from suphx.games.riichi.table.action import ANKAN, CHI, MINKAN, PASS, PON, TSUMO
from suphx.games.riichi.table.rules import tenhou
from suphx.games.riichi.table.table import CLAIM, OWN_TURN, ROB_KAN, TABLE
from suphx.kernel.record import I64, Records

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
