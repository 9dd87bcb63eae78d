from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.cards.card import count_cards
from suphx.games.doudizhu.features.columns import LANDLORD_COLUMNS, PEASANT_COLUMNS, move_columns
from suphx.games.doudizhu.moves.move_table import find_move, load_moves

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
