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

from suphx.games.mahjong.planes import (
    CountMasks,
    add_tile,
    count_masks,
    layout,
    meld_masks,
    remove_tiles,
    set_bit,
    set_counts,
    set_kinds,
    set_plane,
)
from suphx.games.mahjong.tile import CHI_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.legal import dealer_of, tiles_left
from suphx.games.riichi.table import (
    ANKAN,
    CHI,
    KAKAN,
    MINKAN,
    PASS,
    PON,
    PON_RED,
    TSUMO,
    Table,
    dora_indicator,
    dora_kind,
    lowest_of_chi,
    place_of,
)
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

PUBLIC = layout("mini", 1, _PARTS)
CLAIM = layout("mini-claim", 1, _PARTS + _CLAIM_PARTS)

_HAND = PUBLIC["hand"].first
_MELDS = PUBLIC["melds"].first
_RIVERS = PUBLIC["rivers"].first
_VISIBLE = PUBLIC["visible"].first
_SEAT = PUBLIC["seat"].first
_PLACEMENT = PUBLIC["placement"].first
_KYOKU = PUBLIC["kyoku"].first
_HONBA = PUBLIC["honba"].first
_STICKS = PUBLIC["sticks"].first
_DEALER = PUBLIC["dealer"].first
_SCORES = PUBLIC["scores"].first
_TILES_LEFT = PUBLIC["tiles_left"].first
_DORA = PUBLIC["dora"].first
_SEAT_WIND = PUBLIC["seat_wind"].first
_ROUND_WIND = PUBLIC["round_wind"].first
_RIICHI = PUBLIC["riichi"].first
_HAND_AFTER = CLAIM["hand_after"].first
_MELDS_AFTER = CLAIM["melds_after"].first
_TILE_IS_DORA = CLAIM["tile_is_dora"].first
_TILE_IS_RED = CLAIM["tile_is_red"].first


@jit
def encode(t: Table, seat: int, action: int, row: U8) -> None:
    """Fill ``row`` with what ``seat`` sees; nothing that is hidden from it has any influence.

    ``action`` is -1 for a discard or riichi decision: ``row`` is uint8 [PUBLIC.observation_bytes]. Otherwise it is the
    claim to be judged (PON, PON_RED, MINKAN, CHI …, ANKAN + k, KAKAN + k of table.py), possible in ``t``: ``row`` is
    uint8 [CLAIM.observation_bytes]. Old contents of ``row`` are overwritten.
    """
    row[:] = 0
    hand = count_masks(t.hand[seat])
    set_counts(row, _HAND, hand)
    set_counts(row, _VISIBLE, _fill_open_tiles(t, seat, hand, row))
    _fill_categories(t, seat, row)
    _fill_scores(t, seat, row)
    if action >= 0:
        _fill_claim(t, seat, action, hand, row)


@jit
def _fill_open_tiles(t: Table, seat: int, hand: CountMasks, row: U8) -> CountMasks:
    """Fill melds, rivers and dora; return the counts of all tiles that are seen, ``hand`` included."""
    seen = hand
    for relative in range(4):
        other = (seat + relative) % 4
        for i in range(t.num_melds[other]):
            meld_type, kind = t.meld_type[other, i], int(t.meld_kind[other, i])
            set_counts(row, _MELDS + 16 * relative + 4 * i, meld_masks(meld_type, kind))
            seen = _see_meld(seen, meld_type, kind, kind_of_face(t.meld_tile[other, i]))
        for i in range(t.river_length[other]):
            kind = int(kind_of_face(t.river[other, i]))
            seen = add_tile(seen, kind)
            if i < RIVER_PLANES:
                set_bit(row, _RIVERS + RIVER_PLANES * relative + i, kind)
    for i in range(min(t.num_dora, MAX_DORA)):
        indicator = dora_indicator(t.wall, i) >> 2
        seen = add_tile(seen, indicator)
        set_bit(row, _DORA + i, dora_of_indicator(indicator))
    return seen


@jit
def _see_meld(seen: CountMasks, meld_type: int, kind: int, claimed: int) -> CountMasks:
    """Add a meld's tiles except the claimed one, which the river of its discarder has."""
    if meld_type == CHI_MELD:
        for other in range(kind, kind + 3):
            if other != claimed:
                seen = add_tile(seen, other)
        return seen
    # All four tiles of a kan are seen: adding stops at four whether the river's tile comes before or after.
    for _ in range(2 if meld_type == PON_MELD else 4):
        seen = add_tile(seen, kind)
    return seen


@jit
def _fill_categories(t: Table, seat: int, row: U8) -> None:
    dealer, kyoku = int(dealer_of(t)), int(t.kyoku)
    set_plane(row, _SEAT + seat)
    set_plane(row, _PLACEMENT + place_of(t.scores, seat) - 1)
    set_plane(row, _KYOKU + min(kyoku, NUM_KYOKU - 1))
    set_plane(row, _HONBA + min(int(t.honba), NUM_HONBA - 1))
    set_plane(row, _STICKS + min(int(t.kyotaku), NUM_STICKS - 1))
    set_plane(row, _DEALER + (dealer - seat) % 4)
    set_bit(row, _SEAT_WIND, 27 + (seat - dealer) % 4)
    set_bit(row, _ROUND_WIND, 27 + kyoku // 4)
    for relative in range(4):
        if t.riichi[(seat + relative) % 4]:
            set_plane(row, _RIICHI + relative)


@jit
def _fill_scores(t: Table, seat: int, row: U8) -> None:
    for relative in range(4):
        bucket = int(t.scores[(seat + relative) % 4]) // SCORE_BUCKET_POINTS
        set_plane(row, _SCORES + SCORE_BUCKETS * relative + min(max(bucket, 0), SCORE_BUCKETS - 1))
    left = tiles_left(t)
    bucket = 0
    for border in TILES_LEFT_BORDERS:
        if left >= border:
            bucket += 1
    set_plane(row, _TILES_LEFT + bucket)


@jit
def _fill_claim(t: Table, seat: int, action: int, hand: CountMasks, row: U8) -> None:
    """Fill the planes that only claims have."""
    kind = _claimed_kind(t, action)
    set_counts(row, _HAND_AFTER, _hand_after(hand, kind, action))
    _fill_melds_after(t, seat, kind, action, row)
    for i in range(min(t.num_dora, MAX_DORA)):
        if dora_kind(t.wall, i) == kind:
            set_plane(row, _TILE_IS_DORA)
    if is_red(t.claimed_face) if action >= PON else num_red(t.red[seat], kind) != 0:
        set_plane(row, _TILE_IS_RED)


@jit
def _claimed_kind(t: Table, action: int) -> int:
    """Return the kind that is claimed, or of which an own kan is made."""
    if ANKAN <= action < KAKAN:
        return action - ANKAN
    if KAKAN <= action < TSUMO:
        return action - KAKAN
    return int(kind_of_face(t.claimed_face))


@jit
def _hand_after(hand: CountMasks, kind: int, action: int) -> CountMasks:
    """Return the concealed tiles without those that go into the meld."""
    if CHI <= action < PASS:
        lowest = lowest_of_chi(kind, action)
        for other in range(lowest, lowest + 3):
            if other != kind:
                hand = remove_tiles(hand, other, 1)
        return hand
    if action in (PON, PON_RED):
        return remove_tiles(hand, kind, 2)
    if action == MINKAN:
        return remove_tiles(hand, kind, 3)
    return remove_tiles(hand, kind, 1 if action >= KAKAN else 4)


@jit
def _fill_melds_after(t: Table, seat: int, kind: int, action: int, row: U8) -> None:
    """Fill the own melds with the new one last, or with the pon turned into a kan."""
    is_kakan = KAKAN <= action < TSUMO
    for i in range(t.num_melds[seat]):
        meld_type, meld_kind = t.meld_type[seat, i], int(t.meld_kind[seat, i])
        set_counts(row, _MELDS_AFTER + 4 * i, meld_masks(meld_type, meld_kind))
        if is_kakan and meld_type == PON_MELD and meld_kind == kind:
            set_kinds(row, _MELDS_AFTER + 4 * i + 3, 1 << kind)
    if is_kakan:
        return
    meld_type, lowest = MINKAN_MELD, kind
    if CHI <= action < PASS:
        meld_type, lowest = CHI_MELD, lowest_of_chi(kind, action)
    elif action in (PON, PON_RED):
        meld_type = PON_MELD
    set_counts(row, _MELDS_AFTER + 4 * int(t.num_melds[seat]), meld_masks(meld_type, lowest))
