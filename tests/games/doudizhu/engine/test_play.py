from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.cards.card import cards_text
from suphx.games.doudizhu.engine.invariants import check_invariants
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.score import scores_of
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.engine.table import GAME_END, NO_SEAT, PLAYING
from suphx.games.doudizhu.moves.move_table import find_move, load_moves, move_text
from tests.games.doudizhu.builders.table_builder import play_text

MOVES = load_moves()
HANDS = ("33456TT2", "4477778J", "99QQKBR")


def test_after_two_passes_the_last_player_leads() -> None:
    table = play_text(MOVES, HANDS, "33 44 99 TT pass pass")[0]
    assert (table["actor"], table["num_passes"]) == (0, 2)
    assert move_text(MOVES, int(table["to_beat"])) == "pass"
    table = play_text(MOVES, HANDS, "33 44 99 TT pass pass 2 pass BR pass pass K")[0]
    assert (table["actor"], table["num_passes"], table["num_bombs"]) == (0, 0, 1)
    assert move_text(MOVES, int(table["to_beat"])) == "K"
    assert [move_text(MOVES, move) for move in table["last_moves"].tolist()] == ["pass", "pass", "K"]


def test_one_pass_leaves_the_move_to_beat() -> None:
    table = play_text(MOVES, HANDS, "33 pass")[0]
    assert (table["actor"], move_text(MOVES, int(table["to_beat"]))) == (2, "33")
    assert [cards_text(hand) for hand in table["hands"].tolist()] == ["456TT2", "4477778J", "99QQKBR"]
    assert [cards_text(cards) for cards in table["played"].tolist()] == ["33", "pass", "pass"]


@pytest.mark.parametrize(
    ("hands", "game", "winner", "points", "log_points"),
    [
        (("33", "8", "9"), "3 pass pass 3", 0, [1, -1, -1], [1, -1, -1]),
        (("33", "48888", "6Q"), "3 4 6 pass 8888", 1, [-2, 2, 2], [-2, 2, 2]),
        (("334", "8888J", "BR"), "3 8888 BR", 2, [-4, 4, 4], [-3, 3, 3]),
    ],
)
def test_a_game_ends_with_the_first_empty_hand(
    hands: tuple[str, str, str], game: str, winner: int, points: list[int], log_points: list[int]
) -> None:
    tables = play_text(MOVES, hands, game)
    assert (tables[0]["winner"], tables[0]["phase"]) == (winner, GAME_END)
    assert scores_of(tables, "win").tolist() == [np.sign(points).tolist()]
    assert scores_of(tables, "points").tolist() == [points]
    assert scores_of(tables, "log points").tolist() == [log_points]


def test_a_game_that_goes_on_is_worth_nothing() -> None:
    tables = play_text(MOVES, HANDS, "33 44")
    assert (tables[0]["winner"], tables[0]["phase"]) == (NO_SEAT, PLAYING)
    assert scores_of(tables, "points").tolist() == [[0, 0, 0]]


def test_a_simulator_scores_by_its_rules() -> None:
    simulator = Simulator(1, Rules(scoring="points"))
    simulator.reset([0])
    simulator.tables[:] = play_text(MOVES, ("56", "8888J", "BR3"), "5 8888 BR pass pass 3")
    assert simulator.scores().tolist() == [[-4, 4, 4]]
    assert simulator.waiting().size == 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hands", 0, "are not the deck"),
        ("num_passes", 1, "passes or bombs are stale"),
        ("to_beat", 3, "the move to beat is stale"),
        ("actor", 2, "another seat's turn"),
        ("winner", 1, "seats without cards"),
        ("last_moves", 0, "last moves are stale"),
    ],
)
def test_a_table_that_contradicts_its_moves_is_found(name: str, value: int, message: str) -> None:
    simulator = Simulator(1, Rules())
    simulator.reset([0])
    check_invariants(simulator.tables[0], simulator.moves)
    simulator.tables[name] = value
    with pytest.raises(AssertionError, match=message):
        check_invariants(simulator.tables[0], simulator.moves)


def test_moves_are_found_by_their_cards() -> None:
    with pytest.raises(ValueError, match=r"335 is no move: docs/doudizhu\.md lists the types"):
        find_move(MOVES, "335")
