from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.bots import choose_scripted, play_scripted
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.moves import load_moves, move_text
from suphx.games.doudizhu.table import LANDLORD, Rules
from tests.games.doudizhu.builders import play_text
from tests.games.doudizhu.invariants import check_invariants

RULES = Rules()
MOVES = load_moves()
ONLY = np.zeros(1, np.int64)


def choice(hands: tuple[str, str, str], game: str = "") -> str:
    """Return what the rule agent plays after these moves."""
    simulator = Simulator(1, RULES)
    simulator.tables[:] = play_text(MOVES, hands, game)
    offsets, legal = simulator.legal(ONLY)
    return move_text(MOVES, int(legal[choose_scripted(simulator.tables, MOVES, ONLY, offsets, legal, "rule")[0]]))


@pytest.mark.parametrize("agents", [("random", "random"), ("rule", "random"), ("rule", "rule")])
def test_whole_games_are_those_of_the_simulator(agents: tuple[str, str]) -> None:
    played = play_scripted(20, RULES, agents, seed=100)
    simulator = Simulator(20, RULES)
    simulator.reset(range(100, 120))
    while (waiting := simulator.waiting()).size:
        actors = simulator.tables["actor"][waiting]
        for agent, mine in zip(agents, (actors == LANDLORD, actors != LANDLORD), strict=True):
            tables = waiting[mine]
            offsets, legal = simulator.legal(tables)
            chosen = choose_scripted(simulator.tables, simulator.moves, tables, offsets, legal, agent)
            simulator.advance(tables, legal[chosen])
    for table in simulator.tables:
        check_invariants(table, simulator.moves)
    assert simulator.tables["winner"].tolist() == played.winners.tolist()
    assert simulator.tables["num_bombs"].tolist() == played.bombs.tolist()
    assert simulator.tables["num_moves"].tolist() == played.decisions.tolist()


def test_games_do_not_depend_on_threads_and_on_the_games_beside_them() -> None:
    one, two = (play_scripted(200, RULES, seed=7, num_threads=threads) for threads in (1, 2))
    assert (one.winners == two.winners).all()
    assert (play_scripted(50, RULES, seed=57).decisions == one.decisions[50:100]).all()


def test_the_rule_agent_beats_random_on_both_sides() -> None:
    assert (play_scripted(500, RULES, ("rule", "random"), seed=3).winners == LANDLORD).mean() > 0.9
    assert (play_scripted(500, RULES, ("random", "rule"), seed=3).winners != LANDLORD).mean() > 0.95


@pytest.mark.parametrize(
    ("hands", "game", "wanted"),
    [
        (("3334", "5566", "7788"), "", "3334"),  # all at once
        (("3KKA", "6678", "5999"), "3 6", "pass"),
        (("345", "6", "99JJQQ"), "", "5"),  # an opponent has one card: the highest first
    ],
)
def test_what_the_rule_agent_plays(hands: tuple[str, str, str], game: str, wanted: str) -> None:
    assert choice(hands, game) == wanted


def test_the_rule_agent_leaves_a_high_card_to_its_teammate() -> None:
    hands = ("3345678", "KK44", "A2A2")
    assert choice(hands, "3 K") == "pass"
