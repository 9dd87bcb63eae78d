from __future__ import annotations

import numpy as np

from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.table.rule_flag import RULE_VALUES
from suphx.games.riichi.table.table import TABLE
from tests.games.riichi.builders.table_builder import Deal


def test_a_new_deal_keeps_nothing_of_the_one_before() -> None:
    fresh, other = Deal([""], draws="1z"), Deal([""], draws="1z")
    names = TABLE.names or ()
    kept = {*(RULE_VALUES.names or ()), "scores", "kyoku", "honba", "kyotaku", "wall", "wall_seed", "placement"}
    kept |= {"num_kyoku", "num_decisions", "has_draw_lanes"}  # of the game
    for name in set(names) - kept:
        other.table[name] = 1
    start_kyoku(other.tables[0], load_suits())
    for name in names:
        assert np.array_equal(other.table[name], fresh.table[name]), name
