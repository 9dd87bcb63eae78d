"""Planes of what the three other seats may still wait for: safe tiles, suji, walls, and the waits that are left."""

from __future__ import annotations

from suphx.games.riichi.features.layout.paper_layout import PUBLIC, SAFE_TILE_BORDERS
from suphx.games.riichi.features.layout.planes import ALL_KINDS, CountMasks, count_tiles, set_kinds, set_plane
from suphx.games.riichi.table.table import Table
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

_SAFE = PUBLIC["safe"].first
_SUJI = PUBLIC["suji"].first
_HALF_SUJI = PUBLIC["half_suji"].first
_TWO_SIDED = PUBLIC["two_sided"].first
_CLOSED_WAIT = PUBLIC["closed_wait"].first
_EDGE_WAIT = PUBLIC["edge_wait"].first
_PAIR_WAIT = PUBLIC["pair_wait"].first
_SINGLE_WAIT = PUBLIC["single_wait"].first
_NO_CHANCE = PUBLIC["no_chance"].first
_ONE_CHANCE = PUBLIC["one_chance"].first
_SAFE_FROM_RIICHI = PUBLIC["safe_from_riichi"].first
_SAFE_FROM_ALL = PUBLIC["safe_from_all"].first
_SAFE_TILES_HELD = PUBLIC["safe_tiles_held"].first

# Numbers that have neighbours: a bit set moved down by 3 shows for each kind what lies 3 above it, and with _UP_3 only
# kinds remain whose neighbour is of the same suit.
_SUITS = 1 | 1 << 9 | 1 << 18
_NUMBERS = 0x1FF * _SUITS
_UP_3 = 0x03F * _SUITS
_DOWN_3 = 0x1F8 * _SUITS
_BETWEEN = 0x0FE * _SUITS
_THREES = 0x004 * _SUITS
_SEVENS = 0x040 * _SUITS
_FOUR_TO_SIX = 0x038 * _SUITS


@jit
def fill_safety(t: Table, seat: int, hand: CountMasks, unseen: CountMasks, row: U8) -> None:
    """Fill the planes of safety against the three others; ``hand``: own tiles, ``unseen``: what ``seat`` cannot see."""
    safe_from_all = safe_from_riichi = ALL_KINDS
    is_threatened = False
    above, below = _shapes(unseen[0])
    for i in range(3):
        other = (seat + 1 + i) % 4
        safe = int(t.river_kinds[other] | t.passed_kinds[other])
        _fill_waits(i, safe, above, below, unseen, row)
        for n in range(3):
            if count_tiles(safe, hand) >= SAFE_TILE_BORDERS[n]:
                set_plane(row, _SAFE_TILES_HELD + 3 * i + n)
        safe_from_all &= safe
        if t.riichi[other]:
            is_threatened = True
            safe_from_riichi &= safe
    set_kinds(row, _SAFE_FROM_ALL, safe_from_all)
    if is_threatened:
        set_kinds(row, _SAFE_FROM_RIICHI, safe_from_riichi)
    no_chance = _NUMBERS & ~(above | below)
    likely_above, likely_below = _shapes(unseen[1])
    set_kinds(row, _NO_CHANCE, no_chance)
    set_kinds(row, _ONE_CHANCE, _NUMBERS & ~(likely_above | likely_below) & ~no_chance)


@jit
def _shapes(tiles: int) -> tuple[int, int]:
    """Return the numbers that two-sided waits of the two next higher, and of the two next lower kinds take."""
    return tiles >> 1 & tiles >> 2 & _UP_3, tiles << 1 & tiles << 2 & _DOWN_3


@jit
def _fill_waits(i: int, safe: int, above: int, below: int, unseen: CountMasks, row: U8) -> None:
    """Fill the planes of other seat ``i`` whose ``safe`` kinds are known."""
    one, two = unseen[0], unseen[1]
    open_ = ALL_KINDS & ~safe
    # The other end of a two-sided wait, if it is not safe: 3 above, 3 below.
    free_above, free_below = open_ >> 3 & _UP_3, open_ << 3 & _DOWN_3
    set_kinds(row, _SAFE + i, safe)
    set_kinds(row, _SUJI + i, open_ & _NUMBERS & ~free_above & ~free_below)
    set_kinds(row, _HALF_SUJI + i, open_ & _FOUR_TO_SIX & (free_above ^ free_below))
    high, low = above & free_above & open_, below & free_below & open_
    set_kinds(row, _TWO_SIDED + 2 * i, high | low)
    set_kinds(row, _TWO_SIDED + 2 * i + 1, high & low)
    set_kinds(row, _CLOSED_WAIT + i, one >> 1 & one << 1 & _BETWEEN & open_)
    edges = one << 1 & one << 2 & _THREES | one >> 1 & one >> 2 & _SEVENS
    set_kinds(row, _EDGE_WAIT + i, edges & open_)
    set_kinds(row, _PAIR_WAIT + i, two & open_)
    set_kinds(row, _SINGLE_WAIT + i, one & open_)
