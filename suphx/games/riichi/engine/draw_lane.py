"""Draw lanes: every seat draws from its own positions of the wall, so that a call does not move what the others draw.

In an ordinary game a call shifts all later draws: from then on each seat draws what another one would have drawn. With
draw lanes the seat r seats after the dealer takes as its draw d (from 0 on) the tile at position r + 4 d of the live
wall. If that tile is gone or belongs to the dead wall, it takes the next tile that is not; after the last position
comes the first one. Each kan moves the last undrawn tile into the dead wall, so the number of draws does not change.

Who draws where follows from what all seats have seen, and undrawn tiles are exchangeable: the law of the game is the
same as without lanes (docs/evaluation.md).

``wall`` stays in drawing order, as if nobody called from now on. So a log of the game is replayed like any other log,
and planes that show the next draws (features/oracle.py) are right.
"""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.engine.legal import dealer_of, tiles_left
from suphx.games.riichi.table.table import ANKAN_MELD, Table
from suphx.games.riichi.table.wall import DEALT, NUM_DRAWS
from suphx.kernel.jit import jit
from suphx.kernel.record import I16, I64

_DRAWN = -1


@jit
def reorder_draws(t: Table) -> None:
    """Bring the undrawn tiles into drawing order after a call or a kan of ``t.turn``; the next seat draws next."""
    first = t.next_draw - DEALT
    tiles = np.full(NUM_DRAWS, _DRAWN, np.int16)  # by position
    for i in range(first, NUM_DRAWS):
        tiles[t.draw_places[i]] = t.wall[DEALT + i]
    end = _end_of_live_wall(tiles, t.num_kans)
    draws = _count_draws(t)
    seat = t.turn
    for i in range(first, first + tiles_left(t)):
        seat = (seat + 1) % 4
        position = (seat - dealer_of(t)) % 4 + 4 * draws[seat]
        while position >= end or tiles[position] == _DRAWN:
            position = position + 1 if position < end else 0
        _put(t, i, tiles, position)
        draws[seat] += 1
    position = end
    for i in range(first + tiles_left(t), NUM_DRAWS):
        while tiles[position] == _DRAWN:
            position += 1
        _put(t, i, tiles, position)


@jit
def _put(t: Table, i: int, tiles: I16, position: int) -> None:
    t.wall[DEALT + i] = tiles[position]
    t.draw_places[i] = position
    tiles[position] = _DRAWN


@jit
def _end_of_live_wall(tiles: I16, num_kans: int) -> int:
    """Return the position behind the live wall: the last ``num_kans`` undrawn tiles belong to the dead wall."""
    end = NUM_DRAWS
    while num_kans > 0:
        end -= 1
        num_kans -= tiles[end] != _DRAWN
    return end


@jit
def _count_draws(t: Table) -> I64:
    """Return how often each seat has drawn from the live wall, int64 (4,), while it is the turn of ``t.turn``.

    A turn begins with such a draw or with a meld of another seat's tile, and all turns but the running one have ended
    with a discard.
    """
    draws = np.zeros(4, np.int64)
    for seat in range(4):
        draws[seat] = t.river_length[seat] + (seat == t.turn)
        for i in range(t.num_melds[seat]):
            draws[seat] -= t.meld_type[seat, i] != ANKAN_MELD
    return draws
