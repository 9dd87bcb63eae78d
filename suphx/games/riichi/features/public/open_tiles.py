"""Planes of what lies open on the table: melds, rivers, dora; and the tiles that the observer sees."""

from __future__ import annotations

from suphx.games.riichi.engine.legal import is_closed
from suphx.games.riichi.features.layout.meld_masks import meld_masks
from suphx.games.riichi.features.layout.paper_layout import (
    MAX_DORA,
    MAX_DORA_HELD,
    PUBLIC,
    RIICHI_TURN_BORDERS,
    RIVER_PLACES,
)
from suphx.games.riichi.features.layout.planes import (
    ALL_KINDS,
    CountMasks,
    add_tile,
    count_bits,
    count_tiles,
    set_bit,
    set_counts,
    set_kinds,
    set_plane,
)
from suphx.games.riichi.table.red_five import is_red, red_kinds
from suphx.games.riichi.table.table import (
    ANKAN_MELD,
    CALLED_FLAG,
    CHI_MELD,
    PON_MELD,
    RIICHI_FLAG,
    TSUMOGIRI_FLAG,
    Table,
)
from suphx.games.riichi.table.tile import face_of_id, kind_of_face
from suphx.games.riichi.table.wall import dora_indicator, dora_kind
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

_MELDS = PUBLIC["melds"].first
_MELD_SOURCES = PUBLIC["meld_sources"].first
_MELD_RED = PUBLIC["meld_red"].first
_KANS = PUBLIC["kans"].first
_CLOSED = PUBLIC["closed"].first
_RIVERS = PUBLIC["rivers"].first
_TSUMOGIRI = PUBLIC["tsumogiri"].first
_RIVER_COUNTS = PUBLIC["river_counts"].first
_RIVER_RED = PUBLIC["river_red"].first
_CALLED = PUBLIC["called"].first
_RIICHI_TILE = PUBLIC["riichi_tile"].first
_RIICHI_TURN = PUBLIC["riichi_turn"].first
_LAST_DISCARD = PUBLIC["last_discard"].first
_LAST_TEDASHI = PUBLIC["last_tedashi"].first
_DORA_INDICATORS = PUBLIC["dora_indicators"].first
_DORA_COUNTS = PUBLIC["dora"].first
_DORA_HELD = PUBLIC["dora_held"].first
_UNSEEN = PUBLIC["unseen"].first
_UNSEEN_RED = PUBLIC["unseen_red"].first


@jit
def fill_open_tiles(t: Table, seat: int, hand: CountMasks, row: U8) -> CountMasks:
    """Fill the planes of melds, rivers, dora and unseen tiles; return the counts of the tiles that ``seat`` cannot see.

    ``hand``: the observer's own tiles.
    """
    seen = hand
    seen_red = red_kinds(int(t.red[seat]))
    dora = dora_masks(t)
    for relative in range(4):
        other = (seat + relative) % 4
        seen, red = _fill_melds(t, other, relative, seen, row)
        held = count_dora(hand, dora) + count_bits(seen_red) if relative == 0 else 0
        held += melded_dora(t, other, dora)
        for i in range(min(held, MAX_DORA_HELD)):
            set_plane(row, _DORA_HELD + MAX_DORA_HELD * relative + i)
        seen_red |= red
        seen, red = _fill_river(t, other, relative, seen, row)
        seen_red |= red
    for i in range(min(int(t.num_dora), MAX_DORA)):
        tile = int(dora_indicator(t.wall, i))
        seen = add_tile(seen, tile >> 2)
        if is_red(face_of_id(tile, t.red_fives)):
            seen_red |= 1 << (tile >> 2)
        set_bit(row, _DORA_INDICATORS + i, tile >> 2)
    set_counts(row, _DORA_COUNTS, dora)
    unseen = (ALL_KINDS & ~seen[3], ALL_KINDS & ~seen[2], ALL_KINDS & ~seen[1], ALL_KINDS & ~seen[0])
    set_counts(row, _UNSEEN, unseen)
    set_kinds(row, _UNSEEN_RED, red_kinds(t.red_fives) & ~seen_red)
    return unseen


@jit
def dora_masks(t: Table) -> CountMasks:
    """Return how many times each kind is dora, as count masks; the fifth indicator for one kind changes nothing."""
    masks = (0, 0, 0, 0)
    for i in range(min(int(t.num_dora), MAX_DORA)):
        masks = add_tile(masks, dora_kind(t.wall, i))
    return masks


@jit
def count_dora(tiles: CountMasks, dora: CountMasks) -> int:
    """Return the dora among ``tiles``, red fives not counted."""
    total = 0
    for times in dora:
        if times:
            total += count_tiles(times, tiles)
    return total


@jit
def melded_dora(t: Table, seat: int, dora: CountMasks) -> int:
    """Return the dora and red fives in the melds of a seat."""
    total = 0
    for i in range(t.num_melds[seat]):
        total += count_dora(meld_masks(t.meld_type[seat, i], int(t.meld_kind[seat, i])), dora) + t.meld_red[seat, i]
    return int(total)


@jit
def _fill_melds(t: Table, seat: int, relative: int, seen: CountMasks, row: U8) -> tuple[CountMasks, int]:
    """Fill the melds of a seat; return ``seen`` with their tiles, except claimed ones, and the red fives in them."""
    red = 0
    for i in range(t.num_melds[seat]):
        meld_type, kind = int(t.meld_type[seat, i]), int(t.meld_kind[seat, i])
        claimed = int(kind_of_face(t.meld_tile[seat, i])) if meld_type != ANKAN_MELD else -1
        set_counts(row, _MELDS + 16 * relative + 4 * i, meld_masks(meld_type, kind))
        if meld_type == CHI_MELD:
            for other in range(kind, kind + 3):
                # The claimed tile lies in the river of its discarder, too.
                seen = add_tile(seen, other) if other != claimed else seen
        else:
            for _ in range(2 if meld_type == PON_MELD else 4):
                seen = add_tile(seen, kind)
        if claimed >= 0:
            source = (int(t.meld_from[seat, i]) - seat) % 4 - 1
            set_bit(row, _MELD_SOURCES + 12 * relative + 3 * i + source, claimed)
        if meld_type >= ANKAN_MELD:
            set_bit(row, _KANS + 3 * relative + meld_type - ANKAN_MELD, kind)
        if t.meld_red[seat, i]:
            red |= 1 << kind // 9 * 9 + 4
    set_kinds(row, _MELD_RED + relative, red)
    if is_closed(t, seat):
        set_plane(row, _CLOSED + relative)
    return seen, red


@jit
def _fill_river(t: Table, seat: int, relative: int, seen: CountMasks, row: U8) -> tuple[CountMasks, int]:
    """Fill the river of a seat; return ``seen`` with its tiles, and the red fives in it."""
    counts = (0, 0, 0, 0)
    red = called = last = last_tedashi = 0
    for i in range(t.river_length[seat]):
        face, flags = int(t.river[seat, i]), int(t.river_flags[seat, i])
        kind = int(kind_of_face(face))
        last = 1 << kind
        counts = add_tile(counts, kind)
        seen = add_tile(seen, kind)
        red |= last if is_red(face) else 0
        called |= last if flags & CALLED_FLAG else 0
        if not flags & TSUMOGIRI_FLAG:
            last_tedashi = last
        if i < RIVER_PLACES:
            set_bit(row, _RIVERS + RIVER_PLACES * relative + i, kind)
            if flags & TSUMOGIRI_FLAG:
                set_bit(row, _TSUMOGIRI + RIVER_PLACES * relative + i, kind)
        if flags & RIICHI_FLAG:
            set_bit(row, _RIICHI_TILE + relative, kind)
            turn = int(i >= RIICHI_TURN_BORDERS[0]) + int(i >= RIICHI_TURN_BORDERS[1])
            set_plane(row, _RIICHI_TURN + 3 * relative + turn)
    set_counts(row, _RIVER_COUNTS + 4 * relative, counts)
    set_kinds(row, _RIVER_RED + relative, red)
    set_kinds(row, _CALLED + relative, called)
    set_kinds(row, _LAST_DISCARD + relative, last)
    set_kinds(row, _LAST_TEDASHI + relative, last_tedashi)
    return seen, red
