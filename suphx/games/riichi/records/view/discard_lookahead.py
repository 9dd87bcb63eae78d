"""What each discard leaves: the shanten of the hand and the tiles that improve it, as far as its owner can see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from suphx.games.riichi.hand.ukeire import DiscardUkeire, count_discard_ukeire
from suphx.games.riichi.table.meld import add_meld
from suphx.games.riichi.table.table import CALLED_FLAG
from suphx.games.riichi.table.tile import NUM_KINDS, kind_of_face
from suphx.games.riichi.table.wall import dora_indicator
from suphx.kernel.record import I8

_SEATS = 4


def discard_lookahead(table: Any) -> DiscardUkeire:
    """Return shanten int8 (1, 34) and unseen improving tiles int64 (1, 34) after each discard of a TABLE's actor.

    ValueError unless the actor holds 14 tiles, melds counted as three.
    """
    seat = int(table["actor"])
    unseen = np.maximum(unseen_tiles(table, seat), 0)
    return count_discard_ukeire(table["hand"][seat][None], int(table["num_melds"][seat]), unseen=unseen)


def unseen_tiles(table: Any, seat: int) -> I8:
    """Return int8 (34,): the tiles of each kind that ``seat`` cannot see."""
    unseen = np.full(NUM_KINDS, 4, np.int8) - table["hand"][seat]
    for number in range(int(table["num_dora"])):
        unseen[dora_indicator(table["wall"], number) >> 2] -= 1
    for other in range(_SEATS):
        for place in range(int(table["river_length"][other])):
            if not table["river_flags"][other, place] & CALLED_FLAG:
                unseen[kind_of_face(int(table["river"][other, place]))] -= 1
        for meld in range(int(table["num_melds"][other])):
            add_meld(unseen, table["meld_type"][other, meld], table["meld_kind"][other, meld], -1)
    return unseen
