"""The oracle planes: what is hidden from a seat (paper, section 3.3), in a row of its own beside the public one.

The three other hands and what they wait for, the wall in drawing order, the dead wall. Only a net that trains with
perfect information gets them; nothing of them is ever in the rows of suphx/games/riichi/features/paper.py and mini.py.

An observation that also holds what is hidden is a packed record with the columns of ``oracle_observation``: public
planes, oracle planes, and a seed and a threshold that say which bits of the oracle planes are kept (equation 5). All
draws follow from the seed, and a bit stays with the keep probability = threshold / 2**24. It has the seed instead of
the mask: acting and learning, which read it at different times, compute the same mask.

>>> rows = with_oracle(public_planes, tables, indices, seeds, keep_probability=0.5)
>>> seen_planes(rows, 838, ORACLE.num_planes).shape  # public planes, and the bits of oracle planes that are kept
(512, 4144)
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong import planes
from suphx.games.riichi.features.paper_layout import MAX_DORA, NUM_SHANTEN
from suphx.games.riichi.features.suit_targets import Lookup, load_lookup
from suphx.games.riichi.legal import tiles_left
from suphx.games.riichi.shanten import shanten
from suphx.games.riichi.table import CALL_DISCARD, RINSHAN, Table, dora_kind, ura_kind
from suphx.games.riichi.tile import face_of_id, is_red, red_kinds
from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix
from suphx.kernel.record import I64, U8, Records

MAX_WALL = 70

ORACLE = planes.layout(
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

_AT = ORACLE.first_planes()


@jit
def encode_oracle(lookup: Lookup, t: Table, seat: int, row: U8) -> None:
    """Fill ``row``, uint8 [ORACLE.observation_bytes], with what is hidden from ``seat``, and overwrite it."""
    row[:] = 0
    for i in range(3):
        other = (seat + 1 + i) % 4
        planes.set_counts(row, _AT.other_hands + 4 * i, planes.count_masks(t.hand[other]))
        planes.set_kinds(row, _AT.other_reds + i, red_kinds(int(t.red[other])))
        now = int(shanten(lookup.suits, t.hand[other], t.num_melds[other]))
        planes.set_plane(row, _AT.other_shanten + NUM_SHANTEN * i + min(now + 1, NUM_SHANTEN - 1))
        # The engine looks for waits when a seat discards: after a claim those of before it still stand.
        waits = 0 if t.phase == CALL_DISCARD and t.actor == other else int(t.waits[other])
        planes.set_kinds(row, _AT.other_waits + i, waits)
        if waits and (t.missed_win[other] or waits & t.river_kinds[other]):
            planes.set_plane(row, _AT.other_furiten + i)
    counts = (0, 0, 0, 0)
    red = 0
    for i in range(tiles_left(t)):
        tile = int(t.wall[t.next_draw + i])
        kind = tile >> 2
        counts = planes.add_tile(counts, kind)
        if is_red(face_of_id(tile, t.red_fives)):
            red |= 1 << kind
        if i < MAX_WALL:
            planes.set_bit(row, _AT.wall + i, kind)
        if i < 4:
            planes.set_bit(row, _AT.next_draws + (int(t.turn) + 1 + i - seat) % 4, kind)
    planes.set_counts(row, _AT.wall_counts, counts)
    planes.set_kinds(row, _AT.wall_red, red)
    for i in range(t.num_kans, 4):
        planes.set_bit(row, _AT.rinshan + i - int(t.num_kans), int(t.wall[RINSHAN[i]]) >> 2)
    for i in range(t.num_dora, MAX_DORA):
        planes.set_bit(row, _AT.kan_dora + i - int(t.num_dora), dora_kind(t.wall, i))
    for i in range(MAX_DORA):
        planes.set_bit(row, _AT.ura_dora + i, ura_kind(t.wall, i))


_ORACLE_BYTES = ORACLE.observation_bytes
_ALL = 1 << 24
"""The threshold at which every bit stays."""
_STEP = 0x9E3779B9
_MASK32 = 0xFFFFFFFF


def oracle_observation(public_bytes: int) -> np.dtype[np.void]:
    """Return the columns of a row whose public planes take ``public_bytes``, without gaps between them."""
    return np.dtype(
        [
            ("public_planes", np.uint8, (public_bytes,)),
            ("oracle_planes", np.uint8, (_ORACLE_BYTES,)),
            ("oracle_seed", "<u4"),
            ("keep_threshold", "<u4"),
        ]
    )


def with_oracle(rows: U8, tables: Records, indices: I64, seeds: I64, *, keep_probability: float) -> U8:
    """Return ``rows`` [n, public bytes] and what is hidden, as the columns of ``oracle_observation``: uint8 [n, bytes].

    ``indices``: int64 [n], the table of each row; ``seeds``: int64 [n], 0 … 2**32 - 1, of the masks;
    ``keep_probability``: 0 … 1, that a bit of the oracle planes stays. ValueError for another one.
    """
    if not 0 <= keep_probability <= 1:
        raise ValueError(
            f"keep_probability is {keep_probability}: use a probability, 0 (nothing hidden is seen) to 1 (all of it)"
        )
    columns = np.empty(len(rows), oracle_observation(rows.shape[1]))
    columns["public_planes"] = rows
    columns["oracle_seed"] = seeds
    columns["keep_threshold"] = round(keep_probability * _ALL)
    joined = columns.view(np.uint8).reshape(len(rows), columns.itemsize)
    _encode_hidden(load_lookup(), tables, indices, rows.shape[1], joined)
    return joined


def seen_planes(rows: U8, num_planes: int, num_oracle_planes: int, *, sees_all: bool = False) -> U8:
    """Return what a net with these numbers of planes sees of ``rows``: their public planes, then the oracle planes.

    ``rows``: uint8 [n, bytes] of ``oracle_observation``, or of public planes alone for a net without oracle planes. Of
    the oracle planes the net sees the bits that are kept, or all (``sees_all``). Not always a copy. ValueError for rows
    of another size.
    """
    public = planes.observation_bytes(num_planes)
    columns = oracle_observation(public)
    if num_oracle_planes not in (0, ORACLE.num_planes):
        raise ValueError(
            f"a net has {num_oracle_planes} oracle planes, but {ORACLE.num_planes} are encoded: train again"
        )
    if rows.shape[1] == public and not num_oracle_planes:
        return rows
    if rows.shape[1] != columns.itemsize:
        raise ValueError(
            f"rows of {num_planes} planes must be uint8[n, {public}], or uint8[n, {columns.itemsize}] with what "
            f"is hidden (the only ones for a net with oracle planes), not {rows.dtype}{list(rows.shape)}"
        )
    if not num_oracle_planes:
        return np.ascontiguousarray(rows[:, :public])
    seen = np.ascontiguousarray(rows[:, : public + _ORACLE_BYTES])
    if not sees_all:
        records = np.ascontiguousarray(rows).view(columns)[:, 0]
        seeds, thresholds = (records[name].astype(np.int64) for name in ("oracle_seed", "keep_threshold"))
        _clear_hidden(seeds, thresholds, public, seen)
    return seen


@jit
def keeps(seed: int, bit: int, threshold: int) -> bool:
    """Tell whether the bit number ``bit`` of the oracle planes (plane * 34 + kind) stays under a row's mask."""
    return mix(mix(int(seed)) + int(bit) * _STEP & _MASK32) >> 8 < int(threshold)


@jit
def _encode_hidden(lookup: Lookup, tables: Records, indices: I64, first: int, rows: U8) -> None:
    """Encode the oracle planes of each row, from byte ``first`` on."""
    for i in range(len(rows)):
        t = tables[indices[i]]
        encode_oracle(lookup, t, t.actor, rows[i, first : first + _ORACLE_BYTES])


@jit
def _clear_hidden(seeds: I64, thresholds: I64, first: int, rows: U8) -> None:
    """Clear the bits of the oracle planes, from byte ``first`` on, that do not stay."""
    for i in range(len(rows)):
        if thresholds[i] == _ALL:
            continue
        for byte in range(first, rows.shape[1]):
            bits = np.int64(rows[i, byte])
            if bits == 0:
                continue
            for k in range(8):
                if bits >> k & 1 and not keeps(int(seeds[i]), 8 * (byte - first) + k, int(thresholds[i])):
                    bits ^= 1 << k
            rows[i, byte] = bits
