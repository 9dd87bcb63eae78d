"""The oracle planes: what is hidden from a seat (paper, section 3.3), in a row of its own beside the public one.

The three other hands and what they wait for, the wall in drawing order, the dead wall. Only a net that trains with
perfect information gets them; nothing of them is ever in the rows of suphx/games/riichi/features/paper.py and mini.py.
"""

from __future__ import annotations

from suphx.games.riichi.engine.legal import tiles_left
from suphx.games.riichi.features.layout.paper_layout import MAX_DORA, NUM_SHANTEN
from suphx.games.riichi.features.layout.planes import (
    add_tile,
    count_masks,
    layout,
    set_bit,
    set_counts,
    set_kinds,
    set_plane,
)
from suphx.games.riichi.features.lookahead.lookup import Lookup
from suphx.games.riichi.hand.shanten import shanten
from suphx.games.riichi.table.red_five import is_red, red_kinds
from suphx.games.riichi.table.table import CALL_DISCARD, Table
from suphx.games.riichi.table.tile import face_of_id
from suphx.games.riichi.table.wall import RINSHAN, dora_kind, ura_kind
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

MAX_WALL = 70

ORACLE = layout(
    "suphx-oracle",
    1,
    [
        ("other_hands", (3, 4), "3 others: concealed tiles, a drawn one included: count planes"),
        ("other_reds", 3, "3 others: the fives of which the red one is among them"),
        ("other_shanten", (3, NUM_SHANTEN), "full: 3 others x least shanten: -1 (complete), 0 … 6"),
        ("other_waits", 3, "3 others: the kinds that complete the hand without a drawn tile; nothing after a claim"),
        ("other_furiten", 3, "full: 3 others: tenpai, and may not win by ron"),
        ("wall", MAX_WALL, "the tiles still to be drawn from the live wall, in their order"),
        ("next_draws", 4, "4 seats: the tile that the seat draws next, if nobody calls before"),
        ("wall_counts", 4, "the tiles still to be drawn from the live wall: count planes"),
        ("wall_red", 1, "the fives of which the red one is among them"),
        ("rinshan", 4, "the tiles that the next kans draw, in their order"),
        ("kan_dora", 4, "the dora kinds that are not turned over yet, in their order"),
        ("ura_dora", MAX_DORA, "the dora kind under each dora indicator, also of those not turned over"),
    ],
)

_OTHER_HANDS = ORACLE["other_hands"].first
_OTHER_REDS = ORACLE["other_reds"].first
_OTHER_SHANTEN = ORACLE["other_shanten"].first
_OTHER_WAITS = ORACLE["other_waits"].first
_OTHER_FURITEN = ORACLE["other_furiten"].first
_WALL = ORACLE["wall"].first
_NEXT_DRAWS = ORACLE["next_draws"].first
_WALL_COUNTS = ORACLE["wall_counts"].first
_WALL_RED = ORACLE["wall_red"].first
_RINSHAN = ORACLE["rinshan"].first
_KAN_DORA = ORACLE["kan_dora"].first
_URA_DORA = ORACLE["ura_dora"].first


@jit
def encode_oracle(lookup: Lookup, t: Table, seat: int, row: U8) -> None:
    """Fill ``row``, uint8 [ORACLE.observation_bytes], with what is hidden from ``seat``, and overwrite it."""
    row[:] = 0
    for i in range(3):
        _fill_other_hand(lookup, t, (seat + 1 + i) % 4, i, row)
    _fill_wall(t, seat, row)
    _fill_dead_wall(t, row)


@jit
def _fill_other_hand(lookup: Lookup, t: Table, other: int, i: int, row: U8) -> None:
    set_counts(row, _OTHER_HANDS + 4 * i, count_masks(t.hand[other]))
    set_kinds(row, _OTHER_REDS + i, red_kinds(int(t.red[other])))
    now = int(shanten(lookup.suits, t.hand[other], t.num_melds[other]))
    set_plane(row, _OTHER_SHANTEN + NUM_SHANTEN * i + min(now + 1, NUM_SHANTEN - 1))
    # The engine looks for waits when a seat discards: after a claim those of before it still stand.
    waits = 0 if t.phase == CALL_DISCARD and t.actor == other else int(t.waits[other])
    set_kinds(row, _OTHER_WAITS + i, waits)
    if waits and (t.missed_win[other] or waits & t.river_kinds[other]):
        set_plane(row, _OTHER_FURITEN + i)


@jit
def _fill_wall(t: Table, seat: int, row: U8) -> None:
    counts = (0, 0, 0, 0)
    red = 0
    for i in range(tiles_left(t)):
        tile = int(t.wall[t.next_draw + i])
        kind = tile >> 2
        counts = add_tile(counts, kind)
        if is_red(face_of_id(tile, t.red_fives)):
            red |= 1 << kind
        if i < MAX_WALL:
            set_bit(row, _WALL + i, kind)
        if i < 4:
            set_bit(row, _NEXT_DRAWS + (int(t.turn) + 1 + i - seat) % 4, kind)
    set_counts(row, _WALL_COUNTS, counts)
    set_kinds(row, _WALL_RED, red)


@jit
def _fill_dead_wall(t: Table, row: U8) -> None:
    for i in range(t.num_kans, 4):
        set_bit(row, _RINSHAN + i - int(t.num_kans), int(t.wall[RINSHAN[i]]) >> 2)
    for i in range(t.num_dora, MAX_DORA):
        set_bit(row, _KAN_DORA + i - int(t.num_dora), dora_kind(t.wall, i))
    for i in range(MAX_DORA):
        set_bit(row, _URA_DORA + i, ura_kind(t.wall, i))
