from __future__ import annotations

import numpy as np
import pytest

from suphx.riichi.action import TSUMO
from suphx.riichi.invariants import check_invariants
from suphx.riichi.rules import tenhou
from suphx.riichi.simulator import Simulator
from suphx.riichi.suit_table import load_suits
from suphx.riichi.table import GAME_END, KYOKU_END
from tests.riichi.random_game import choose_hastily
from tests.riichi.table_builder import Deal
from tests.riichi.test_simulator import choose


def play_checked(seeds: range, *, is_hasty: bool, every: int = 1) -> int:
    """Play random games and check every ``every``-th state of each; return the number of checks."""
    suits = load_suits()
    checks = 0
    simulator = Simulator(len(seeds), tenhou(), stops_at_kyoku_end=True)
    simulator.reset(seeds)
    rng = np.random.default_rng(seeds.start)
    turn = 0
    while (waiting := simulator.waiting()).size:
        if is_hasty:
            actions = np.array([choose_hastily(simulator.tables[i], rng) for i in waiting])
        else:
            actions = choose(simulator.tables, waiting)
        simulator.advance(waiting, actions)
        for i in waiting.tolist():
            if simulator.tables["phase"][i] == KYOKU_END or (turn + i) % every == 0:
                check_invariants(simulator.tables[i], suits)
                checks += 1
        simulator.next_kyoku(simulator.at_kyoku_end())
        turn += 1
    assert (simulator.tables["phase"] == GAME_END).all()
    return checks


def test_nothing_is_lost_in_random_games() -> None:
    assert play_checked(range(6), is_hasty=False) > 3000


def test_nothing_is_lost_in_games_full_of_riichi_calls_and_wins() -> None:
    assert play_checked(range(4), is_hasty=True) > 3000


def test_nothing_is_lost_in_hundreds_of_random_games_seen_now_and_then() -> None:
    assert play_checked(range(1000, 1200), is_hasty=False, every=40) > 4000


@pytest.mark.slow
def test_nothing_is_lost_in_10000_random_games() -> None:
    for start in range(0, 10_000, 500):
        play_checked(range(start, start + 500), is_hasty=False, every=10)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scores", (25_000, 25_000, 25_000, 24_000), "points and sticks add up to 99000"),
        ("num_legal", 0, "the legal mask is empty"),
        ("waits", (1, 0, 0, 0), "waits of seat 0 are stale"),
        ("river_kinds", (0, 1, 0, 0), "river kinds of seat 1 are stale"),
        ("missed_win", (0, 0, 2, 0), "seat 2 is furiten for good without riichi"),
        ("next_draw", 55, "tiles are not conserved"),
        ("riichi", (0, 0, 0, 1), "seat 3 has no riichi tile"),
    ],
)
def test_a_damaged_state_is_noticed(name: str, value: object, message: str) -> None:
    deal = Deal(["147m258p369s1234z", "", "", ""], draws="5z")
    check_invariants(deal.table, load_suits())
    deal.table[name] = value
    with pytest.raises(AssertionError, match=message):
        check_invariants(deal.table, load_suits())


def test_a_win_passes_the_checks() -> None:
    deal = Deal(["123456789m1123p", "", "", ""], draws="4p")
    deal.act(0, TSUMO)
    check_invariants(deal.table, load_suits())
