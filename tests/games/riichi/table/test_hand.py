from __future__ import annotations

import numpy as np

from suphx.games.riichi.table.hand import add_to_hand, remove_from_hand
from suphx.games.riichi.table.table import TABLE
from suphx.games.riichi.table.tile import ALL_RED_FIVES, NUM_FACES, NUM_KINDS, RED_IDS, kind_of_face


def test_a_hand_counts_tiles_by_kind_and_marks_the_red_fives() -> None:
    table = np.zeros(1, TABLE)[0]
    for face in range(NUM_FACES):
        add_to_hand(table, 2, face)
    assert table["hand"][2].tolist() == [2 if 4 * kind in RED_IDS else 1 for kind in range(NUM_KINDS)]
    assert table["red"].tolist() == [0, 0, ALL_RED_FIVES, 0]
    for face in range(NUM_FACES):
        had = int(table["hand"][2, kind_of_face(face)])
        remove_from_hand(table, 2, face)
        assert table["hand"][2, kind_of_face(face)] == had - 1
    assert not table["hand"].any()
    assert not table["red"].any()
