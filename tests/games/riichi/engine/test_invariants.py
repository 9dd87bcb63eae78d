from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from suphx.games.riichi.engine.invariants import check_invariants, first_violation, is_complete
from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.table.action import TSUMO
from suphx.games.riichi.table.rules import tenhou
from suphx.games.riichi.table.table import GAME_END
from suphx.selfplay.agents.agent import Agent, ScriptedAgent
from tests.games.riichi.builders.games import choose_hastily
from tests.games.riichi.builders.table_builder import Deal
from tests.games.riichi.peers.generated_win import generate_win

BATCH = 500


def play_checked(seeds: range, agent: Agent | None) -> int:
    """Play a batch of games and check every state of each; return the number of checks. No agent: hasty choices."""
    simulator = Simulator(len(seeds), tenhou(), stops_at_kyoku_end=True)
    simulator.reset(seeds)
    rng = np.random.default_rng(seeds.start)
    checks = 0
    while (waiting := simulator.waiting()).size:
        if agent is None:
            actions = np.array([choose_hastily(simulator.tables[i], rng) for i in waiting], np.int16)
        else:
            actions = agent.act(simulator.tables, waiting)
        simulator.advance(waiting, actions)
        first_violation(simulator.tables, waiting, 100_000)
        checks += len(waiting)
        simulator.next_kyoku(simulator.at_kyoku_end())
    assert (simulator.tables["phase"] == GAME_END).all()
    return checks


def play_batches(num_games: int, agent: Agent, threads: int) -> int:
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda i: play_checked(range(i, i + BATCH), agent), range(0, num_games, BATCH)))


def test_nothing_is_lost_in_random_games() -> None:
    assert play_batches(500, ScriptedAgent("random"), 1) > 500_000


def test_nothing_is_lost_in_games_of_reasonable_players() -> None:
    assert play_batches(500, ScriptedAgent("ukeire"), 1) > 250_000


def test_nothing_is_lost_in_games_full_of_riichi_calls_and_wins() -> None:
    assert play_checked(range(8), None) > 3000


@pytest.mark.slow
def test_nothing_is_lost_in_10000_random_games() -> None:
    assert play_batches(10_000, ScriptedAgent("random"), 2) > 10_000_000


def test_the_search_for_complete_hands_knows_wins_and_hands_one_tile_off() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        win = generate_win(rng)
        hand = np.zeros(34, np.int8)
        np.add.at(hand, np.array(win.concealed) >> 2, 1)
        assert is_complete(hand, 4 - len(win.melds)), win
        hand[win.win_tile >> 2] -= 1
        others = [kind for kind in range(34) if hand[kind] == 0 and not hand[max(0, kind - 2) : kind + 3].any()]
        if others and len(win.melds) < 4:
            hand[others[0]] += 1
            assert hand[others[0]] == 1
            is_orphans = (hand[[0, 8, 9, 17, 18, 26, *range(27, 34)]] > 0).all()
            assert is_orphans or not is_complete(hand, 4 - len(win.melds)), win


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scores", (25_000, 25_000, 25_000, 24_000), "points and sticks do not add up"),
        ("num_legal", 0, "the legal mask is empty"),
        ("waits", (1, 0, 0, 0), "waits of seat 0 are stale"),
        ("river_kinds", (0, 1, 0, 0), "river kinds of seat 1 are stale"),
        ("missed_win", (0, 0, 2, 0), "seat 2 is furiten for good without riichi"),
        ("next_draw", 55, "tiles are not conserved"),
        ("riichi", (0, 0, 0, 1), "seat 3 has no riichi tile"),
        ("red", "the others", "tiles are not conserved|a red five without a five"),
        ("kyotaku", 1, "points and sticks do not add up"),
        ("num_legal", 3, "num_legal is not the number"),
        ("phase", 4, "seat 0 holds a wrong number of tiles"),
        ("forbidden", 1, "seat 0 may discard or claim with tiles that it does not hold"),
    ],
)
def test_a_damaged_state_is_noticed(name: str, value: object, message: str) -> None:
    deal = Deal(["147m258p369s1234z", "", "", ""], draws="5z")
    check_invariants(deal.table)
    deal.table[name] = 7 - deal.table["red"] if name == "red" else value
    with pytest.raises(AssertionError, match=message):
        check_invariants(deal.table)


def test_a_win_passes_the_checks() -> None:
    deal = Deal(["123456789m1123p", "", "", ""], draws="4p")
    deal.act(0, TSUMO)
    check_invariants(deal.table)
