"""Which MCR hands are complete, and what they count: the best of all readings, by the 82 fans (docs/mcr.md)."""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.planes import count_bits
from suphx.games.mahjong.shanten import Suits, standard_shanten
from suphx.games.mahjong.tile import (
    ANKAN_MELD,
    CHI_MELD,
    GREEN_BITS,
    HAKU,
    HONOUR_BITS,
    PON_MELD,
    TERMINAL_AND_HONOUR_BITS,
)
from suphx.games.mcr import fan_table as fan
from suphx.games.mcr.fan_table import FANS, NUM_FANS, large_fan, lowest_bit, settle, small_fan
from suphx.games.mcr.readings import (
    CHOW_BITS,
    MAX_SUIT_READINGS,
    PAIR_SHIFT,
    PUNGS_SHIFT,
    Packs,
    is_only_wait,
    is_sets,
    is_sets_and_pair,
    pack_suit,
    read_honours,
    read_suit,
    tiles_of,
)
from suphx.games.mcr.set_fans import fans_of_pungs, fans_of_sets
from suphx.kernel.jit import jit
from suphx.kernel.record import I8

__all__ = [
    "FANS", "KNITTED_WAITS_2024", "KONG", "LAST_OF_KIND", "LAST_TILE", "MIXED_KONGS", "NUM_FANS", "SELF_DRAWN",
    "count_fans", "fans_of_kinds", "is_complete",
]  # fmt: skip

SELF_DRAWN, LAST_TILE, KONG, LAST_OF_KIND = 1, 2, 4, 8
"""Circumstances of a win, a bit set. KONG: a kong draw if self-drawn, else the robbing of a kong. LAST_TILE: last tile
draw or last tile claim. LAST_OF_KIND: the three others of the kind are visible to all."""

MIXED_KONGS, KNITTED_WAITS_2024 = 1, 2
"""Options, a bit set. MIXED_KONGS: fan 82 is on. KNITTED_WAITS_2024: a hand with a knitted straight has a wait fan also
if the winning tile is of a knitted kind, but can be read as part of the rest."""

_UPPER, _MIDDLE, _LOWER = 0x1C0 * fan.ONE_OF_EACH_SUIT, 0x038 * fan.ONE_OF_EACH_SUIT, 0x007 * fan.ONE_OF_EACH_SUIT
# 1, 2, 3, 4, 5, 8, 9 dots (p); 2, 4, 5, 6, 8, 9 bamboo (s); the white dragon
_REVERSIBLE = 0b110011111 << 9 | 0b110111010 << 18 | 1 << HAKU
_FOURS = 0x444444444  # the bit that only a count of four has
_NINE_GATES = 0x311111113
_P, _S = MAX_SUIT_READINGS, 2 * MAX_SUIT_READINGS  # the first reading of a suit
_ALWAYS_CONCEALED = sum(
    1 << number - 1 for number, excluded in fan.EXCLUDED.items() if fan.FULLY_CONCEALED_HAND in excluded
)
"""Fans beside which Self-Drawn counts instead of Fully Concealed Hand."""

_KNITTED_PACKS = np.array([[0x1001001 << 4 * low for low in order] for order in fan.KNITTED_ORDERS])
"""The packs of the three suits."""


@jit
def is_complete(suits: Suits, counts: I8, num_melds: int) -> bool:
    """Tell whether a hand is a winning one in any form, whatever it counts.

    ``counts``, int8 (34,), are the 14 - 3 * num_melds concealed tiles, the winning one included; ``suits`` are the
    tables of ``load_suits``. Forms: four sets and a pair, seven pairs (four equal tiles are two), thirteen orphans,
    knitted straight with a set and a pair, knitted tiles with honours.
    """
    if standard_shanten(suits, counts, num_melds) == -1:
        return True
    if num_melds > 1:
        return False
    packs, kinds = _packs_of(counts), _kinds_of(counts)
    if num_melds == 0 and _special_form(packs, kinds):
        return True
    order = _knitted_order(kinds, True)
    return order >= 0 and _is_sets_and_pair(_without_knitted(packs, order))


@jit
def _kinds_of(counts: I8) -> int:
    """Return the bit set of the kinds of a hand."""
    kinds = 0
    for kind in range(34):
        kinds |= int(counts[kind] > 0) << kind
    return kinds


@jit
def _packs_of(counts: I8) -> Packs:
    return pack_suit(counts, 0), pack_suit(counts, 1), pack_suit(counts, 2), pack_suit(counts, 3)


@jit
def _special_form(packs: Packs, kinds: int) -> int:
    """Return the fan of 14 concealed tiles that are seven pairs, orphans, or knitted tiles with honours; else 0."""
    if count_bits(kinds) == 14:
        if _knitted_order(kinds, False) < 0:
            return 0
        all_honours = kinds & HONOUR_BITS == HONOUR_BITS
        return fan.GREATER_HONOURS_AND_KNITTED_TILES if all_honours else fan.LESSER_HONOURS_AND_KNITTED_TILES
    if kinds == TERMINAL_AND_HONOUR_BITS:
        return fan.THIRTEEN_ORPHANS
    m, p, s, z = packs
    if (m | p | s | z) & 0x111111111:  # an odd number of a kind
        return 0
    whole = m | p | s
    is_row = whole == 0x2222222 or whole == 0x22222220 or whole == 0x222222200
    if is_row and z == 0 and (m == whole or p == whole or s == whole):
        return fan.SEVEN_SHIFTED_PAIRS
    return fan.SEVEN_PAIRS


@jit
def _knitted_order(kinds: int, is_whole: bool) -> int:
    """Return the arrangement of knitted tiles whose nine kinds are all there; or else which has all suited kinds.

    -1 if there is none.
    """
    suited = kinds & ~HONOUR_BITS
    for order in range(len(fan.KNITTED_KINDS)):
        if (fan.KNITTED_KINDS[order] & ~suited if is_whole else suited & ~fan.KNITTED_KINDS[order]) == 0:
            return order
    return -1


@jit
def _without_knitted(packs: Packs, order: int) -> Packs:
    m, p, s, z = packs
    knitted = _KNITTED_PACKS[order]
    return m - knitted[0], p - knitted[1], s - knitted[2], z


@jit
def _pair_suit(packs: Packs) -> int:
    """Return the suit that can have the pair by the numbers of tiles; -1 if they fit no reading."""
    found = -1
    for suit in range(4):
        over = tiles_of(packs[suit]) % 3
        if over == 1 or (over == 2 and found >= 0):
            return -1
        if over == 2:
            found = suit
    return found


@jit
def _is_sets_and_pair(packs: Packs) -> bool:
    """Tell whether the rest of a hand with a knitted straight is sets and one pair."""
    pair_suit = _pair_suit(packs)
    for suit in range(3):
        if not (is_sets_and_pair(packs[suit]) if suit == pair_suit else is_sets(packs[suit])):
            return False
    return pair_suit >= 0 and read_honours(packs[3]) >= 0


@jit
def count_fans(
    suits: Suits, counts: I8, meld_type: I8, meld_kind: I8, num_melds: int, win_kind: int, circumstances: int,
    round_wind: int, seat_wind: int, options: int, found: I8,
) -> int:  # fmt: skip
    """Return the total of the reading that counts most, flowers apart; 0 if the hand is not complete.

    ``counts`` as in ``is_complete``; ``meld_type`` and ``meld_kind``, (4,): type and lowest kind of the melds, in any
    order (tile.py); ``win_kind`` is one of the concealed kinds; ``circumstances`` and ``options`` are bit sets; winds
    are 0 to 3, east to north. Fills ``found``, int8 (83,), with how often each fan counts in that reading, by number.
    """
    found[:] = 0
    packs = _packs_of(counts)
    kinds = concealed_kinds = _kinds_of(counts)
    meld_chows = meld_pungs = open_kongs = concealed_kongs = 0
    for i in range(num_melds):
        kind = meld_kind[i]
        if meld_type[i] == CHI_MELD:
            meld_chows += 1 << 3 * (7 * (kind // 9) + kind % 9)
            kinds |= 7 << kind
        else:
            meld_pungs |= 1 << kind
            kinds |= 1 << kind
            if meld_type[i] == ANKAN_MELD:
                concealed_kongs += 1
            elif meld_type[i] != PON_MELD:
                open_kongs += 1
    large, small = fans_of_kinds(kinds)
    small += _num_hogs(packs, meld_type, meld_kind, num_melds) * small_fan(fan.TILE_HOG)
    more_large, more_small = _fans_of_circumstances(circumstances, num_melds - concealed_kongs)
    large |= more_large
    small += more_small
    more_large, more_small = _fans_of_kongs(open_kongs, concealed_kongs, options)
    large |= more_large
    small += more_small
    is_claimed = not circumstances & SELF_DRAWN
    best = (0, 0, 0)
    form = _special_form(packs, kinds) if num_melds == 0 else 0
    if form:
        is_long = form == fan.LESSER_HONOURS_AND_KNITTED_TILES and _knitted_order(kinds, True) >= 0
        best = _total(large | large_fan(form) | (large_fan(fan.KNITTED_STRAIGHT) if is_long else 0), small)
    order = _knitted_order(concealed_kinds, True) if num_melds <= 1 else -1
    if order >= 0:
        rest = _without_knitted(packs, order)
        is_of_rest = rest[win_kind // 9] >> 4 * (win_kind % 9) & 15 > 0
        has_wait = is_of_rest and (options & KNITTED_WAITS_2024 != 0 or not fan.KNITTED_KINDS[order] >> win_kind & 1)
        now = _best_reading(
            rest, meld_chows, meld_pungs, concealed_kongs, large | large_fan(fan.KNITTED_STRAIGHT), small, win_kind,
            num_melds > 0, has_wait, is_claimed, True, round_wind, seat_wind,
        )  # fmt: skip
        if now[0] > best[0]:
            best = now
    if standard_shanten(suits, counts, num_melds) == -1:
        now = _best_reading(
            packs, meld_chows, meld_pungs, concealed_kongs, large, small, win_kind,
            num_melds > 0, True, is_claimed, False, round_wind, seat_wind,
        )  # fmt: skip
        if now[0] > best[0]:
            best = now
    total, large, small = best
    while large:
        found[lowest_bit(large) + 1] = 1
        large &= large - 1
    while small:
        place = lowest_bit(small) // 3
        found[place + 64] += 1
        small -= 1 << 3 * place
    return total


@jit
def fans_of_kinds(kinds: int) -> tuple[int, int]:
    """Return the fans that follow from which kinds a hand has, melds included."""
    large = small = 0
    honours = kinds & HONOUR_BITS
    num_suits = int(kinds & 0x1FF != 0) + int(kinds >> 9 & 0x1FF != 0) + int(kinds >> 18 & 0x1FF != 0)
    if kinds & ~TERMINAL_AND_HONOUR_BITS == 0:
        if num_suits == 0:
            large |= large_fan(fan.ALL_HONOURS)
        else:
            large |= large_fan(fan.ALL_TERMINALS_AND_HONOURS) if honours else large_fan(fan.ALL_TERMINALS)
    elif kinds & TERMINAL_AND_HONOUR_BITS == 0:
        small |= small_fan(fan.ALL_SIMPLES)
    if kinds & ~GREEN_BITS == 0:
        large |= large_fan(fan.ALL_GREEN)
    if kinds & ~_REVERSIBLE == 0:
        large |= large_fan(fan.REVERSIBLE_TILES)
    if num_suits == 1:
        large |= large_fan(fan.HALF_FLUSH) if honours else large_fan(fan.FULL_FLUSH)
    elif num_suits == 2:
        small |= small_fan(fan.ONE_VOIDED_SUIT)
    elif num_suits == 3 and kinds & fan.WIND_KINDS and kinds & fan.DRAGON_KINDS:
        large |= large_fan(fan.ALL_TYPES)
    if not honours:
        small |= small_fan(fan.NO_HONOURS)
        if kinds & ~fan.UPPER_FOUR_KINDS == 0:
            large |= large_fan(fan.UPPER_FOUR) if kinds & ~_UPPER else large_fan(fan.UPPER_TILES)
        elif kinds & ~fan.LOWER_FOUR_KINDS == 0:
            large |= large_fan(fan.LOWER_FOUR) if kinds & ~_LOWER else large_fan(fan.LOWER_TILES)
        elif kinds & ~_MIDDLE == 0:
            large |= large_fan(fan.MIDDLE_TILES)
    return large, small


@jit
def _num_hogs(packs: Packs, meld_type: I8, meld_kind: I8, num_melds: int) -> int:
    """Return of how many kinds the hand has four tiles that are no kong."""
    hogs = 0
    for suit in range(4):
        pack = packs[suit]
        for i in range(num_melds):
            rank = meld_kind[i] - 9 * suit
            if 0 <= rank < 9:
                if meld_type[i] == CHI_MELD:
                    pack += 0x111 << 4 * rank
                elif meld_type[i] == PON_MELD:
                    pack += 3 << 4 * rank
        hogs += count_bits(pack & _FOURS)
    return hogs


@jit
def _fans_of_circumstances(circumstances: int, num_open_sets: int) -> tuple[int, int]:
    """Return the fans of how the hand was won."""
    large = small = 0
    if circumstances & SELF_DRAWN:
        if circumstances & LAST_TILE:
            large |= large_fan(fan.LAST_TILE_DRAW)
        if circumstances & KONG:
            large |= large_fan(fan.OUT_WITH_REPLACEMENT_TILE)
        if num_open_sets == 0:
            large |= large_fan(fan.FULLY_CONCEALED_HAND)
        else:
            small |= small_fan(fan.SELF_DRAWN_WIN)
    else:
        if circumstances & LAST_TILE:
            large |= large_fan(fan.LAST_TILE_CLAIM)
        if circumstances & KONG:
            large |= large_fan(fan.ROBBING_THE_KONG)
        if num_open_sets == 0:
            large |= large_fan(fan.CONCEALED_HAND)
        elif num_open_sets == 4:
            large |= large_fan(fan.MELDED_HAND)
    if circumstances & LAST_OF_KIND:
        large |= large_fan(fan.LAST_OF_ITS_KIND)
    return large, small


@jit
def _fans_of_kongs(open_kongs: int, concealed_kongs: int, options: int) -> tuple[int, int]:
    """Return the fans of kongs, concealed pungs apart."""
    number = open_kongs + concealed_kongs
    if number == 4:
        return large_fan(fan.FOUR_KONGS), 0
    if number == 3:
        return large_fan(fan.THREE_KONGS), 0
    if concealed_kongs == 2:
        return large_fan(fan.TWO_CONCEALED_KONGS), 0
    if open_kongs == 2:
        return large_fan(fan.TWO_MELDED_KONGS), 0
    if number == 2 and options & MIXED_KONGS:
        return 0, small_fan(fan.MELDED_AND_CONCEALED_KONG)
    return 0, open_kongs * small_fan(fan.MELDED_KONG) + concealed_kongs * small_fan(fan.CONCEALED_KONG)


@jit
def _total(large: int, small: int) -> tuple[int, int, int]:
    """Return (total, large, small) of a reading, settled; Chicken Hand if nothing counts."""
    if large & _ALWAYS_CONCEALED and large & large_fan(fan.FULLY_CONCEALED_HAND):
        small += small_fan(fan.SELF_DRAWN_WIN)
    total, large, small = settle(large, small)
    if total == 0:
        return fan.VALUES[fan.CHICKEN_HAND], large_fan(fan.CHICKEN_HAND), 0
    return total, large, small


@jit
def _best_reading(
    packs: Packs, meld_chows: int, meld_pungs: int, concealed_kongs: int, large: int, small: int, win_kind: int,
    has_melds: bool, has_wait: bool, is_claimed: bool, is_knitted: bool, round_wind: int, seat_wind: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Return (total, large, small) of the best reading of ``packs`` as sets and a pair; zeros if there is none.

    ``large`` and ``small`` are the fans that all readings share. With ``is_knitted``, ``packs`` are the tiles beside a
    knitted straight.
    """
    pair_suit, z = _pair_suit(packs), read_honours(packs[3])
    if pair_suit < 0 or z < 0:
        return 0, 0, 0
    readings = np.empty(3 * MAX_SUIT_READINGS, np.int64)
    num_m, num_p = read_suit(packs[0], readings, 0), read_suit(packs[1], readings, _P)
    num_s = read_suit(packs[2], readings, _S)
    if not has_melds and packs[win_kind // 9] - (1 << 4 * (win_kind % 9)) == _NINE_GATES:
        large |= large_fan(fan.NINE_GATES)
        small -= small_fan(fan.PUNG_OF_TERMINALS_OR_HONOURS)  # every reading has one or two
    only_wait = -1  # unknown
    best = (0, 0, 0)
    mask = (1 << CHOW_BITS) - 1
    a = b = c = 0
    for _ in range(num_m * num_p * num_s):
        m, p, s = readings[a], readings[_P + b], readings[_S + c]
        a += 1
        if a == num_m:
            a = 0
            b += 1
            if b == num_p:
                b = 0
                c += 1
        chows = m & mask | (p & mask) << CHOW_BITS | (s & mask) << 2 * CHOW_BITS
        pungs = m >> PUNGS_SHIFT & 0x1FF | (p >> PUNGS_SHIFT & 0x1FF) << 9 | (s >> PUNGS_SHIFT & 0x1FF) << 18
        pungs |= (z >> PUNGS_SHIFT & 0x1FF) << 27
        pair = 9 * pair_suit + ((m | p | s | z) >> PAIR_SHIFT) - 1
        all_chows, all_pungs = chows + meld_chows, pungs | meld_pungs
        if is_knitted:
            now_large, now_small = fans_of_pungs(all_pungs, pair, round_wind, seat_wind)
            if all_chows and pair < 27:
                now_large |= large_fan(fan.ALL_CHOWS)
        else:
            now_large, now_small = fans_of_sets(all_chows, all_pungs, pair, round_wind, seat_wind)
        now_large |= large
        now_small += small
        concealed = concealed_kongs + count_bits(pungs)
        if is_claimed and pungs >> win_kind & 1 and not _has_chow_with(chows, win_kind):
            concealed -= 1
        if concealed == 2:
            now_small += small_fan(fan.TWO_CONCEALED_PUNGS)
        elif concealed == 3:
            now_large |= large_fan(fan.THREE_CONCEALED_PUNGS)
        elif concealed == 4:
            now_large |= large_fan(fan.FOUR_CONCEALED_PUNGS)
        wait = _wait_fan(chows, pair, win_kind) if has_wait else 0
        if wait:
            if only_wait < 0:
                only_wait = int(is_only_wait(packs, win_kind, has_melds or is_knitted))
            now_small += only_wait * small_fan(wait)
        now = _total(now_large, now_small)
        if now[0] > best[0]:
            best = now
    return best


@jit
def _has_chow_with(chows: int, kind: int) -> bool:
    """Tell whether one of the chows has a suited kind."""
    if kind >= 27:
        return False
    rank = kind % 9
    of_suit = chows >> CHOW_BITS * (kind // 9)
    window = of_suit >> 3 * (rank - 2) if rank >= 2 else of_suit << 3 * (2 - rank)
    return window & (0o777 if rank <= 6 else 0o77 if rank == 7 else 0o7) != 0


@jit
def _wait_fan(chows: int, pair: int, win_kind: int) -> int:
    """Return the number of the wait fan that the winning tile makes in a reading if it is the only wait, or 0."""
    if win_kind < 27:
        rank = win_kind % 9
        of_suit = chows >> CHOW_BITS * (win_kind // 9)
        if (rank == 2 and of_suit & 7) or (rank == 6 and of_suit >> 18 & 7):
            return fan.EDGE_WAIT
        if 1 <= rank <= 7 and of_suit >> 3 * (rank - 1) & 7:
            return fan.CLOSED_WAIT
    return fan.SINGLE_WAIT if pair == win_kind else 0
