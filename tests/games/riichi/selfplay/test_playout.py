from __future__ import annotations

import numpy as np
import pytest

from suphx.games.game import Agent
from suphx.games.playouts import NO_BRANCH
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, KONG_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.decision import UNDECIDED, apply_forced_actions, discard_action, observe_head
from suphx.games.riichi.selfplay.playout import branch, shuffle_undrawn
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import CHI, KYOKU_END, OWN_TURN, PASS, PON, RIICHI
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.random_number import seed_counter
from suphx.kernel.record import I16, I64, Records
from tests.games.riichi.builders.table_builder import Deal

UKEIRE = ScriptedAgent("ukeire")
NO_CANDIDATES = np.zeros(0, np.int64)


def after(num_decisions: int, seeds: range) -> Simulator:
    """Return tables at which the scripted agent has made some decisions."""
    simulator = Simulator(len(seeds), tenhou(), stops_at_kyoku_end=True)
    simulator.reset(seeds)
    play_on(simulator, num_decisions)
    return simulator


def play_on(simulator: Simulator, num_decisions: int, agent: Agent = UKEIRE) -> None:
    for _ in range(num_decisions):
        waiting = simulator.waiting()
        simulator.advance(waiting, agent.act(simulator.tables, waiting))


def play_out(
    tables: Records, head: int, indices: I64, candidates: I64, choices: I16, *, num_walls: int = 1
) -> np.ndarray:
    return branch(tables, head, indices, candidates, choices, num_walls=num_walls).points()


def points_with_the_simulator(table: Records, action: int, agent: Agent = UKEIRE) -> int:
    """Return the points of the actor when the simulator plays the branch, decision by decision."""
    simulator = Simulator(1, tenhou(), stops_at_kyoku_end=True)
    simulator.tables[:] = table
    simulator.advance(np.zeros(1, np.int64), np.array([action]))
    while simulator.tables["phase"][0] != KYOKU_END:
        play_on(simulator, 1, agent)
    return int((simulator.scores()[0] - table["scores"][0])[table["actor"][0]])


@pytest.mark.parametrize("head", [DISCARD_HEAD, CHOW_HEAD, PONG_HEAD])
def test_a_branch_ends_as_in_the_simulator_with_the_scripted_agent_at_all_seats(head: int) -> None:
    found = 0
    for num_decisions in range(20, 60, 4):
        simulator = after(num_decisions, range(8))
        tables = simulator.tables[simulator.waiting()]
        before = tables.copy()
        actions = np.full(len(tables), UNDECIDED, np.int16)
        apply_forced_actions(tables, np.arange(len(tables)), actions)
        asked = observe_head(tables, np.arange(len(tables)), actions, find_encoder("mini"), head)
        choices = np.tile(np.array([[0, 1]], np.int16), (len(asked.owners), 1))
        if head == DISCARD_HEAD:
            choices = np.argsort(-asked.observations.masks.astype(np.int16), axis=1, kind="stable")[:, :2].astype(
                np.int16
            )
            choices[asked.observations.masks.sum(axis=1) < 2, 1] = NO_BRANCH
        points = play_out(tables, head, asked.owners, asked.candidates, choices)
        assert (tables == before).all(), "the tables stay as they are"
        for row, owner in enumerate(asked.owners):
            table = tables[owner : owner + 1]
            for k, choice in enumerate(choices[row].tolist()):
                if choice == NO_BRANCH:
                    assert points[row, k] == 0
                    continue
                call = int(asked.candidates[row]) if choice else PASS
                action = discard_action(table[0], choice) if head == DISCARD_HEAD else call
                assert points[row, k] == points_with_the_simulator(table, action)
                found += 1
    assert found >= 10


def test_a_dealt_in_discard_pays_at_once_on_every_wall() -> None:
    deal = Deal(["4p1p5z", "123456789m1123p", "", ""], draws="9s", dora="7z", honba=2, left=40)
    choices = np.array([parse_kinds("4p5z")], np.int16)
    for num_walls in (1, 3):
        points = play_out(
            deal.tables, DISCARD_HEAD, np.zeros(1, np.int64), np.full(1, -1), choices, num_walls=num_walls
        )
        assert points[0, 0] == -4500
        assert points[0, 1] != -4500


def test_a_refused_pon_is_no_and_an_accepted_one_is_made() -> None:
    deal = Deal(["5z", "", "55z123m456p789s11m", ""], draws="9s", dora="7z", left=40)
    deal.discard(0, "5z")
    assert deal.tables["legal"][0, PON]
    points = play_out(deal.tables, PONG_HEAD, np.zeros(1, np.int64), np.array([PON]), np.array([[0, 1]], np.int16))
    assert points[0, 0] == points_with_the_simulator(deal.tables, PASS)
    assert points[0, 1] == points_with_the_simulator(deal.tables, PON)


def test_the_no_of_a_claim_is_a_pass_or_another_legal_claim() -> None:
    deal = Deal(["3m", "12m456p789s11m55z", "", ""], draws="9s", dora="7z", left=40)
    deal.discard(0, "3m")
    assert deal.tables["legal"][0, CHI + 2]
    one, answers = np.zeros(1, np.int64), np.array([[0, 1]], np.int16)
    branches = branch(deal.tables, CHOW_HEAD, one, np.array([CHI + 2]), answers, after_no=np.array([PASS]))
    assert branches.actions.tolist() == [PASS, CHI + 2]
    with pytest.raises(ValueError, match="row 0: one of the choices"):
        branch(deal.tables, CHOW_HEAD, one, np.array([CHI + 2]), answers, after_no=np.array([PON]))
    both = Deal(["3m", "12m33m456p789s55z", "", ""], draws="9s", dora="7z", left=40)
    both.discard(0, "3m")
    branches = branch(both.tables, CHOW_HEAD, one, np.array([CHI + 2]), answers, after_no=np.array([PON]))
    assert branches.actions.tolist() == [PON, CHI + 2]


def test_more_walls_give_the_mean_over_orders_of_the_undrawn_tiles() -> None:
    tables = after(30, range(40)).tables
    waiting = np.flatnonzero((tables["num_legal"] > 1) & (tables["drawn"] >= 0))[:1]
    kind = np.flatnonzero(tables["legal"][waiting[0], :34])[:1].astype(np.int16)[None]
    minus = np.full(1, -1)
    once, often = (play_out(tables, DISCARD_HEAD, waiting, minus, kind, num_walls=walls)[0, 0] for walls in (1, 200))
    again = play_out(tables, DISCARD_HEAD, waiting, minus, kind, num_walls=200)[0, 0]
    assert often == again, "the orders follow from the table"
    assert abs(often) < 5000, "a mean over many ends of a deal"
    assert once % 100 == 0


def test_an_order_keeps_what_is_drawn_or_seen_and_any_undrawn_tile_may_come_next() -> None:
    table = after(40, range(3)).tables[:1]
    first, wall = int(table["next_draw"][0]), table["wall"][0].copy()
    ids, state = np.zeros(136, np.int64), np.zeros(1, np.int64)
    nexts = set()
    for seed in range(600):
        seed_counter(state, seed)
        shuffled = table.copy()
        shuffle_undrawn(shuffled[0], ids, state)
        order = shuffled["wall"][0]
        np.testing.assert_array_equal(order[:first], wall[:first])
        assert order[130] == wall[130], "the open indicator"
        assert sorted(order[first:]) == sorted(wall[first:])
        nexts.add(int(order[first]))
    assert nexts == set(wall[first:].tolist()) - {int(wall[130])}


def test_an_answer_that_is_not_legal_is_refused() -> None:
    deal = Deal(["4p1p5z2345m0p12345s", "", "", ""], draws="9s", dora="7z", left=40)
    held = deal.tables["hand"][0, 0]
    missing = int(np.flatnonzero(held[9:18] == 0)[0]) + 9
    for choices in ([[missing, 30]], [[34, 0]], [[-2, 0]]):
        with pytest.raises(ValueError, match="row 0: one of the choices"):
            play_out(deal.tables, DISCARD_HEAD, np.zeros(1, np.int64), np.full(1, -1), np.array(choices, np.int16))
    with pytest.raises(ValueError, match="row 0: one of the choices"):
        play_out(deal.tables, PONG_HEAD, np.zeros(1, np.int64), np.array([PON]), np.array([[0, 1]], np.int16))


def test_the_no_of_a_riichi_is_the_discard_that_follows_it() -> None:
    simulator, found = after(0, range(60)), 0
    for _ in range(60):
        tables = simulator.tables
        asked = np.flatnonzero((tables["phase"] == OWN_TURN) & (tables["legal"][:, RIICHI] == 1))
        for i in asked.tolist():
            table = tables[i : i + 1].copy()
            kind = int(np.flatnonzero(table["hand"][0, table["actor"][0]])[0])
            one, none = np.zeros(1, np.int64), np.full(1, -1)
            branches = branch(table, RIICHI_HEAD, one, none, np.array([[1, 0]], np.int16), after_no=np.array([kind]))
            assert branches.actions.tolist() == [RIICHI, discard_action(table[0], kind)]
            points = branches.points()[0]
            assert points.tolist() == [points_with_the_simulator(table, int(each)) for each in branches.actions]
            for kinds in (None, np.array([-1]), np.flatnonzero(table["hand"][0, table["actor"][0]] == 0)[:1]):
                with pytest.raises(ValueError, match="row 0: one of the choices"):
                    branch(table, RIICHI_HEAD, one, none, np.array([[1, 0]], np.int16), after_no=kinds)
            found += 1
        play_on(simulator, 1)
    assert found > 5


def test_an_own_kan_cannot_be_played_out() -> None:
    deal = Deal(["", "", "", ""], left=40)
    with pytest.raises(ValueError, match="the actions of kong cannot be played out"):
        play_out(deal.tables, KONG_HEAD, NO_CANDIDATES, NO_CANDIDATES, np.zeros((0, 2), np.int16))
