"""Planes of what all can see: melds, rivers, dora, the situation, and what the other seats may still wait for."""

from __future__ import annotations

from suphx.games.mahjong.planes import (
    ALL_KINDS,
    CountMasks,
    add_tile,
    count_bits,
    count_tiles,
    meld_masks,
    set_bit,
    set_counts,
    set_kinds,
    set_plane,
)
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, PON_MELD
from suphx.games.riichi.features.paper_layout import (
    DIFFERENCE_BORDERS,
    MAX_DORA,
    MAX_DORA_HELD,
    NUM_HONBA,
    NUM_KYOKU,
    NUM_KYOKU_LEFT,
    NUM_STICKS,
    PUBLIC,
    RIICHI_TURN_BORDERS,
    RIVER_PLACES,
    SAFE_TILE_BORDERS,
    SCORE_BORDERS,
)
from suphx.games.riichi.legal import dealer_of, is_closed, tiles_left
from suphx.games.riichi.rules import OPEN_TANYAO
from suphx.games.riichi.table import (
    CALL_DISCARD,
    CALLED_FLAG,
    RIICHI_FLAG,
    TSUMOGIRI_FLAG,
    Table,
    dora_indicator,
    dora_kind,
    place_of,
)
from suphx.games.riichi.tile import face_of_id, is_red, kind_of_face, red_kinds
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


_SEAT_WINDS = PUBLIC["seat_winds"].first
_ROUND_WIND = PUBLIC["round_wind"].first
_YAKUHAI = PUBLIC["yakuhai"].first
_SEAT = PUBLIC["seat"].first
_KYOKU = PUBLIC["kyoku"].first
_KYOKU_LEFT = PUBLIC["kyoku_left"].first
_HONBA = PUBLIC["honba"].first
_STICKS = PUBLIC["sticks"].first
_DEALER = PUBLIC["dealer"].first
_RULES = PUBLIC["rules"].first
_SCORES = PUBLIC["scores"].first
_SCORE_DIFFERENCES = PUBLIC["score_differences"].first
_PLACEMENT = PUBLIC["placement"].first
_TILES_LEFT = PUBLIC["tiles_left"].first
_RIICHI = PUBLIC["riichi"].first
_DOUBLE_RIICHI = PUBLIC["double_riichi"].first
_IPPATSU = PUBLIC["ippatsu"].first
_STICK_DUE = PUBLIC["stick_due"].first
_KANS_MADE = PUBLIC["kans_made"].first
_FIRST_TURN = PUBLIC["first_turn"].first
_WAITS = PUBLIC["waits"].first
_FURITEN = PUBLIC["furiten"].first

DRAGONS = 7 << 31


@jit
def fill_situation(t: Table, seat: int, row: U8) -> None:
    """Fill the planes of categories, scores, tiles left and states."""
    _fill_categories(t, seat, row)
    _fill_scores(t, seat, row)
    _fill_declared(t, seat, row)
    _fill_furiten(t, seat, row)
    left = int(tiles_left(t))
    set_plane(row, _TILES_LEFT + (left if left < 4 else 3 + left // 4))


@jit
def yakuhai_kinds(t: Table, seat: int) -> int:
    """Return the kinds of which three are a yaku for ``seat``."""
    return DRAGONS | 1 << (27 + int(t.kyoku) // 4) | 1 << (27 + (seat - int(dealer_of(t))) % 4)


@jit
def own_discards(t: Table, seat: int) -> int:
    """Return the kinds that make ``seat`` furiten as waits: its river; all after a win missed in riichi."""
    return ALL_KINDS if t.missed_win[seat] == 2 else int(t.river_kinds[seat])


@jit
def _fill_categories(t: Table, seat: int, row: U8) -> None:
    dealer, kyoku = int(dealer_of(t)), int(t.kyoku)
    for relative in range(4):
        other = (seat + relative) % 4
        set_bit(row, _SEAT_WINDS + relative, 27 + (other - dealer) % 4)
        set_kinds(row, _YAKUHAI + relative, yakuhai_kinds(t, other))
    set_bit(row, _ROUND_WIND, 27 + kyoku // 4)
    set_plane(row, _SEAT + seat)
    set_plane(row, _KYOKU + min(kyoku, NUM_KYOKU - 1))
    set_plane(row, _KYOKU_LEFT + min(max(4 * int(t.num_winds) - 1 - kyoku, 0), NUM_KYOKU_LEFT - 1))
    set_plane(row, _HONBA + min(int(t.honba), NUM_HONBA - 1))
    set_plane(row, _STICKS + min(int(t.kyotaku), NUM_STICKS - 1))
    set_plane(row, _DEALER + (dealer - seat) % 4)
    if t.rule_flags & OPEN_TANYAO:
        set_plane(row, _RULES)
    if t.red_fives:
        set_plane(row, _RULES + 1)


@jit
def _fill_scores(t: Table, seat: int, row: U8) -> None:
    own = int(t.scores[seat])
    for relative in range(4):
        other = (seat + relative) % 4
        score = int(t.scores[other])
        bucket = 0
        for border in SCORE_BORDERS:
            bucket += int(score >= border)
        set_plane(row, _SCORES + (len(SCORE_BORDERS) + 1) * relative + bucket)
        set_plane(row, _PLACEMENT + 4 * relative + place_of(t.scores, other) - 1)
        if relative > 0:
            bucket = 0
            for border in DIFFERENCE_BORDERS:
                bucket += int(own - score >= border)
            set_plane(row, _SCORE_DIFFERENCES + (len(DIFFERENCE_BORDERS) + 1) * (relative - 1) + bucket)


@jit
def _fill_declared(t: Table, seat: int, row: U8) -> None:
    for relative in range(4):
        other = (seat + relative) % 4
        if t.riichi[other]:
            set_plane(row, _RIICHI + relative)
            if t.riichi[other] == 2:
                set_plane(row, _DOUBLE_RIICHI + relative)
        if t.ippatsu[other]:
            set_plane(row, _IPPATSU + relative)
    if t.is_stick_due:
        set_plane(row, _STICK_DUE)
    for i in range(t.num_kans):
        set_plane(row, _KANS_MADE + i)
    if t.is_first_turn[seat]:
        set_plane(row, _FIRST_TURN)


@jit
def _fill_furiten(t: Table, seat: int, row: U8) -> None:
    # The engine looks for waits when a seat discards: after a claim those of before it still stand.
    waits = 0 if t.phase == CALL_DISCARD and t.actor == seat else int(t.waits[seat])
    set_kinds(row, _WAITS, waits)
    if waits & t.river_kinds[seat]:
        set_plane(row, _FURITEN)
    if t.missed_win[seat]:
        set_plane(row, _FURITEN + int(t.missed_win[seat]))


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
