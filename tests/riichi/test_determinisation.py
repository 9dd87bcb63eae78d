from __future__ import annotations

import numpy as np
import pytest

from suphx.features.encoder import ENCODERS, encode_row
from suphx.features.head import DISCARD
from suphx.features.lookup import load_lookup
from suphx.riichi.determinisation import determinise
from suphx.riichi.fixed_deal import deal_hand
from suphx.riichi.invariants import check_invariants
from suphx.riichi.record import Records
from suphx.riichi.rules import tenhou
from suphx.riichi.simulator import Simulator
from suphx.riichi.snapshot import take_snapshot
from suphx.riichi.table import CLAIM, GAME_END, OWN_TURN
from suphx.riichi.tile import parse_faces
from suphx.selfplay.agent import BaselineAgent
from tests.riichi.random_game import choose_hastily

PUBLIC = (
    *("scores", "kyoku", "honba", "kyotaku", "phase", "actor", "turn", "next_draw", "num_kans", "num_dora"),
    *("pending_dora", "num_melds", "meld_type", "meld_kind", "meld_tile", "meld_from", "meld_red", "river_length"),
    *("river", "river_flags", "river_kinds", "riichi", "is_stick_due", "ippatsu", "pao_dragons", "pao_winds"),
    *("claimed_face", "is_first_turn", "passed_kinds"),
)


def positions(num_games: int, every: int) -> Records:
    """Positions of games full of riichi, calls, kans and wins, each at somebody's decision."""
    found = []
    rng = np.random.default_rng(5)
    simulator = Simulator(num_games, tenhou())
    simulator.reset(range(num_games))
    turn = 0
    while (waiting := simulator.waiting()).size:
        found += [simulator.tables[i].copy() for i in waiting if (turn + i) % every == 0]
        simulator.advance(waiting, np.array([choose_hastily(simulator.tables[i], rng) for i in waiting]))
        turn += 1
    return np.array(found)


@pytest.fixture(scope="module")
def seen() -> Records:
    tables = positions(8, 7)
    assert (tables["riichi"].sum(axis=1) > 1).sum() > 20
    assert {OWN_TURN, CLAIM} <= set(tables["phase"].tolist())
    return tables


def test_what_the_seat_sees_stays_and_the_rest_keeps_the_rules(seen: Records) -> None:
    after = determinise(seen, seen["actor"], np.arange(len(seen)))
    for name in PUBLIC:
        np.testing.assert_array_equal(after[name], seen[name], err_msg=name)
    changed = 0
    for before, table in zip(seen, after, strict=True):
        seat = int(before["actor"])
        for name in ("hand", "red", "waits", "missed_win"):
            assert (table[name][seat] == before[name][seat]).all(), name
        assert (table["legal"] == before["legal"]).all()
        assert table["drawn"] == before["drawn"]
        assert sorted(table["wall"].tolist()) == list(range(136))
        changed += (table["hand"] != before["hand"]).any()
        check_invariants(table)
    assert changed > 0.99 * len(seen)
    is_other = np.arange(4) != after["actor"][:, None]
    assert not (after["waits"] == 0)[(after["riichi"] != 0) & is_other].any()


@pytest.mark.parametrize("name", sorted(ENCODERS))
def test_the_planes_of_the_seat_stay(seen: Records, name: str) -> None:
    encoder = ENCODERS[name]
    own = seen[(seen["phase"] == OWN_TURN)][:60]
    after = determinise(own, own["actor"], np.arange(len(own)) + 1000)
    for table, other in zip(own, after, strict=True):
        rows = np.zeros((2, encoder.layout(DISCARD).row_bytes), np.uint8)
        for row, t in zip(rows, (table, other), strict=True):
            encode_row(encoder.id, load_lookup(), t, int(table["actor"]), DISCARD, -1, row)
        assert (rows[0] == rows[1]).all()


def test_the_game_goes_on_to_its_end_from_there(seen: Records) -> None:
    after = determinise(seen, seen["actor"], np.arange(len(seen)))
    simulator = Simulator(len(after), tenhou())
    simulator.tables = after
    agent = BaselineAgent("ukeire")
    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, agent.act(simulator.tables, waiting))
    assert (simulator.tables["phase"] == GAME_END).all()
    assert (simulator.tables["scores"].sum(axis=1) == 100_000).all()


def test_a_seed_gives_the_same_deal_in_any_batch(seen: Records) -> None:
    seats, seeds = seen["actor"][:20], np.arange(20)
    whole = determinise(seen[:20], seats, seeds)
    again = np.concatenate([determinise(seen[i : i + 1], seats[i], seeds[i]) for i in range(20)])
    assert take_snapshot(whole) == take_snapshot(again)
    assert take_snapshot(determinise(seen[:20], seats, seeds + 1)) != take_snapshot(whole)


def test_another_seat_may_be_about_to_act() -> None:
    tables = deal_hand(tenhou(), 2, parse_faces("123456789m1123p"), range(200))
    after = determinise(tables, 2, np.arange(200))
    assert (after["actor"] == 0).all()
    for before, table in zip(tables, after, strict=True):
        check_invariants(table)
        assert (table["hand"][2] == before["hand"][2]).all()
    assert (after["drawn"] != tables["drawn"]).mean() > 0.8


def test_every_hidden_tile_is_equally_likely_in_every_hidden_place() -> None:
    start = deal_hand(tenhou(), 0, [*parse_faces("123456789m1123p"), *parse_faces("7z")], [3])
    after = determinise(np.repeat(start, 3000), 0, np.arange(3000))
    hidden = np.full(34, 4.0) - start["hand"][0, 0]
    hidden[int(start["wall"][0, 130]) >> 2] -= 1
    for seat in (1, 2, 3):
        expected = 3000 * 13 * hidden / hidden.sum()
        counts = after["hand"][:, seat].sum(axis=0)
        possible = expected > 0
        assert (counts[~possible] == 0).all()
        assert ((counts - expected) ** 2 / np.maximum(expected, 1))[possible].sum() < 70


def test_a_claim_of_another_seat_is_refused(seen: Records) -> None:
    table = seen[seen["phase"] == CLAIM][:1]
    with pytest.raises(ValueError, match="when it decides itself"):
        determinise(table, (table["actor"] + 1) % 4, [0])


def test_wrong_seats_and_seeds_are_refused(seen: Records) -> None:
    with pytest.raises(ValueError, match="seats must be 0-3"):
        determinise(seen[:1], 4, [0])
    with pytest.raises(ValueError, match="seeds must lie"):
        determinise(seen[:1], 0, [-5])
