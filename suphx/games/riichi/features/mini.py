"""The published small encoding: 288 planes for discard and riichi, 310 for the claims.

Source: windshadow233's article "Reproducing the mahjong AI paper from zero, part 1" (2023), which lists the planes but
not how they add up to 288 and 22. The only sum that we found:

    hand 4 + melds 4 x 4 x 4 + rivers 4 x 24 + visible 4                            = 168
    categories: seat 4, placement 4, kyoku 16, honba 20, sticks 20, dealer 4        =  68
    scores of four seats x 9 buckets 36 + tiles left 5                              =  41
    others: dora 5 (five indicators) + seat wind 1 + round wind 1 + riichi 4        =  11
    claims: hand after it 4 + own melds after it 4 x 4 + the tile is dora, is red 2 =  22

The author's program agrees, and settles what the article leaves out: score buckets have their borders at 5,000 …
40,000, tiles left at 5, 10, 22, 46, and what the last two planes of a claim say. Where the article leaves the order of
seats open, ours counts from the observer (his counts from the first dealer); only "seat" is the observer's own fixed
seat. The extra planes of a claim stand last here, so that the first 288 planes are the same for every head. PON and
PON_RED give the same row: these planes do not show which five is taken from the hand.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong import planes
from suphx.games.mahjong.planes import CountMasks
from suphx.games.mahjong.tile import KAKAN_MELD, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.legal import dealer_of, tiles_left
from suphx.games.riichi.table import Table
from suphx.games.riichi.tile import dora_of_indicator, is_red, kind_of_face, num_red
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

RIVER_PLANES = 24
MAX_DORA = 5
SCORE_BUCKETS = 9
SCORE_BUCKET_POINTS = 5_000
TILES_LEFT_BORDERS = (5, 10, 22, 46)
NUM_HONBA = 20
NUM_STICKS = 20
NUM_KYOKU = 16

_PARTS = (
    ("hand", 4, "own concealed tiles, the drawn one included: count planes"),
    ("melds", 64, "4 seats x 4 melds in order x count planes of the meld's tiles"),
    ("rivers", 96, "4 seats x the first 24 discards in order, called ones included: the kind discarded"),
    ("visible", 4, "all tiles that the observer sees (own hand, melds, rivers, dora indicators): count planes"),
    ("seat", 4, "full: the observer's seat, 0 = first dealer of the game"),
    ("placement", 4, "full: the observer's present placement 1-4; of equal scores the lower seat is ahead"),
    ("kyoku", 16, "full: East 1 … North 4"),
    ("honba", 20, "full: honba 0 … 18, 19 or more"),
    ("sticks", 20, "full: riichi sticks on the table 0 … 18, 19 or more"),
    ("dealer", 4, "full: the dealer"),
    ("scores", 36, "full: 4 seats x score in 9 buckets with borders 5,000, 10,000 … 40,000"),
    ("tiles_left", 5, "full: tiles left to draw in 5 buckets with borders 5, 10, 22, 46"),
    ("dora", 5, "the dora kind of each indicator in the order that they were turned over"),
    ("seat_wind", 1, "the kind of the observer's wind"),
    ("round_wind", 1, "the kind of the round wind"),
    ("riichi", 4, "full: each seat, from its riichi declaration on"),
)
_CLAIM_PARTS = (
    ("hand_after", 4, "own concealed tiles after the claim, before its discard or draw: count planes"),
    ("melds_after", 16, "own melds after the claim: 4 melds x count planes"),
    ("tile_is_dora", 1, "full: the claimed tile, or the kind of the own kan, is dora"),
    ("tile_is_red", 1, "full: the claimed tile, the added tile, or one of a closed kan is a red five"),
)

PUBLIC = planes.layout("mini", 1, _PARTS)
CLAIM = planes.layout("mini-claim", 1, _PARTS + _CLAIM_PARTS)

_AT = CLAIM.first_planes()


@jit
def encode(t: Table, seat: int, action: int, row: U8) -> None:
    """Fill ``row`` with what ``seat`` sees; nothing that is hidden from it has any influence.

    ``action`` is -1 for a discard or riichi decision: ``row`` is uint8 [PUBLIC.observation_bytes]. Otherwise it is the
    claim to be judged (PON, PON_RED, MINKAN, CHI …, ANKAN + k, KAKAN + k of table.py), possible in ``t``: ``row`` is
    uint8 [CLAIM.observation_bytes]. Old contents of ``row`` are overwritten.
    """
    row[:] = 0
    hand = planes.count_masks(t.hand[seat])
    planes.set_counts(row, _AT.hand, hand)
    planes.set_counts(row, _AT.visible, _fill_open_tiles(t, seat, hand, row))
    _fill_situation(t, seat, row)
    if action >= 0:
        _fill_claim(t, seat, action, row)


@jit
def _fill_open_tiles(t: Table, seat: int, hand: CountMasks, row: U8) -> CountMasks:
    """Fill melds, rivers and dora; return the counts of all tiles that are seen, ``hand`` included."""
    seen = hand
    for relative in range(4):
        other = (seat + relative) % 4
        for i in range(t.num_melds[other]):
            meld_type, kind = t.meld_type[other, i], int(t.meld_kind[other, i])
            planes.set_counts(row, _AT.melds + 16 * relative + 4 * i, planes.meld_masks(meld_type, kind))
            seen = planes.add_open_meld(seen, meld_type, kind, kind_of_face(t.meld_tile[other, i]))
        for i in range(t.river_length[other]):
            kind = int(kind_of_face(t.river[other, i]))
            seen = planes.add_tile(seen, kind)
            if i < RIVER_PLANES:
                planes.set_bit(row, _AT.rivers + RIVER_PLANES * relative + i, kind)
    for i in range(min(t.num_dora, MAX_DORA)):
        indicator = codes.dora_indicator(t.wall, i) >> 2
        seen = planes.add_tile(seen, indicator)
        planes.set_bit(row, _AT.dora + i, dora_of_indicator(indicator))
    return seen


@jit
def _fill_situation(t: Table, seat: int, row: U8) -> None:
    dealer, kyoku = int(dealer_of(t)), int(t.kyoku)
    planes.set_plane(row, _AT.seat + seat)
    planes.set_plane(row, _AT.placement + codes.place_of(t.scores, seat) - 1)
    planes.set_plane(row, _AT.kyoku + min(kyoku, NUM_KYOKU - 1))
    planes.set_plane(row, _AT.honba + min(int(t.honba), NUM_HONBA - 1))
    planes.set_plane(row, _AT.sticks + min(int(t.kyotaku), NUM_STICKS - 1))
    planes.set_plane(row, _AT.dealer + (dealer - seat) % 4)
    planes.set_bit(row, _AT.seat_wind, 27 + (seat - dealer) % 4)
    planes.set_bit(row, _AT.round_wind, 27 + kyoku // 4)
    for relative in range(4):
        if t.riichi[(seat + relative) % 4]:
            planes.set_plane(row, _AT.riichi + relative)
        bucket = int(t.scores[(seat + relative) % 4]) // SCORE_BUCKET_POINTS
        planes.set_plane(row, _AT.scores + SCORE_BUCKETS * relative + min(max(bucket, 0), SCORE_BUCKETS - 1))
    left = tiles_left(t)
    bucket = 0
    for border in TILES_LEFT_BORDERS:
        if left >= border:
            bucket += 1
    planes.set_plane(row, _AT.tiles_left + bucket)


@jit
def _fill_claim(t: Table, seat: int, action: int, row: U8) -> None:
    """Fill the planes that only claims have."""
    kind = codes.claimed_kind(t, action)
    meld_type, lowest = codes.new_meld(t, action)
    left = np.empty(34, np.int8)
    left[:] = t.hand[seat]
    codes.take_used(left, meld_type, lowest, kind)
    planes.set_counts(row, _AT.hand_after, planes.count_masks(left))
    for i in range(t.num_melds[seat]):
        own_type, own_kind = t.meld_type[seat, i], int(t.meld_kind[seat, i])
        if meld_type == KAKAN_MELD and own_type == PON_MELD and own_kind == lowest:
            own_type = KAKAN_MELD
        planes.set_counts(row, _AT.melds_after + 4 * i, planes.meld_masks(own_type, own_kind))
    if meld_type != KAKAN_MELD:
        planes.set_counts(row, _AT.melds_after + 4 * int(t.num_melds[seat]), planes.meld_masks(meld_type, lowest))
    for i in range(min(t.num_dora, MAX_DORA)):
        if codes.dora_kind(t.wall, i) == kind:
            planes.set_plane(row, _AT.tile_is_dora)
    if is_red(t.claimed_face) if action >= codes.PON else num_red(t.red[seat], kind) != 0:
        planes.set_plane(row, _AT.tile_is_red)
