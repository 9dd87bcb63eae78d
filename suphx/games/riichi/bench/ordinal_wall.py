"""Walls as matches had them before they followed from kyoku and honba: by the number of deals played so far.

Only measurements of what shared walls save use them (docs/evaluation.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from suphx.games.riichi.engine.hanchan import end_kyoku
from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.table.table import GAME_END, KYOKU_END
from suphx.games.riichi.table.wall import shuffle_wall


class OrdinalWallSimulator(Simulator):
    """A simulator in which the wall of a deal follows from the seed and the number of deals before it.

    Games of one seed share no hand any more once they have differed in who stays dealer. It must stop at the end of a
    kyoku, as in ``play_stream``.
    """

    def next_kyoku(self, indices: ArrayLike) -> None:
        """Go on from the end of a deal to the next one or to the end of the game."""
        suits = load_suits()
        for index in np.asarray(indices).tolist():
            table = self.tables[index]
            if table["phase"] != KYOKU_END:
                continue
            end_kyoku(table)
            if table["phase"] != GAME_END:
                # The first deal of a game, East 1 and honba 0, has the number 0 in both schemes.
                shuffle_wall(int(table["wall_seed"]), 0, int(table["num_kyoku"]), table["wall"])
                table["num_kyoku"] += 1
                start_kyoku(table, suits)
