"""Planes of what all can see: melds, rivers, dora, the situation, and what the other seats may still wait for."""

from __future__ import annotations

from suphx.games.mahjong import planes
from suphx.games.mahjong.planes import CountMasks
from suphx.games.mahjong.tile import ANKAN_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.features import paper_layout as layout
from suphx.games.riichi.legal import dealer_of, is_closed, tiles_left
from suphx.games.riichi.rules import OPEN_TANYAO
from suphx.games.riichi.table import Table
from suphx.games.riichi.tile import face_of_id, is_red, kind_of_face, red_kinds
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

_AT = layout.PUBLIC.first_planes()


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
        held = count_dora(hand, dora) + planes.count_bits(seen_red) if relative == 0 else 0
        held += melded_dora(t, other, dora)
        for i in range(min(held, layout.MAX_DORA_HELD)):
            planes.set_plane(row, _AT.dora_held + layout.MAX_DORA_HELD * relative + i)
        seen_red |= red
        seen, red = _fill_river(t, other, relative, seen, row)
        seen_red |= red
    for i in range(min(int(t.num_dora), layout.MAX_DORA)):
        tile = int(codes.dora_indicator(t.wall, i))
        seen = planes.add_tile(seen, tile >> 2)
        if is_red(face_of_id(tile, t.red_fives)):
            seen_red |= 1 << (tile >> 2)
        planes.set_bit(row, _AT.dora_indicators + i, tile >> 2)
    planes.set_counts(row, _AT.dora, dora)
    unseen = (
        planes.ALL_KINDS & ~seen[3],
        planes.ALL_KINDS & ~seen[2],
        planes.ALL_KINDS & ~seen[1],
        planes.ALL_KINDS & ~seen[0],
    )
    planes.set_counts(row, _AT.unseen, unseen)
    planes.set_kinds(row, _AT.unseen_red, red_kinds(t.red_fives) & ~seen_red)
    return unseen


@jit
def dora_masks(t: Table) -> CountMasks:
    """Return how many times each kind is dora, as count masks; the fifth indicator for one kind changes nothing."""
    masks = (0, 0, 0, 0)
    for i in range(min(int(t.num_dora), layout.MAX_DORA)):
        masks = planes.add_tile(masks, codes.dora_kind(t.wall, i))
    return masks


@jit
def count_dora(tiles: CountMasks, dora: CountMasks) -> int:
    """Return the dora among ``tiles``, red fives not counted."""
    total = 0
    for times in dora:
        if times:
            total += planes.count_tiles(times, tiles)
    return total


@jit
def melded_dora(t: Table, seat: int, dora: CountMasks) -> int:
    """Return the dora and red fives in the melds of a seat."""
    total = 0
    for i in range(t.num_melds[seat]):
        total += (
            count_dora(planes.meld_masks(t.meld_type[seat, i], int(t.meld_kind[seat, i])), dora) + t.meld_red[seat, i]
        )
    return int(total)


@jit
def _fill_melds(t: Table, seat: int, relative: int, seen: CountMasks, row: U8) -> tuple[CountMasks, int]:
    """Fill the melds of a seat; return ``seen`` with their tiles, except claimed ones, and the red fives in them."""
    red = 0
    for i in range(t.num_melds[seat]):
        meld_type, kind = int(t.meld_type[seat, i]), int(t.meld_kind[seat, i])
        claimed = int(kind_of_face(t.meld_tile[seat, i])) if meld_type != ANKAN_MELD else -1
        planes.set_counts(row, _AT.melds + 16 * relative + 4 * i, planes.meld_masks(meld_type, kind))
        seen = planes.add_open_meld(seen, meld_type, kind, claimed)
        if claimed >= 0:
            source = (int(t.meld_from[seat, i]) - seat) % 4 - 1
            planes.set_bit(row, _AT.meld_sources + 12 * relative + 3 * i + source, claimed)
        if meld_type >= ANKAN_MELD:
            planes.set_bit(row, _AT.kans + 3 * relative + meld_type - ANKAN_MELD, kind)
        if t.meld_red[seat, i]:
            red |= 1 << kind // 9 * 9 + 4
    planes.set_kinds(row, _AT.meld_red + relative, red)
    if is_closed(t, seat):
        planes.set_plane(row, _AT.closed + relative)
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
        counts = planes.add_tile(counts, kind)
        seen = planes.add_tile(seen, kind)
        red |= last if is_red(face) else 0
        called |= last if flags & codes.CALLED_FLAG else 0
        if not flags & codes.TSUMOGIRI_FLAG:
            last_tedashi = last
        if i < layout.RIVER_PLACES:
            planes.set_bit(row, _AT.rivers + layout.RIVER_PLACES * relative + i, kind)
            if flags & codes.TSUMOGIRI_FLAG:
                planes.set_bit(row, _AT.tsumogiri + layout.RIVER_PLACES * relative + i, kind)
        if flags & codes.RIICHI_FLAG:
            planes.set_bit(row, _AT.riichi_tile + relative, kind)
            turn = int(i >= layout.RIICHI_TURN_BORDERS[0]) + int(i >= layout.RIICHI_TURN_BORDERS[1])
            planes.set_plane(row, _AT.riichi_turn + 3 * relative + turn)
    planes.set_counts(row, _AT.river_counts + 4 * relative, counts)
    planes.set_kinds(row, _AT.river_red + relative, red)
    planes.set_kinds(row, _AT.called + relative, called)
    planes.set_kinds(row, _AT.last_discard + relative, last)
    planes.set_kinds(row, _AT.last_tedashi + relative, last_tedashi)
    return seen, red


DRAGONS = 7 << 31


@jit
def fill_situation(t: Table, seat: int, row: U8) -> None:
    """Fill the planes of categories, scores, tiles left and states."""
    _fill_categories(t, seat, row)
    _fill_scores(t, seat, row)
    _fill_states(t, seat, row)
    left = int(tiles_left(t))
    planes.set_plane(row, _AT.tiles_left + (left if left < 4 else 3 + left // 4))


@jit
def yakuhai_kinds(t: Table, seat: int) -> int:
    """Return the kinds of which three are a yaku for ``seat``."""
    return DRAGONS | 1 << (27 + int(t.kyoku) // 4) | 1 << (27 + (seat - int(dealer_of(t))) % 4)


@jit
def own_discards(t: Table, seat: int) -> int:
    """Return the kinds that make ``seat`` furiten as waits: its river; all after a win missed in riichi."""
    return planes.ALL_KINDS if t.missed_win[seat] == 2 else int(t.river_kinds[seat])


@jit
def _fill_categories(t: Table, seat: int, row: U8) -> None:
    dealer, kyoku = int(dealer_of(t)), int(t.kyoku)
    for relative in range(4):
        other = (seat + relative) % 4
        planes.set_bit(row, _AT.seat_winds + relative, 27 + (other - dealer) % 4)
        planes.set_kinds(row, _AT.yakuhai + relative, yakuhai_kinds(t, other))
    planes.set_bit(row, _AT.round_wind, 27 + kyoku // 4)
    planes.set_plane(row, _AT.seat + seat)
    planes.set_plane(row, _AT.kyoku + min(kyoku, layout.NUM_KYOKU - 1))
    planes.set_plane(row, _AT.kyoku_left + min(max(4 * int(t.num_winds) - 1 - kyoku, 0), layout.NUM_KYOKU_LEFT - 1))
    planes.set_plane(row, _AT.honba + min(int(t.honba), layout.NUM_HONBA - 1))
    planes.set_plane(row, _AT.sticks + min(int(t.kyotaku), layout.NUM_STICKS - 1))
    planes.set_plane(row, _AT.dealer + (dealer - seat) % 4)
    if t.rule_flags & OPEN_TANYAO:
        planes.set_plane(row, _AT.rules)
    if t.red_fives:
        planes.set_plane(row, _AT.rules + 1)


@jit
def _fill_scores(t: Table, seat: int, row: U8) -> None:
    own = int(t.scores[seat])
    for relative in range(4):
        other = (seat + relative) % 4
        score = int(t.scores[other])
        bucket = 0
        for border in layout.SCORE_BORDERS:
            bucket += int(score >= border)
        planes.set_plane(row, _AT.scores + (len(layout.SCORE_BORDERS) + 1) * relative + bucket)
        planes.set_plane(row, _AT.placement + 4 * relative + codes.place_of(t.scores, other) - 1)
        if relative > 0:
            bucket = 0
            for border in layout.DIFFERENCE_BORDERS:
                bucket += int(own - score >= border)
            planes.set_plane(
                row, _AT.score_differences + (len(layout.DIFFERENCE_BORDERS) + 1) * (relative - 1) + bucket
            )


@jit
def _fill_states(t: Table, seat: int, row: U8) -> None:
    for relative in range(4):
        other = (seat + relative) % 4
        if t.riichi[other]:
            planes.set_plane(row, _AT.riichi + relative)
            if t.riichi[other] == 2:
                planes.set_plane(row, _AT.double_riichi + relative)
        if t.ippatsu[other]:
            planes.set_plane(row, _AT.ippatsu + relative)
    if t.is_stick_due:
        planes.set_plane(row, _AT.stick_due)
    for i in range(t.num_kans):
        planes.set_plane(row, _AT.kans_made + i)
    if t.is_first_turn[seat]:
        planes.set_plane(row, _AT.first_turn)
    # The engine looks for waits when a seat discards: after a claim those of before it still stand.
    waits = 0 if t.phase == codes.CALL_DISCARD and t.actor == seat else int(t.waits[seat])
    planes.set_kinds(row, _AT.waits, waits)
    if waits & t.river_kinds[seat]:
        planes.set_plane(row, _AT.furiten)
    if t.missed_win[seat]:
        planes.set_plane(row, _AT.furiten + int(t.missed_win[seat]))


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
    safe_from_all = safe_from_riichi = planes.ALL_KINDS
    is_threatened = False
    above, below = _shapes(unseen[0])
    for i in range(3):
        other = (seat + 1 + i) % 4
        safe = int(t.river_kinds[other] | t.passed_kinds[other])
        _fill_waits(i, safe, above, below, unseen, row)
        for n in range(3):
            if planes.count_tiles(safe, hand) >= layout.SAFE_TILE_BORDERS[n]:
                planes.set_plane(row, _AT.safe_tiles_held + 3 * i + n)
        safe_from_all &= safe
        if t.riichi[other]:
            is_threatened = True
            safe_from_riichi &= safe
    planes.set_kinds(row, _AT.safe_from_all, safe_from_all)
    if is_threatened:
        planes.set_kinds(row, _AT.safe_from_riichi, safe_from_riichi)
    no_chance = _NUMBERS & ~(above | below)
    likely_above, likely_below = _shapes(unseen[1])
    planes.set_kinds(row, _AT.no_chance, no_chance)
    planes.set_kinds(row, _AT.one_chance, _NUMBERS & ~(likely_above | likely_below) & ~no_chance)


@jit
def _shapes(tiles: int) -> tuple[int, int]:
    """Return the numbers that two-sided waits of the two next higher, and of the two next lower kinds take."""
    return tiles >> 1 & tiles >> 2 & _UP_3, tiles << 1 & tiles << 2 & _DOWN_3


@jit
def _fill_waits(i: int, safe: int, above: int, below: int, unseen: CountMasks, row: U8) -> None:
    """Fill the planes of other seat ``i`` whose ``safe`` kinds are known."""
    one, two = unseen[0], unseen[1]
    open_ = planes.ALL_KINDS & ~safe
    # The other end of a two-sided wait, if it is not safe: 3 above, 3 below.
    free_above, free_below = open_ >> 3 & _UP_3, open_ << 3 & _DOWN_3
    planes.set_kinds(row, _AT.safe + i, safe)
    planes.set_kinds(row, _AT.suji + i, open_ & _NUMBERS & ~free_above & ~free_below)
    planes.set_kinds(row, _AT.half_suji + i, open_ & _FOUR_TO_SIX & (free_above ^ free_below))
    high, low = above & free_above & open_, below & free_below & open_
    planes.set_kinds(row, _AT.two_sided + 2 * i, high | low)
    planes.set_kinds(row, _AT.two_sided + 2 * i + 1, high & low)
    planes.set_kinds(row, _AT.closed_wait + i, one >> 1 & one << 1 & _BETWEEN & open_)
    edges = one << 1 & one << 2 & _THREES | one >> 1 & one >> 2 & _SEVENS
    planes.set_kinds(row, _AT.edge_wait + i, edges & open_)
    planes.set_kinds(row, _AT.pair_wait + i, two & open_)
    planes.set_kinds(row, _AT.single_wait + i, one & open_)
