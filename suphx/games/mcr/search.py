"""The search for fans: which of 15 fans a hand can aim at, as advice for nets (docs/mcr.md, what nets see).

A fan is advised if the hand fulfils a minimum condition and what it lacks is unseen. It has one to three slots: the
targets that lack the fewest tiles, then those with the most unseen copies of these tiles. An advice is three bit sets
of kinds: the *part* of the hand that makes the fan, the kinds to *keep*, and those to *drop*. If no slot is filled, a
base advice says what to keep and to drop for a standard hand.

The suits are sorted by what the hand has of them before the search, so that an exchange of suits exchanges the advice
and nothing else. Suits that cannot be told apart share their advice.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from suphx.games.mahjong.planes import (
    ALL_KINDS,
    SUIT_ORDERS,
    CountMasks,
    count_bits,
    count_masks,
    count_tiles,
    permuted_kinds,
)
from suphx.games.mahjong.shanten import Suits, standard_shanten
from suphx.games.mahjong.tile import HONOUR_BITS, TERMINAL_AND_HONOUR_BITS
from suphx.games.mcr import fan_table
from suphx.games.mcr.table import NUM_KINDS
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

OWN, UNSEEN, CHOWS, PUNGS = range(4)
"""Rows of the ``counts`` of a search: concealed tiles, unseen tiles, own chows by their lowest kind, and own pungs and
kongs."""

SLOTS = {
    "Mixed Shifted Chows": 3,
    "Pure Shifted Chows": 3,
    "Mixed Triple Chow": 2,
    "All Types": 1,
    "Mixed Straight": 2,
    "Pure Straight": 2,
    "Full Flush": 1,
    "Half Flush": 2,
    "Seven Pairs": 1,
    "All Pungs": 1,
    "Lesser Honours and Knitted Tiles": 2,
    "Knitted Straight": 2,
    "Outside Hand": 2,
    "Upper Four": 1,
    "Lower Four": 1,
}
"""Slots of each fan, in their order."""
(
    MIXED_SHIFTED_CHOWS, PURE_SHIFTED_CHOWS, MIXED_TRIPLE_CHOW, ALL_TYPES, MIXED_STRAIGHT, PURE_STRAIGHT, FULL_FLUSH,
    HALF_FLUSH, SEVEN_PAIRS, ALL_PUNGS, LESSER_HONOURS, KNITTED_STRAIGHT, OUTSIDE_HAND, UPPER_FOUR, LOWER_FOUR,
) = range(len(SLOTS))  # fmt: skip
FIRST_SLOTS = tuple(accumulate(SLOTS.values(), initial=0))
"""The first slot of each fan, and the number of slots."""
NUM_SLOTS = FIRST_SLOTS[-1]
NUM_ADVICES = NUM_SLOTS + 1
"""The base advice is the last one."""
PART, KEEP, DROP = range(3)

_SUIT = 0x1FF
_ALL_SUITED = _SUIT * fan_table.ONE_OF_EACH_SUIT
_FOURS_TO_SIXES = 0x038 * fan_table.ONE_OF_EACH_SUIT
_OUTSIDE_CHOWS = 0x41 * fan_table.ONE_OF_EACH_SUIT  # by their lowest kind
_REMOVED_FIRST = (
    *range(27, NUM_KINDS),
    *(9 * suit + rank for rank in (0, 8, 1, 7, 2, 6, 3, 5, 4) for suit in range(3)),
)
"""The order in which tiles without use leave a hand: honours, then ranks from the outside."""
_EXCHANGE_FIRST, _EXCHANGE_LAST = SUIT_ORDERS[2], SUIT_ORDERS[1]  # of the first two suits, and of the last two
_TILE = 256  # what a missing tile costs against an unseen copy
_FAR = 1 << 20


class _Hand(NamedTuple):
    """A hand as bit sets of kinds."""

    own: CountMasks
    """Concealed tiles."""
    unseen: CountMasks
    tiles: CountMasks
    """Concealed tiles and melds; a kong has three."""
    chows: int
    """The lowest kinds of melded chows."""
    pungs: int
    """The kinds of melded pungs and kongs."""
    melded: int
    """All kinds in melds."""
    num_melds: int


@jit
def search(suits: Suits, counts: I8, advice: I64) -> int:
    """Fill ``advice``, int64 [NUM_ADVICES, 3] of bit sets, for a hand; return how many slots are filled.

    ``counts``: int8 [4, 34], rows OWN, UNSEEN, CHOWS, PUNGS.
    """
    advice[:] = 0
    order, first_are_twins, last_are_twins = _sort_suits(counts)
    ordered = counts.copy()
    for place in range(3):
        suit = int(order[place])
        ordered[:, 9 * place : 9 * place + 9] = counts[:, 9 * suit : 9 * suit + 9]
    hand = _hand_of(ordered)
    costs = np.full(NUM_SLOTS, _FAR, np.int64)
    _search_mixed_chows(hand, costs, advice)
    _search_pure_chows(hand, costs, advice)
    _search_all_types(hand, ordered, costs, advice)
    _search_flushes(hand, costs, advice)
    _search_pairs_and_pungs(hand, costs, advice)
    _search_knitted(hand, costs, advice)
    _search_outside_hands(hand, ordered[OWN], costs, advice)
    _search_four(hand, UPPER_FOUR, fan_table.UPPER_FOUR_KINDS, costs, advice)
    _search_four(hand, LOWER_FOUR, fan_table.LOWER_FOUR_KINDS, costs, advice)
    found = 0
    for slot in range(NUM_SLOTS):
        found += int(costs[slot] < _FAR)
    if found == 0:
        _advise_base(suits, ordered[OWN], hand, advice[NUM_SLOTS])
    if first_are_twins:
        _share(advice, _EXCHANGE_FIRST)
    if last_are_twins:
        _share(advice, _EXCHANGE_LAST)
    if first_are_twins and last_are_twins:
        _share(advice, _EXCHANGE_FIRST)
    for slot in range(NUM_ADVICES):
        for i in range(3):
            if advice[slot, i] != 0:
                advice[slot, i] = permuted_kinds(int(advice[slot, i]), order)
    return found


@jit
def _sort_suits(counts: I8) -> tuple[I64, bool, bool]:
    """Return the suits sorted by their tiles, and whether the first two and the last two are equal."""
    order = np.arange(3)
    keys = _suit_key(counts, 0), _suit_key(counts, 1), _suit_key(counts, 2)
    for last in (1, 2, 1):
        if keys[order[last]] > keys[order[last - 1]]:
            order[last], order[last - 1] = order[last - 1], order[last]
    return order, keys[order[0]] == keys[order[1]], keys[order[1]] == keys[order[2]]


@jit
def _suit_key(counts: I8, suit: int) -> tuple[int, int]:
    """Return two numbers that only equal suits share."""
    tiles = melds = 0
    for kind in range(9 * suit, 9 * suit + 9):
        tiles = tiles << 6 | int(counts[OWN, kind]) << 3 | int(counts[UNSEEN, kind])
        melds = melds << 4 | int(counts[CHOWS, kind]) << 1 | int(counts[PUNGS, kind])
    return tiles, melds


@jit
def _share(advice: I64, exchange: I64) -> None:
    """Advise for two equal suits alike."""
    for slot in range(NUM_ADVICES):
        part, keep, drop = int(advice[slot, PART]), int(advice[slot, KEEP]), int(advice[slot, DROP])
        keep |= permuted_kinds(keep, exchange)
        advice[slot, PART] = part | permuted_kinds(part, exchange)
        advice[slot, KEEP] = keep
        advice[slot, DROP] = drop & permuted_kinds(drop, exchange) & ~keep


@jit
def _hand_of(counts: I8) -> _Hand:
    tiles = counts[OWN].copy()
    chows = pungs = melded = num_melds = 0
    for kind in range(NUM_KINDS):
        number = int(counts[CHOWS, kind])
        if number:
            chows |= 1 << kind
            melded |= 7 << kind
            num_melds += number
            tiles[kind : kind + 3] += number
        if counts[PUNGS, kind]:
            pungs |= 1 << kind
            melded |= 1 << kind
            num_melds += 1
            tiles[kind] += 3
    own, unseen = count_masks(counts[OWN]), count_masks(counts[UNSEEN])
    return _Hand(own, unseen, count_masks(tiles), chows, pungs, melded, num_melds)


@jit
def _offer(fan: int, missing: int, copies: int, part: int, keep: int, drop: int, costs: I64, advice: I64) -> None:
    """Put a target into a slot of its fan if it is better than one that is there."""
    cost = missing * _TILE - copies
    first, slot = FIRST_SLOTS[fan], FIRST_SLOTS[fan + 1] - 1
    if cost >= costs[slot]:
        return
    while slot > first and cost < costs[slot - 1]:
        costs[slot] = costs[slot - 1]
        advice[slot] = advice[slot - 1]
        slot -= 1
    costs[slot] = cost
    advice[slot, PART], advice[slot, KEEP], advice[slot, DROP] = part, keep, drop


@jit
def _search_mixed_chows(hand: _Hand, costs: I64, advice: I64) -> None:
    """Three chows of three suits: of the same ranks, each a rank higher, or a straight."""
    for first in range(7):
        _offer_chows(hand, MIXED_TRIPLE_CHOW, first, 9 + first, 18 + first, costs, advice)
    for a, b, c in fan_table.KNITTED_ORDERS:
        for first in range(5):
            _offer_chows(hand, MIXED_SHIFTED_CHOWS, 9 * a + first, 9 * b + first + 1, 9 * c + first + 2, costs, advice)
        _offer_chows(hand, MIXED_STRAIGHT, 9 * a, 9 * b + 3, 9 * c + 6, costs, advice)


@jit
def _search_pure_chows(hand: _Hand, costs: I64, advice: I64) -> None:
    """Three chows of one suit: each one or two ranks higher, or a straight."""
    for suit in range(3):
        for shift in range(1, 3):
            for low in range(9 * suit, 9 * suit + 7 - 2 * shift):
                _offer_chows(hand, PURE_SHIFTED_CHOWS, low, low + shift, low + 2 * shift, costs, advice)
        _offer_straight(hand, suit, costs, advice)


@jit
def _offer_chows(hand: _Hand, fan: int, first: int, second: int, third: int, costs: I64, advice: I64) -> None:
    """Offer three chows, by lowest kind, if two have a shape and the third has a tile, or more; melded ones have.

    One meld may be another one. A kind that two of the chows share counts for both only if there are two tiles.
    """
    a = 0 if hand.chows >> first & 1 else 7 << first
    b = 0 if hand.chows >> second & 1 else 7 << second
    c = 0 if hand.chows >> third & 1 else 7 << third
    concealed = int(a != 0) + int(b != 0) + int(c != 0)
    if hand.num_melds > 4 - concealed:
        return
    one, two, three, _ = hand.own
    any_chow, two_chows, all_chows = a | b | c, a & b | a & c | b & c, a & b & c
    held = count_bits(one & any_chow) + count_bits(two & two_chows) + count_bits(three & all_chows)
    missing = 3 * concealed - held
    if missing > concealed + 1 or not _has_shapes(one, two, a, b, c):
        return
    lack_one = any_chow & ~one | two_chows & ~two | all_chows & ~three
    lack_two = two_chows & ~one | all_chows & ~two
    lack_three = all_chows & ~one
    unseen = hand.unseen
    if lack_one & ~unseen[0] | lack_two & ~unseen[1] | lack_three & ~unseen[2]:
        return
    part = 7 << first | 7 << second | 7 << third
    _offer(fan, missing, count_tiles(lack_one, unseen), part, part, 0, costs, advice)


@jit
def _has_shapes(one: int, two: int, a: int, b: int, c: int) -> bool:
    """Tell whether tiles can be dealt out so that two of three chows have two or more and the third has one.

    ``one``, ``two``: the kinds of which there are as many. A chow that is 0 needs none. By Hall's theorem.
    """
    in_a, in_b, in_c = count_bits(one & a), count_bits(one & b), count_bits(one & c)
    in_ab = count_bits(one & (a | b)) + count_bits(two & a & b)
    in_ac = count_bits(one & (a | c)) + count_bits(two & a & c)
    in_bc = count_bits(one & (b | c)) + count_bits(two & b & c)
    for single in range(3):
        for_a = 2 - int(single == 0) if a else 0
        for_b = 2 - int(single == 1) if b else 0
        for_c = 2 - int(single == 2) if c else 0
        if (
            in_a >= for_a
            and in_b >= for_b
            and in_c >= for_c
            and in_ab >= for_a + for_b
            and in_ac >= for_a + for_c
            and in_bc >= for_b + for_c
        ):
            return True
    return False


@jit
def _offer_straight(hand: _Hand, suit: int, costs: I64, advice: I64) -> None:
    """Offer the pure straight of a suit if six of its ranks are there; chows that fit may be melded, one meld not."""
    melded = foreign = 0
    for low in range(9 * suit, 9 * suit + 9, 3):
        if hand.chows >> low & 1:
            melded |= 7 << low
            foreign -= 1
    foreign += hand.num_melds
    kinds = _SUIT << 9 * suit
    lacking = kinds & ~(hand.own[0] | melded)
    if foreign > 1 or count_bits(lacking) > 3 or lacking & ~hand.unseen[0]:
        return
    _offer(PURE_STRAIGHT, count_bits(lacking), count_tiles(lacking, hand.unseen), kinds, kinds, 0, costs, advice)


@jit
def _search_all_types(hand: _Hand, counts: I8, costs: I64, advice: I64) -> None:
    """Winds, dragons and the three suits are the sets and the pair of a hand."""
    one, two = hand.own[0], hand.own[1]
    pairs = melds = 0
    for suit in range(3):
        kinds = one & _SUIT << 9 * suit
        melds = _melds_in(counts, 9 * suit, 9 * suit + 9)
        if melds > 1 or (kinds == 0 and melds == 0):
            return
        pairs += int(melds > 0 or two & kinds != 0 or (kinds & (kinds << 1 | kinds << 2)) != 0)
    winds, dragons = _melds_in(counts, 27, 31), _melds_in(counts, 31, NUM_KINDS)
    has_pair = winds + dragons > 0 or two & HONOUR_BITS != 0
    has_both = (winds > 0 or one & fan_table.WIND_KINDS != 0) and (dragons > 0 or one & fan_table.DRAGON_KINDS != 0)
    if winds > 1 or dragons > 1 or pairs < 2 or not has_pair or not has_both:
        return
    plans = np.zeros((5, 4), np.int64)  # by group: the cost of a set, its kinds; the cost of a pair, its kinds
    for group in range(5):
        if group < 3:
            first, end = 9 * group, 9 * group + 9
        else:
            first, end = (27, 31) if group == 3 else (31, NUM_KINDS)
        _plan_group(hand, counts, first, end, plans[group])
    cost = gain = pair = 0
    for group in range(5):
        cost += int(plans[group, 0])
        if group == 0 or plans[group, 2] - plans[group, 0] < gain:
            gain, pair = int(plans[group, 2] - plans[group, 0]), group
    if cost + gain >= _FAR // 2:
        return
    part = 0
    for group in range(5):
        part |= int(plans[group, 3 if group == pair else 1])
    _offer(ALL_TYPES, 0, 0, part, part, 0, costs, advice)


@jit
def _melds_in(counts: I8, first: int, end: int) -> int:
    """Return how many own melds there are of the kinds from ``first`` on, before ``end``."""
    return int(counts[CHOWS, first:end].sum() + counts[PUNGS, first:end].sum())


@jit
def _plan_group(hand: _Hand, counts: I8, first: int, end: int, plan: I64) -> None:
    """Fill ``plan`` with the cheapest set and the cheapest pair of neighbouring kinds: its cost and its kinds each."""
    plan[0] = plan[2] = _FAR
    kinds = (1 << end) - (1 << first)
    if hand.melded & kinds:
        plan[0], plan[1] = 0, hand.melded & kinds
        return
    for kind in range(first, end):
        held, unseen = int(counts[OWN, kind]), int(counts[UNSEEN, kind])
        for size, place in ((3, 0), (2, 2)):
            missing = max(size - held, 0)
            cost = missing * _TILE - unseen if missing else 0
            if missing <= unseen and cost < plan[place]:
                plan[place], plan[place + 1] = cost, 1 << kind
        if end <= 27 and kind < end - 2:
            chow = 7 << kind
            lacking = chow & ~hand.own[0]
            cost = count_bits(lacking) * _TILE - count_tiles(lacking, hand.unseen)
            if lacking & ~hand.unseen[0] == 0 and cost < plan[0]:
                plan[0], plan[1] = cost, chow


@jit
def _search_flushes(hand: _Hand, costs: I64, advice: I64) -> None:
    """A full flush has more than 8 tiles of a suit, a half flush more than 10 - 3x, x pairs of honours."""
    pairs = count_bits((hand.own[1] | hand.pungs) & HONOUR_BITS)
    for suit in range(3):
        kinds = _SUIT << 9 * suit
        number, copies = count_tiles(kinds, hand.tiles), count_tiles(kinds, hand.unseen)
        missing = 14 - number
        if number > 8 and hand.melded & ~kinds == 0 and copies >= missing:
            _offer(FULL_FLUSH, missing, copies, kinds, kinds, ALL_KINDS ^ kinds, costs, advice)
        if number > 10 - 3 * pairs and hand.melded & ~(kinds | HONOUR_BITS) == 0:
            _offer(HALF_FLUSH, missing, copies, kinds, kinds, _ALL_SUITED ^ kinds, costs, advice)


@jit
def _search_pairs_and_pungs(hand: _Hand, costs: I64, advice: I64) -> None:
    """Seven pairs from four pairs on; all pungs with a pung and pairs for the other sets."""
    one, two, three, four = hand.own
    unseen = hand.unseen
    useless = one & ~two & ~unseen[0]
    pairs = count_bits(two) + count_bits(four)
    if pairs >= 4 and hand.num_melds == 0 and 2 * count_bits(unseen[2]) > 14 - pairs:
        _offer(SEVEN_PAIRS, 7 - pairs, 0, two, two, useless, costs, advice)
    pungs = count_bits(three) + count_bits(hand.pungs)
    only_pairs = two & ~three
    needed = max(4 - pungs, 0)
    if pungs > 0 and hand.chows == 0 and count_bits(only_pairs & unseen[0]) >= needed:
        part = two | hand.pungs
        _offer(ALL_PUNGS, needed, 0, part, part, useless, costs, advice)


@jit
def _search_knitted(hand: _Hand, costs: I64, advice: I64) -> None:
    """Ten of the kinds of an arrangement and of the honours; seven of the nine kinds of a knitted straight."""
    one, unseen = hand.own[0], hand.unseen
    if hand.num_melds > 1:
        return
    for order in range(len(fan_table.KNITTED_KINDS)):
        straight = int(fan_table.KNITTED_KINDS[order])
        lacking = straight & ~one
        if count_bits(lacking) <= 2 and lacking & ~unseen[0] == 0:
            missing, copies = count_bits(lacking), count_tiles(lacking, unseen)
            _offer(KNITTED_STRAIGHT, missing, copies, straight, straight, 0, costs, advice)
        kinds = straight | HONOUR_BITS
        lacking = kinds & ~one
        missing = max(count_bits(lacking) - 2, 0)  # 14 of 16 kinds
        if missing <= 4 and hand.num_melds == 0 and count_bits(lacking & unseen[0]) >= missing:
            copies = count_tiles(lacking, unseen)
            _offer(LESSER_HONOURS, missing, copies, kinds, kinds, ALL_KINDS ^ kinds, costs, advice)


@jit
def _search_outside_hands(hand: _Hand, counts: I8, costs: I64, advice: I64) -> None:
    """Four shapes or pairs with a terminal or honour, and four without honours; every meld has one."""
    if hand.chows & ~_OUTSIDE_CHOWS or hand.pungs & ~TERMINAL_AND_HONOUR_BITS:
        return
    one, two = hand.own[0], hand.own[1]
    shapes, part = hand.num_melds, hand.melded
    for suit in range(3):
        for low, terminal in ((9 * suit, 9 * suit), (9 * suit + 6, 9 * suit + 8)):
            chow, ends = 7 << low, 1 << terminal
            tiles = int(counts[terminal])
            others = int(counts[low : low + 3].sum()) - tiles
            in_chows = min(tiles, others)
            shapes += in_chows + int(tiles - in_chows > 1)
            if in_chows:
                part |= chow
            elif two & ends:
                part |= ends
    honours = count_bits(two & HONOUR_BITS)
    if shapes + honours >= 4:
        whole = part | two & HONOUR_BITS
        _offer(OUTSIDE_HAND, 0, 0, whole, whole, _FOURS_TO_SIXES, costs, advice)
    if shapes >= 4 and hand.melded & HONOUR_BITS == 0 and one & HONOUR_BITS:
        _offer(OUTSIDE_HAND, 1, 0, part, part, _FOURS_TO_SIXES | HONOUR_BITS, costs, advice)


@jit
def _search_four(hand: _Hand, fan: int, kinds: int, costs: I64, advice: I64) -> None:
    """Offer a fan of a few ranks with ten tiles of them."""
    number = count_tiles(kinds, hand.tiles)
    if number >= 10 and hand.melded & ~kinds == 0:
        copies = count_tiles(kinds, hand.unseen)
        _offer(fan, max(14 - number, 0), copies, kinds, kinds, ALL_KINDS ^ kinds, costs, advice)


@jit
def _advise_base(suits: Suits, own: I8, hand: _Hand, advice: I64) -> None:
    """Keep the sets, shapes and pairs of as few tiles as have the hand's shanten; drop single tiles without a future.

    Such a tile has no unseen tile within two ranks; honours have no neighbours.
    """
    core: Any = own.astype(np.int64)  # a code of a suit would overflow int8 where Python runs it
    shanten = standard_shanten(suits, core, hand.num_melds)
    for kind in _REMOVED_FIRST:
        while core[kind] > 0:
            core[kind] -= 1
            if standard_shanten(suits, core, hand.num_melds) > shanten:
                core[kind] += 1
                break
    kinds = keep = drop = 0
    for kind in range(NUM_KINDS):
        kinds |= int(core[kind] > 0) << kind
    for kind in range(NUM_KINDS):
        if core[kind] > 1 or (core[kind] == 1 and kinds & _neighbours(kind)):
            keep |= 1 << kind
        elif own[kind] == 1 and hand.unseen[0] & _neighbours(kind) == 0:
            drop |= 1 << kind
    advice[KEEP], advice[DROP] = keep, drop


@jit
def _neighbours(kind: int) -> int:
    """Return the kinds one or two ranks from a suited kind; none of an honour."""
    if kind >= 27:
        return 0
    return 0b11011 << kind >> 2 & _SUIT << 9 * (kind // 9)
