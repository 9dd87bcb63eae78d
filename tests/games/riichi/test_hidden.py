from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.tile import TERMINALS_AND_HONOURS
from suphx.games.riichi.features.encoder import ENCODERS, encode_observation
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import CLAIM, GAME_END, LAST_DRAW, OWN_TURN, RIICHI_FLAG, TSUMOGIRI_FLAG
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import kind_of_face, parse_faces, parse_kinds
from suphx.kernel.record import Records
from tests.games.riichi.builders.games import choose_hastily
from tests.games.riichi.builders.table_builder import deal_hand
from tests.games.riichi.invariants import check_invariants

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
        rows = np.zeros((2, encoder.layout(DISCARD_HEAD).observation_bytes), np.uint8)
        for row, t in zip(rows, (table, other), strict=True):
            encode_observation(encoder.id, load_lookup(), t, int(table["actor"]), DISCARD_HEAD, -1, row)
        assert (rows[0] == rows[1]).all()


def test_the_game_goes_on_to_its_end_from_there(seen: Records) -> None:
    after = determinise(seen, seen["actor"], np.arange(len(seen)))
    simulator = Simulator(len(after), tenhou())
    simulator.tables = after
    agent = ScriptedAgent("ukeire")
    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, agent.act(simulator.tables, waiting))
    assert (simulator.tables["phase"] == GAME_END).all()
    assert (simulator.tables["scores"].sum(axis=1) == 100_000).all()


def test_a_seed_gives_the_same_deal_in_any_batch(seen: Records) -> None:
    seats, seeds = seen["actor"][:20], np.arange(20)
    whole = determinise(seen[:20], seats, seeds)
    again = np.concatenate([determinise(seen[i : i + 1], seats[i], seeds[i]) for i in range(20)])
    assert (whole == again).all()
    assert (determinise(seen[:20], seats, seeds + 1) != whole).any()


def test_another_seat_may_be_about_to_act() -> None:
    tables = deal_hand("123456789m1123p", range(200), 2)
    after = determinise(tables, 2, np.arange(200))
    assert (after["actor"] == 0).all()
    for before, table in zip(tables, after, strict=True):
        check_invariants(table)
        assert (table["hand"][2] == before["hand"][2]).all()
    assert (after["drawn"] != tables["drawn"]).mean() > 0.8


def test_every_hidden_tile_is_equally_likely_in_every_hidden_place() -> None:
    start = deal_hand("123456789m1123p7z", [3])
    after = determinise(np.repeat(start, 3000), 0, np.arange(3000))
    hidden = np.full(34, 4.0) - start["hand"][0, 0]
    hidden[int(start["wall"][0, 130]) >> 2] -= 1
    for seat in (1, 2, 3):
        expected = 3000 * 13 * hidden / hidden.sum()
        counts = after["hand"][:, seat].sum(axis=0)
        possible = expected > 0
        assert (counts[~possible] == 0).all()
        assert ((counts - expected) ** 2 / np.maximum(expected, 1))[possible].sum() < 70


def test_what_a_ready_hand_leaves_is_equally_likely_in_every_hidden_place(seen: Records) -> None:
    others = (seen["riichi"] != 0) & (np.arange(4) != seen["actor"][:, None])
    before = seen[(others.sum(axis=1) == 1) & (seen["phase"] == OWN_TURN)][0]
    seat, num_deals = int(before["actor"]), 4000
    after = determinise(np.repeat(before, num_deals), seat, np.arange(num_deals))
    in_wall = after["wall"][:, before["next_draw"] : LAST_DRAW] >> 2
    wall = np.bincount(in_wall.ravel(), minlength=34) / in_wall.size
    for other in range(4):
        if other != seat and not before["riichi"][other]:
            hands = after["hand"][:, other].astype(np.int64)
            mean_error = hands.std(axis=0) / np.sqrt(num_deals)
            assert (np.abs(hands.mean(axis=0) - wall * hands[0].sum()) <= 6 * mean_error + 1e-9).all()


def test_hands_after_riichi_may_be_seven_pairs_or_thirteen_orphans() -> None:
    start = deal_hand("22334455667788m", [3])
    start["riichi"][0, 1] = 1
    hands = determinise(np.repeat(start, 20_000), 0, np.arange(20_000))["hand"][:, 1]
    assert 0.2 < ((hands == 2).sum(axis=1) == 6).mean() < 0.3
    assert ((hands[:, TERMINALS_AND_HONOURS] > 0).sum(axis=1) >= 12).any()


def test_hands_after_riichi_do_not_wait_for_what_their_seat_let_pass() -> None:
    start = deal_hand("22334455667788m", [3])
    start["riichi"][0, 1] = 1
    start["passed_kinds"][0, 1] = kind_set("19m1234p")
    for place, (face, flags) in enumerate([("5z", 0), ("6z", RIICHI_FLAG), ("7z", TSUMOGIRI_FLAG), ("9s", 1)]):
        start["river"][0, 1, place], start["river_flags"][0, 1, place] = parse_faces(face)[0], flags
    start["river_length"][0, 1] = 4
    after = determinise(np.repeat(start, 5000), 0, np.arange(5000))
    assert (after["waits"][:, 1] != 0).all()
    assert (after["waits"][:, 1] & kind_set("19m1234p67z9s") == 0).all()
    assert (after["waits"][:, 1] & kind_set("5z") != 0).any(), "a discard before riichi"
    assert (after["missed_win"][:, 1] == 0).all()


def test_a_seat_in_riichi_that_was_asked_before_does_not_wait_for_the_discard(seen: Records) -> None:
    distances = (np.arange(4) - seen["turn"][:, None]) % 4
    was_asked = (seen["phase"] == CLAIM)[:, None] & (seen["riichi"] != 0) & (distances > 0)
    was_asked &= distances < ((seen["actor"] - seen["turn"]) % 4)[:, None]
    tables, seats = np.nonzero(was_asked)
    assert len(tables) > 2
    for seed in range(50):
        waits = determinise(seen[tables], seen["actor"][tables], np.arange(len(tables)) + 1000 * seed)["waits"]
        kinds = [kind_of_face(int(face)) for face in seen["claimed_face"][tables]]
        assert not (waits[np.arange(len(tables)), seats] >> np.array(kinds) & 1).any()


def test_a_seat_that_let_everything_pass_is_tenpai_nevertheless() -> None:
    start = deal_hand("22334455667788m", [3])
    start["riichi"][0, 1] = 1
    start["passed_kinds"][0, 1] = 2**34 - 1
    after = determinise(np.repeat(start, 50), 0, np.arange(50))
    assert (after["waits"][:, 1] != 0).all()
    assert (after["missed_win"][:, 1] == 2).all()


def kind_set(tiles: str) -> int:
    """Return kinds as a bit set."""
    return sum({1 << int(kind) for kind in parse_kinds(tiles)})


@pytest.mark.slow
def test_thousands_of_positions_with_seats_in_riichi_are_dealt_anew() -> None:
    tables = positions(60, 1)
    others = ((tables["riichi"] != 0) & (np.arange(4) != tables["actor"][:, None])).sum(axis=1)
    assert (np.bincount(others)[1:4] > [3000, 500, 10]).all()
    for num_seats, repeats in ((1, 1), (2, 2), (3, 20)):
        chosen = np.repeat(tables[others == num_seats][:3000], repeats)
        for table in determinise(chosen, chosen["actor"], np.arange(len(chosen))):
            check_invariants(table)


def test_a_claim_of_another_seat_is_refused(seen: Records) -> None:
    table = seen[seen["phase"] == CLAIM][:1]
    with pytest.raises(ValueError, match="when it decides itself"):
        determinise(table, (table["actor"] + 1) % 4, [0])


def test_wrong_seats_and_seeds_are_refused(seen: Records) -> None:
    with pytest.raises(ValueError, match="seats must be 0-3"):
        determinise(seen[:1], 4, [0])
    with pytest.raises(ValueError, match="seeds must lie"):
        determinise(seen[:1], 0, [-5])
