from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.cards.card import DECK, cards_text, counts_of
from suphx.games.doudizhu.engine.invariants import check_invariants
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.engine.table import GAME_END, LANDLORD, MAX_MOVES
from suphx.games.doudizhu.moves.move_table import find_move
from suphx.kernel.record import Records
from tests.kernel.wrong_tables import WRONG_TABLES

NUM_GAMES = 40


def play_at_random(simulator: Simulator, *, seed: int, checks: bool = False) -> Records:
    """Play all games to the end; every table has its own random numbers."""
    rngs = [np.random.default_rng([seed, int(table_seed)]) for table_seed in simulator.tables["seed"]]
    while (waiting := simulator.waiting()).size:
        offsets, legal = simulator.legal(waiting)
        numbers = [rngs[table].random() for table in waiting]
        simulator.advance(waiting, legal[(offsets[:-1] + np.diff(offsets) * numbers).astype(np.int64)])
        if checks:
            for index in waiting:
                check_invariants(simulator.tables[index], simulator.moves)
    return simulator.tables


@pytest.mark.parametrize("rules", [Rules(), Rules(douzero_kickers=True)], ids=["27,472 moves", "DouZero's kickers"])
def test_invariants_hold_in_random_games(rules: Rules) -> None:
    simulator = Simulator(NUM_GAMES, rules)
    simulator.reset(range(NUM_GAMES))
    tables = play_at_random(simulator, seed=3, checks=True)
    assert (tables["phase"] == GAME_END).all()
    assert 0 < (tables["winner"] == LANDLORD).sum() < NUM_GAMES
    assert tables["num_moves"].max() <= MAX_MOVES


def test_a_game_does_not_depend_on_the_tables_beside_it() -> None:
    many, one = Simulator(5, Rules()), Simulator(1, Rules())
    many.reset(range(10, 15))
    one.reset([13])
    assert play_at_random(many, seed=0)[3] == play_at_random(one, seed=0)[0]


def test_everybody_gets_17_cards_and_the_landlord_the_bottom_cards_too() -> None:
    simulator = Simulator(100, Rules())
    simulator.reset(range(100))
    hands = counts_of(simulator.tables["hands"])
    assert hands.sum(axis=2).tolist() == [[20, 17, 17]] * 100
    assert (simulator.tables["hands"].sum(axis=1) == DECK).all()
    assert (counts_of(simulator.tables["bottom"]) <= hands[:, LANDLORD]).all()
    mean = hands.mean(axis=0)  # every seat gets every rank equally often
    assert np.abs(mean / mean.sum(axis=1, keepdims=True) - counts_of(np.array(DECK)) / 54).max() < 0.02
    assert len(set(simulator.tables["hands"][:, 0].tolist())) == 100


def test_a_seed_deals_the_same_cards_everywhere() -> None:
    simulator = Simulator(1, Rules())
    simulator.reset([7])
    assert [cards_text(hand) for hand in simulator.tables["hands"][0].tolist()] == [
        "3344456799TTQQQA22BR", "334555668889JJQKA", "677789TTJJKKKAA22",
    ]  # fmt: skip


def test_some_tables_are_dealt_again() -> None:
    simulator = Simulator(3, Rules())
    simulator.reset([1, 2, 3])
    before = simulator.tables.copy()
    simulator.reset([9], np.array([1]))
    assert simulator.tables["seed"].tolist() == [1, 9, 3]
    assert (simulator.tables[[0, 2]] == before[[0, 2]]).all()


def test_a_list_of_moves_that_does_not_fit_at_first_is_complete() -> None:
    few, many = Simulator(1, Rules()), Simulator(600, Rules())
    few.reset([0])
    many.reset([0] * 600)
    _, legal = few.legal(np.zeros(1, np.int64))
    many._legal = many._legal[: many.moves.num_moves]  # as small as it may be
    offsets, moves = many.legal(np.arange(600))
    assert (np.diff(offsets) == len(legal)).all()
    assert (moves.reshape(600, -1) == legal).all()


def test_a_table_that_does_not_wait_has_no_moves() -> None:
    simulator = Simulator(2, Rules())
    simulator.reset([4], np.array([1]))
    assert simulator.waiting().tolist() == [1]
    offsets, moves = simulator.legal(np.array([0, 1, 0]))
    assert offsets.tolist() == [0, 0, len(moves), len(moves)]


def test_a_move_that_is_not_legal_is_refused_with_those_that_are() -> None:
    simulator = Simulator(1, Rules())
    with pytest.raises(ValueError, match=r"table 0, landlord: pass is not legal; legal: nothing, the table does not"):
        simulator.advance(np.array([0]), np.array([simulator.moves.num_moves - 1]))
    simulator.reset([0])
    with pytest.raises(ValueError, match=r"table 0, landlord: pass is not legal; legal: .*, …"):
        simulator.advance(np.array([0]), np.array([simulator.moves.num_moves - 1]))
    with pytest.raises(ValueError, match="move 99999 is not legal"):
        simulator.advance(np.array([0]), np.array([99_999]))
    with pytest.raises(ValueError, match="2 moves for 1 tables: give one a table"):
        simulator.advance(np.array([0]), np.array([find_move(simulator.moves, "3")] * 2))


@pytest.mark.parametrize(
    ("seeds", "message"),
    [([1], "1 seeds for 2 tables: give one a table"), ([0, -1], "seeds must lie in"), ([0, 2**62], "seeds must lie")],
)
def test_wrong_seeds_are_refused(seeds: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Simulator(2, Rules()).reset(seeds)


def test_a_simulator_needs_a_table_and_rules_a_known_scoring() -> None:
    with pytest.raises(ValueError, match="num_tables is 0"):
        Simulator(0, Rules())
    with pytest.raises(ValueError, match="scoring is 'elo': use one of 'win', 'points', 'log points'"):
        Rules(scoring="elo")  # type: ignore[arg-type]


@pytest.mark.parametrize(("indices", "message"), WRONG_TABLES)
def test_a_table_that_is_not_there_or_is_named_twice_is_refused_and_nothing_changes(
    indices: list[int], message: str
) -> None:
    simulator = Simulator(3, Rules())
    simulator.reset([5, 6, 7])
    before = simulator.tables.tobytes()
    offsets, legal = simulator.legal(np.arange(3))
    moves = np.array([legal[offsets[index % 3]] for index in indices])
    with pytest.raises(ValueError, match=message):
        simulator.advance(np.array(indices), moves)
    assert simulator.tables.tobytes() == before


@pytest.mark.parametrize("index", [-1, 2, 10**12])
def test_no_moves_are_listed_and_no_cards_dealt_for_a_table_that_is_not_there(index: int) -> None:
    simulator = Simulator(2, Rules())
    simulator.reset([5, 6])
    for call in (simulator.legal, lambda indices: simulator.reset([1, 2], indices)):
        with pytest.raises(ValueError, match=f"there is no table {index}: use 0 to 1"):
            call(np.array([0, index]))


def test_lists_name_tables_and_moves() -> None:
    simulator, same = Simulator(2, Rules()), Simulator(2, Rules())
    simulator.reset([7, 8])
    same.reset([7], [0])
    same.reset([8], [1])
    offsets, moves = simulator.legal([0, 1])
    simulator.advance([0, 1], moves[offsets[:-1]].tolist())
    same.advance(np.array([0, 1]), moves[offsets[:-1]])
    assert simulator.tables.tobytes() == same.tables.tobytes()
    with pytest.raises(ValueError, match="moves are float64: give integers"):
        simulator.advance([0, 1], [0.5, 0.5])
