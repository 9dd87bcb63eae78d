from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.rules import Rules, rule_flags, tenhou, tonpuu
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END, KYOKU_END, PASS, RON, TSUMO
from suphx.kernel.record import Records
from tests.games.riichi.builders.hands import choose
from tests.kernel.wrong_tables import WRONG_TABLES


def play(seeds: range, rules: Rules, batch: int) -> Records:
    """Play one game for each seed, ``batch`` at a time; return the final tables."""
    finished = []
    for start in range(0, len(seeds), batch):
        simulator = Simulator(len(seeds[start : start + batch]), rules)
        simulator.reset(seeds[start : start + batch])
        while (waiting := simulator.waiting()).size:
            simulator.advance(waiting, choose(simulator.tables, waiting))
        finished.append(simulator.tables)
    return np.concatenate(finished)


def test_games_end_with_four_places_and_all_points() -> None:
    tables = play(range(64), tenhou(), 64)
    assert (tables["phase"] == GAME_END).all()
    np.testing.assert_array_equal(np.sort(tables["placement"], axis=1), np.tile([1, 2, 3, 4], (64, 1)))
    assert (tables["scores"].sum(axis=1) == 100_000).all()


def test_the_same_seeds_give_the_same_games() -> None:
    assert (play(range(16), tenhou(), 16) == play(range(16), tenhou(), 16)).all()


@pytest.mark.parametrize("batch", [1, 3])
def test_the_batch_size_does_not_change_games(batch: int) -> None:
    assert (play(range(16), tenhou(), batch) == play(range(16), tenhou(), 16)).all()


def test_other_seeds_give_other_walls() -> None:
    simulator = Simulator(50, tenhou())
    simulator.reset(range(50))
    assert len({wall.tobytes() for wall in simulator.tables["wall"]}) == 50


def test_a_reset_simulator_plays_like_a_new_one() -> None:
    used, fresh = Simulator(4, tenhou()), Simulator(4, tenhou())
    used.reset(range(100, 104))
    while (waiting := used.waiting()).size:
        used.advance(waiting, choose(used.tables, waiting))
    used.reset(range(4))
    fresh.reset(range(4))
    for _ in range(500):
        waiting = used.waiting()
        np.testing.assert_array_equal(waiting, fresh.waiting())
        actions = choose(used.tables, waiting)
        np.testing.assert_array_equal(actions, choose(fresh.tables, waiting))
        used.advance(waiting, actions)
        fresh.advance(waiting, actions)
    np.testing.assert_array_equal(used.scores(), fresh.scores())


def test_rules_reach_the_tables() -> None:
    rules = Rules(num_winds=1, start_points=30_000, target_points=35_000, open_tanyao=False, red_fives="")
    simulator = Simulator(2, rules)
    simulator.reset([1, 2])
    assert simulator.scores().tolist() == [[30_000] * 4] * 2
    for name in ("num_winds", "target_points"):
        assert (simulator.tables[name] == getattr(rules, name)).all()
    assert (simulator.tables["rule_flags"] == rule_flags(rules)).all()
    assert (simulator.tables["red"] == 0).all()


def test_east_games_are_shorter() -> None:
    assert play(range(32), tonpuu(), 32)["num_kyoku"].mean() < play(range(32), tenhou(), 32)["num_kyoku"].mean()


def test_a_simulator_can_wait_at_the_end_of_every_deal() -> None:
    simulator = Simulator(1, tenhou(), stops_at_kyoku_end=True)
    simulator.reset([7])
    deals = 0
    while simulator.tables["phase"][0] != GAME_END:
        while (waiting := simulator.waiting()).size:
            simulator.advance(waiting, choose(simulator.tables, waiting))
        assert simulator.at_kyoku_end().tolist() == [0]
        assert simulator.tables["phase"][0] == KYOKU_END
        simulator.next_kyoku(np.array([0]))
        deals += 1
    assert deals == simulator.tables["num_kyoku"][0]
    assert simulator.placements().tolist() == play(range(7, 8), tenhou(), 1)["placement"].tolist()


@pytest.mark.parametrize("seeds", [[-1, 0], [0, 2**62]])
def test_seeds_out_of_range_are_refused(seeds: list[int]) -> None:
    with pytest.raises(ValueError, match="seeds must lie in 0"):
        Simulator(2, tenhou()).reset(seeds)


def test_every_table_needs_a_seed() -> None:
    with pytest.raises(ValueError, match="3 seeds for 2 tables"):
        Simulator(2, tenhou()).reset([1, 2, 3])


def test_a_simulator_needs_a_table() -> None:
    with pytest.raises(ValueError, match="num_tables is 0"):
        Simulator(0, tenhou())


def test_every_table_needs_an_action() -> None:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    with pytest.raises(ValueError, match="1 actions for 2 tables"):
        simulator.advance(simulator.waiting(), np.array([37]))


@pytest.mark.parametrize("action", [PASS, -1, 120, 5000])
def test_an_illegal_action_is_refused_with_the_legal_ones_and_changes_nothing(action: int) -> None:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    before = simulator.tables.tobytes()
    with pytest.raises(ValueError, match=r"table 1, seat 0: .* is not legal; legal: discard .*tsumogiri"):
        simulator.advance(simulator.waiting(), np.array([37, action]))
    assert simulator.tables.tobytes() == before


def test_a_finished_table_takes_no_action() -> None:
    simulator = Simulator(1, tenhou())
    simulator.tables[:] = play(range(1), tenhou(), 1)
    with pytest.raises(ValueError, match="nothing, the table does not wait"):
        simulator.advance(np.array([0]), np.array([37]))


def test_a_finished_table_accepts_no_action_however_its_game_ended() -> None:
    simulator = Simulator(40, tenhou())
    simulator.reset(range(40))
    while (waiting := simulator.waiting()).size:
        legal = simulator.tables["legal"][waiting]
        wins = np.where(legal[:, TSUMO], TSUMO, RON)
        has_win = (legal[:, TSUMO] | legal[:, RON]) != 0
        simulator.advance(waiting, np.where(has_win, wins, np.argmax(legal, axis=1)))
    assert len(set(simulator.tables["phase"])) == 1
    assert not simulator.tables["legal"].any()
    with pytest.raises(ValueError, match="legal: nothing, the table does not wait"):
        simulator.advance(np.array([0]), np.array([TSUMO]))


@pytest.mark.parametrize(("indices", "message"), WRONG_TABLES)
def test_a_table_that_is_not_there_or_is_named_twice_is_refused_and_nothing_changes(
    indices: list[int], message: str
) -> None:
    simulator = Simulator(3, tenhou())
    simulator.reset([5, 6, 7])
    before = simulator.tables.tobytes()
    actions = np.array([37] * len(indices))  # the tile just drawn
    with pytest.raises(ValueError, match=message):
        simulator.advance(np.array(indices), actions)
    assert simulator.tables.tobytes() == before


@pytest.mark.parametrize("index", [-1, 2, 10**12])
def test_no_deal_begins_at_a_table_that_is_not_there(index: int) -> None:
    simulator = Simulator(2, tenhou())
    simulator.reset([5, 6])
    for call in (simulator.next_kyoku, lambda indices: simulator.reset([1, 2], indices)):
        with pytest.raises(ValueError, match=f"there is no table {index}: use 0 to 1"):
            call(np.array([0, index]))


def test_no_deal_begins_at_a_table_without_a_game() -> None:
    simulator = Simulator(3, tenhou(), stops_at_kyoku_end=True)
    simulator.reset([1], [1])
    with pytest.raises(ValueError, match="table 2 has no game: reset it first"):
        simulator.next_kyoku([1, 2])
    with pytest.raises(ValueError, match="a table is named twice"):
        simulator.reset([1, 2], [0, 0])
    assert simulator.tables["num_kyoku"].tolist() == [0, 1, 0]


def test_lists_name_tables_and_actions() -> None:
    simulator, same = Simulator(2, tenhou()), Simulator(2, tenhou())
    simulator.reset([7, 8])
    same.reset([7], [0])
    same.reset([8], [1])
    simulator.advance([0, 1], [37, 37])
    same.advance(np.array([0, 1], np.int32), np.array([37, 37], np.int8))
    assert simulator.tables.tobytes() == same.tables.tobytes()
    simulator.advance([], [])
    simulator.next_kyoku([])


@pytest.mark.parametrize(
    ("indices", "actions", "message"),
    [
        ([0.0, 1.0], [37, 37], "indices are float64: give integers"),
        ([0, 1], [37.9, 37.9], "actions are float64: give integers"),
        ([0, 1], [True, True], "actions are bool: give integers"),
        ([0, 1], np.zeros((2, 120)), r"actions have the shape \[2, 120\]: give a list, one number for each table"),
        (0, 37, r"indices have the shape \[\]: give a list"),
        ([0, 1], [37, 65536 + 37], "unknown action 65573 is not legal"),
    ],
)
def test_what_is_no_line_of_integers_is_refused(indices: Any, actions: Any, message: str) -> None:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    with pytest.raises(ValueError, match=message):
        simulator.advance(indices, actions)
    with pytest.raises(ValueError, match="seeds are float64: give integers"):
        simulator.reset([1.5, 2.5])  # type: ignore[list-item]


def test_a_copy_has_the_games_and_none_of_the_large_tables_of_the_engine() -> None:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    data = pickle.dumps(simulator)
    assert len(data) < simulator.tables.nbytes + 10_000
    copied = pickle.loads(data)
    for each in (simulator, copied):
        each.advance([0, 1], [37, 37])
    assert simulator.tables.tobytes() == copied.tables.tobytes()
