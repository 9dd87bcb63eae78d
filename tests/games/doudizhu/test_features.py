"""By hand; tests/games/doudizhu/peers compares whole games with DouZero's observations."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.cards import count_cards
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.features import (
    LANDLORD_COLUMNS,
    LANDLORD_PARTS,
    PEASANT_COLUMNS,
    PEASANT_PARTS,
    encode_rows,
    move_columns,
)
from suphx.games.doudizhu.moves import find_move, load_moves
from suphx.games.doudizhu.table import Rules
from suphx.kernel.record import U8
from tests.games.doudizhu.builders import play_text

MOVES = load_moves()


def test_a_landlord_has_319_columns_and_a_peasant_430() -> None:
    assert (LANDLORD_COLUMNS, PEASANT_COLUMNS) == (319, 430)


def test_a_move_marks_a_column_for_each_of_its_cards() -> None:
    columns = move_columns(MOVES)
    assert columns.shape == (MOVES.num_moves, 54)
    assert columns.sum(axis=1).tolist() == [count_cards(int(cards)) for cards in MOVES.cards]
    assert np.flatnonzero(columns[find_move(MOVES, "3334")]).tolist() == [0, 1, 2, 4]
    assert np.flatnonzero(columns[find_move(MOVES, "BR")]).tolist() == [52, 53]
    assert not columns[find_move(MOVES, "pass")].any()


HANDS = ("3334568TTQKKA2BR", "3455667799JJQQA22", "4455667788899TJK2")
ONLY = np.zeros(1, np.int64)


def parts_of(row: U8, widths: dict[str, int]) -> dict[str, list[int]]:
    """Return the marked columns of each part of a row."""
    ends = np.cumsum(list(widths.values()))
    parts = np.split(row, ends[:-1])
    return {name: np.flatnonzero(part).tolist() for name, part in zip(widths, parts, strict=True)}


def test_a_landlord_sees_its_hand_the_others_together_and_what_was_played() -> None:
    table = play_text(MOVES, HANDS, "3 7 8 T J pass Q pass pass K pass pass")
    rows = encode_rows(table, MOVES, ONLY, 0)
    seen = parts_of(rows[0, :LANDLORD_COLUMNS], LANDLORD_PARTS)
    left = [len(hand) - plays for hand, plays in zip(HANDS, (4, 2, 1), strict=True)]
    assert len(seen["own hand"]) == left[0]
    assert len(seen["hands of the others"]) == left[1] + left[2]
    assert (seen["played by landlord_up"], seen["played by landlord_down"]) == ([20], [16, 32])
    assert (seen["cards left of landlord_up"], seen["cards left of landlord_down"]) == ([left[2] - 1], [left[1] - 1])
    assert (seen["move to beat"], seen["bombs"]) == ([], [0])


def test_the_history_ends_with_the_last_move_and_is_empty_before_the_first() -> None:
    table = play_text(MOVES, HANDS, "3 7 8")
    moves = encode_rows(table, MOVES, ONLY, 0)[:, LANDLORD_COLUMNS:].reshape(15, 54)
    assert [np.flatnonzero(move).tolist() for move in moves[-3:]] == [[0], [16], [20]]
    assert not moves[:-3].any()


def test_a_pass_and_what_was_not_played_look_alike() -> None:
    table = play_text(MOVES, HANDS, "3 pass pass")
    moves = encode_rows(table, MOVES, ONLY, 0)[:, LANDLORD_COLUMNS:].reshape(15, 54)
    assert np.flatnonzero(moves.any(axis=1)).tolist() == [12]


def test_a_peasant_knows_its_teammate_from_the_landlord() -> None:
    table = play_text(MOVES, HANDS, "3 7")
    rows = encode_rows(table, MOVES, ONLY, 2)
    seen = parts_of(rows[0, :PEASANT_COLUMNS], PEASANT_PARTS)
    assert (seen["played by the landlord"], seen["played by the teammate"]) == ([0], [16])
    assert (seen["last move of the landlord"], seen["last move of the teammate"]) == ([0], [16])
    assert seen["move to beat"] == [16]
    assert seen["cards left of the landlord"] == [len(HANDS[0]) - 2]
    assert seen["cards left of the teammate"] == [len(HANDS[1]) - 2]


def test_a_table_at_which_another_seat_is_to_move_is_refused() -> None:
    simulator = Simulator(2, Rules())
    with pytest.raises(ValueError, match="table 0 does not wait for a move of seat 0"):
        encode_rows(simulator.tables, simulator.moves, np.arange(2), 0)
    simulator.reset([1, 2])
    with pytest.raises(ValueError, match="table 1 does not wait for a move of seat 2"):
        encode_rows(simulator.tables, simulator.moves, ONLY + 1, 2)
