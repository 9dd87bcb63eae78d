"""Every winning hand that at most three new tiles make of a hand: a search over the suits' near targets.

A way to win gives up some tiles (those the hand holds more of than the winning hand) and takes as many missing ones,
all of them unseen. Two results: which discards reach which level of points (hand_value.py) with how many tiles, and for
every multiset of missing tiles the discards with which it wins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suphx.features.hand_value import ENDS, Reading, pairs_levels, win_levels
from suphx.features.holding import Concealed, Holding
from suphx.features.lookahead_layout import HIGH_LEVEL, NUM_LEVELS
from suphx.features.lookup import Lookup
from suphx.features.planes import count_bits
from suphx.features.suit_targets import (
    DOUBLES_SHIFT,
    GROUP_PAIR,
    GROUP_SET,
    MAX_CHANGED,
    MAX_STATES,
    NUM_GROUPS,
    PAIR_MASK,
    PAIR_SHIFT,
    RUNS_MASK,
    RUNS_SHIFT,
    SETS_MASK,
    SETS_SHIFT,
    TABLE_TILES,
    expand_suit,
    rank_suit,
)
from suphx.riichi.jit import jit
from suphx.riichi.record import I8, I64
from suphx.riichi.shanten import merge_rows, suit_rows
from suphx.riichi.suit_table import CLASS_MASK
from suphx.riichi.tile import TERMINALS_AND_HONOURS

NUM_FAMILIES = 2
DRAWN, CALLED = range(NUM_FAMILIES)
MAX_COLUMNS = 14  # kinds that a hand can discard
NUM_DRAWS = 34 + 34 * 35 // 2 + 34 * 35 * 36 // 6
"""Multisets of one to three kinds."""

# What a multiset of draws is good for, as a word: three bit sets of columns and in how many ways it can be drawn.
ANY_SHIFT, HIGH_SHIFT, CALLED_SHIFT, WAYS_SHIFT = 0, MAX_COLUMNS, 2 * MAX_COLUMNS, 3 * MAX_COLUMNS
COLUMNS_MASK = (1 << MAX_COLUMNS) - 1

# A target in place, four words: runs and, from bit 27 on, doubles; triplets (34 bits), columns given up (14), dora (6),
# pair + 1 (6); missing kinds + 1, six bits each, the highest kind last; ways to draw them.
_TARGET_WORDS = 4
_DOUBLES = 27
_GIVEN, _DORA, _PAIR = 34, 48, 54
_KIND_BITS, _KIND_MASK = 6, 63


class Found(NamedTuple):
    """What a search writes; all zero before it."""

    reached: I64
    """int64 (NUM_FAMILIES, 3, 13): by family, number of missing tiles - 1 and level: bit set of columns."""
    draws: I64
    """int64 (NUM_DRAWS,): the words of all multisets of missing tiles, see ``draws_index``."""
    touched: I64
    """int64 (1 + NUM_DRAWS,): how many of them are not zero, and their indices."""


@jit
def draws_index(kinds: tuple[int, int, int], num_missing: int) -> int:
    """Return the place of a sorted multiset of one to three kinds among all of them."""
    first, second, third = kinds
    if num_missing == 1:
        return first
    index = second * (second + 1) // 2 + first
    if num_missing == 2:
        return 34 + index
    return 34 + 34 * 35 // 2 + third * (third + 1) * (third + 2) // 6 + index


@jit
def search_wins(lookup: Lookup, concealed: Concealed, holding: Holding, found: Found) -> bool:
    """Find every way to win; return False, with nothing written, when none is in reach."""
    rows = suit_rows(lookup.suits, concealed.hand)
    m, p, s, z = rows
    left, right = merge_rows(lookup.suits, m, p), merge_rows(lookup.suits, s, z)
    is_found = False
    if lookup.suits.shanten[lookup.suits.merged[left, right], 4 - holding.num_sets] < MAX_CHANGED:
        _search_sets(lookup, concealed, holding, rows, found)
        is_found = True
    if holding.num_sets == 4:
        is_found |= _search_pairs(lookup, concealed, holding, found)
        is_found |= _search_orphans(concealed, found)
    return is_found


@jit
def _search_sets(
    lookup: Lookup, concealed: Concealed, holding: Holding, rows: tuple[int, int, int, int], found: Found
) -> None:
    """Find the wins with sets and a pair."""
    suits = lookup.suits
    m, p, s, z = rows
    left, right = merge_rows(suits, m, p), merge_rows(suits, s, z)
    targets = np.empty((MAX_STATES, _TARGET_WORDS), np.int64)
    starts = np.empty((4, NUM_GROUPS + 1), np.int64)
    limits = np.empty(NUM_GROUPS // 4, np.int64)
    n = 0
    for suit in range(4):
        half = right if suit < 2 else left
        partner = (p, m, z, s)[suit]
        rest = suits.merged[half, partner & CLASS_MASK]
        for sets in range(5):
            for pair in range(2):
                lacking = 99
                if sets <= holding.num_sets:
                    lacking = suits.lacking[rest, 1 - pair] >> 8 * (holding.num_sets - sets) & 0xFF
                limits[2 * sets + pair] = MAX_CHANGED - lacking
        n = _list_suit(lookup, concealed, suit, limits, targets, n, starts[suit])
    two, one = suits.lacking[right], suits.lacking[z & CLASS_MASK]
    _join(lookup, holding, concealed.has_discard, two, one, targets, starts, found)


@jit
def _list_suit(
    lookup: Lookup, concealed: Concealed, suit: int, limits: I64, targets: I64, n: int, starts: I64
) -> int:  # fmt: skip
    """Append the targets of a suit within ``limits`` (see expand_suit), by group; return the new number of targets."""
    end = 34 if suit == 3 else 9 * suit + 9
    counts = concealed.hand[9 * suit : end]
    if counts.sum() > TABLE_TILES:
        return _list_full_suit(concealed, suit, counts, limits, targets, n, starts)
    table = lookup.suit_targets
    rank = rank_suit(table, counts)
    first = table.first[rank]
    begin = 0
    for group in range(NUM_GROUPS):
        starts[group] = n
        stop = int(table.ends[rank, group])
        if group & 3 <= limits[group >> 2]:
            for i in range(begin, stop):
                n = _place(concealed, suit, counts, table.words[table.near[first + i]], targets, n)
        begin = stop
    starts[NUM_GROUPS] = n
    return n


@jit
def _list_full_suit(
    concealed: Concealed, suit: int, counts: I8, limits: I64, targets: I64, n: int, starts: I64
) -> int:  # fmt: skip
    """Do the same for a suit that the table does not hold."""
    states = np.empty((2, MAX_STATES, 2), np.int64)
    num_targets = expand_suit(counts, limits, states)
    for group in range(NUM_GROUPS):
        starts[group] = n
        if group & 3 <= limits[group >> 2]:
            for i in range(num_targets):
                if states[0, i, 1] == group:
                    n = _place(concealed, suit, counts, states[0, i, 0], targets, n)
    starts[NUM_GROUPS] = n
    return n


@jit
def _place(concealed: Concealed, suit: int, counts: I8, word: int, targets: I64, n: int) -> int:
    """Write a target as it stands in its suit; return n + 1, or n when a missing tile is not among the unseen."""
    base = 9 * suit
    given = missing = num_missing = dora = 0
    ways = 1
    for i in range(len(counts)):
        kind = base + i
        count = word >> 4 * i & 7
        change = count - counts[i]
        if change > 0:
            unseen = int(concealed.unseen[kind])
            if change > unseen:
                return n
            ways *= _choose(unseen, change)
            for _ in range(change):
                missing |= (kind + 1) << _KIND_BITS * num_missing
                num_missing += 1
        elif change < 0:
            given |= 1 << concealed.columns[kind]
        dora += count * concealed.dora[kind]
    if suit < 3 and concealed.red >> suit & 1 and word >> 16 & 7:
        dora += 1
    pair = word >> PAIR_SHIFT & PAIR_MASK
    targets[n, 0] = (word >> RUNS_SHIFT & RUNS_MASK) << base | (word >> DOUBLES_SHIFT & RUNS_MASK) << (_DOUBLES + base)
    targets[n, 1] = (word >> SETS_SHIFT & SETS_MASK) << base | given << _GIVEN | dora << _DORA
    if pair > 0:
        targets[n, 1] |= (base + pair) << _PAIR
    targets[n, 2] = missing
    targets[n, 3] = ways
    return n + 1


@jit
def _choose(total: int, count: int) -> int:
    """Return in how many ways ``count`` (1-3) of ``total`` equal tiles can be drawn."""
    if count == 1:
        return total
    if count == 2:
        return total * (total - 1) // 2
    return total * (total - 1) * (total - 2) // 6


@jit
def _join(
    lookup: Lookup, holding: Holding, has_discard: int, lacking_two: I64, lacking_one: I64, targets: I64, starts: I64,
    found: Found,
) -> None:  # fmt: skip
    """Combine the targets of the four suits into winning hands.

    ``lacking_two``, ``lacking_one``: what the last two suits and the last one lack, see ``Suits.lacking``.
    """
    # Groups add up: the last one must bring them to this, less what need not be missing.
    full = GROUP_SET * holding.num_sets + GROUP_PAIR + MAX_CHANGED
    for a in range(NUM_GROUPS):
        for b in range(NUM_GROUPS):
            if starts[0, a] == starts[0, a + 1] or starts[1, b] == starts[1, b + 1]:
                continue
            if not _fits(a, b, full, lacking_two):
                continue
            for c in range(NUM_GROUPS):
                if starts[2, c] == starts[2, c + 1] or not _fits(a + b, c, full, lacking_one):
                    continue
                for d in range((full - a - b - c) & ~3, full - a - b - c + 1):
                    if starts[3, d] < starts[3, d + 1]:
                        _join_groups(lookup, holding, has_discard, targets, starts, (a, b, c, d), found)


@jit
def _fits(group: int, other: int, full: int, lacking: I64) -> bool:
    """Tell whether the suits still to come can complete two groups within the limit."""
    rest = full - group - other
    if rest < 0 or group & other & GROUP_PAIR or (group & 3) + (other & 3) > MAX_CHANGED:
        return False
    return lacking[rest >> 2 & 1] >> 8 * (rest >> 3) & 0xFF <= rest & 3


@jit
def _join_groups(
    lookup: Lookup, holding: Holding, has_discard: int, targets: I64, starts: I64, groups: tuple[int, int, int, int],
    found: Found,
) -> None:  # fmt: skip
    """Combine the targets of one group of each suit."""
    a, b, c, d = groups
    shift_b = _KIND_BITS * (a & 3)
    shift_c = shift_b + _KIND_BITS * (b & 3)
    shift_d = shift_c + _KIND_BITS * (c & 3)
    num_missing = (a & 3) + (b & 3) + (c & 3) + (d & 3)
    if num_missing == 0:
        return
    for i in range(starts[0, a], starts[0, a + 1]):
        for j in range(starts[1, b], starts[1, b + 1]):
            for k in range(starts[2, c], starts[2, c + 1]):
                runs = targets[i, 0] + targets[j, 0] + targets[k, 0]
                sets = targets[i, 1] + targets[j, 1] + targets[k, 1]
                missing = targets[i, 2] | targets[j, 2] << shift_b | targets[k, 2] << shift_c
                ways = targets[i, 3] * targets[j, 3] * targets[k, 3]
                for x in range(starts[3, d], starts[3, d + 1]):
                    _judge(
                        lookup, holding, has_discard, runs + targets[x, 0], sets + targets[x, 1],
                        missing | targets[x, 2] << shift_d, ways * targets[x, 3], num_missing, found,
                    )  # fmt: skip


@jit
def _judge(
    lookup: Lookup, holding: Holding, has_discard: int, runs: int, sets: int, missing: int, ways: int,
    num_missing: int, found: Found,
) -> None:  # fmt: skip
    """Note one winning hand in one reading; the words are sums of those of its targets."""
    reading = Reading(
        runs & (1 << _DOUBLES) - 1, runs >> _DOUBLES, sets & (1 << _GIVEN) - 1, (sets >> _PAIR) - 1, sets >> _DORA & 63
    )
    kinds = _unpack(missing)
    drawn, called = win_levels(lookup.levels, holding, reading, kinds, num_missing)
    given = sets >> _GIVEN & COLUMNS_MASK if has_discard else 1
    _note(found, kinds, num_missing, ways, given, drawn, called)


@jit
def _unpack(missing: int) -> tuple[int, int, int]:
    """Return the missing kinds, lowest first; -1 where there is none."""
    return (
        (missing & _KIND_MASK) - 1,
        (missing >> _KIND_BITS & _KIND_MASK) - 1,
        (missing >> 2 * _KIND_BITS & _KIND_MASK) - 1,
    )


@jit
def _note(
    found: Found, kinds: tuple[int, int, int], num_missing: int, ways: int, given: int, drawn: int, called: int
) -> None:  # fmt: skip
    """Add one winning hand to what was found: ``given`` is the bit set of columns that it gives up."""
    if drawn == 0:
        return  # a hand without a yaku; what wins called wins drawn, too
    found.reached[DRAWN, num_missing - 1, drawn] |= given
    found.reached[CALLED, num_missing - 1, called] |= given
    index = draws_index(kinds, num_missing)
    word = found.draws[index]
    if word == 0:
        found.touched[0] += 1
        found.touched[found.touched[0]] = index
    word |= given << ANY_SHIFT | ways << WAYS_SHIFT
    if drawn >= HIGH_LEVEL:
        word |= given << HIGH_SHIFT
    if called > 0:
        word |= given << CALLED_SHIFT
    found.draws[index] = word


@jit
def _search_pairs(lookup: Lookup, concealed: Concealed, holding: Holding, found: Found) -> bool:
    """Find the wins with seven different pairs; return whether there are any in reach."""
    hand = concealed.hand
    kinds = np.empty(34, np.int64)  # those that make a pair with one tile, then those with two
    pairs = np.empty(7, np.int64)
    num_pairs = num_single = num_others = 0
    for kind in range(34):
        if hand[kind] > 1:
            pairs[num_pairs] = kind
            num_pairs += 1
        elif hand[kind] == 1 and concealed.unseen[kind] > 0:
            kinds[num_single] = kind
            num_single += 1
    if num_pairs < 7 - MAX_CHANGED:
        return False
    num_others = num_single
    for kind in range(34):
        if hand[kind] == 0 and concealed.unseen[kind] > 1:
            kinds[num_others] = kind
            num_others += 1
    for kept in range(1 << num_pairs):
        num_new = 7 - count_bits(kept)
        if 0 < num_new <= MAX_CHANGED:
            bits = 0
            for i in range(num_pairs):
                if kept >> i & 1:
                    bits |= 1 << pairs[i]
            _choose_pairs(lookup, concealed, holding, bits, kinds[:num_others], num_single, num_new, found)
    return True


@jit
def _choose_pairs(
    lookup: Lookup, concealed: Concealed, holding: Holding, kept: int, kinds: I64, num_single: int, num_new: int,
    found: Found,
) -> None:  # fmt: skip
    """Find the wins with the pairs ``kept`` and ``num_new`` (1-3) others of ``kinds``, the singles first."""
    n = len(kinds)
    for i in range(n):
        cost = 1 if i < num_single else 2
        if num_new == 1:
            _judge_pairs(lookup, concealed, holding, kept | 1 << kinds[i], found)
            continue
        for j in range(i + 1, n):
            second = cost + (1 if j < num_single else 2)
            if second > MAX_CHANGED:
                break
            two = kept | 1 << kinds[i] | 1 << kinds[j]
            if num_new == 2:
                _judge_pairs(lookup, concealed, holding, two, found)
            elif second == 2:
                for k in range(j + 1, num_single):
                    _judge_pairs(lookup, concealed, holding, two | 1 << kinds[k], found)


@jit
def _judge_pairs(lookup: Lookup, concealed: Concealed, holding: Holding, kinds: int, found: Found) -> None:
    """Note the win with pairs of ``kinds``, a bit set of seven."""
    missing, num_missing, ways, given, dora = _changes(concealed, kinds, kinds)
    drawn, called = pairs_levels(lookup.levels, holding, kinds, dora, num_missing)
    _note(found, _unpack(missing), num_missing, ways, given, drawn, called)


@jit
def _changes(concealed: Concealed, once: int, twice: int) -> tuple[int, int, int, int, int]:
    """Return missing kinds, their number, ways to draw them, columns given up and dora of a hand of singles and pairs.

    ``once``, ``twice``: bit sets of its kinds and of its pairs. More than MAX_CHANGED missing kinds are not all told.
    """
    missing = given = num_missing = dora = 0
    ways = 1
    for kind in range(34):
        count = (once >> kind & 1) + (twice >> kind & 1)
        change = count - concealed.hand[kind]
        if change > 0:
            ways *= _choose(int(concealed.unseen[kind]), change)
            for _ in range(change):
                if num_missing < MAX_CHANGED:
                    missing |= (kind + 1) << _KIND_BITS * num_missing
                num_missing += 1
        elif change < 0:
            given |= 1 << concealed.columns[kind]
        dora += count * concealed.dora[kind]
        if count > 0 and kind < 27 and kind % 9 == 4:
            dora += concealed.red >> kind // 9 & 1
    return missing, num_missing, ways, given if concealed.has_discard else 1, dora


@jit
def _search_orphans(concealed: Concealed, found: Found) -> bool:
    """Find the wins with one of each terminal and honour and one more; return whether there are any in reach."""
    absent = 0
    for kind in TERMINALS_AND_HONOURS:
        absent += concealed.hand[kind] == 0
    if absent > MAX_CHANGED:
        return False
    for pair in TERMINALS_AND_HONOURS:
        missing, num_missing, ways, given, _ = _changes(concealed, ENDS, 1 << pair)
        if 0 < num_missing <= MAX_CHANGED and ways > 0:
            _note(found, _unpack(missing), num_missing, ways, given, NUM_LEVELS, NUM_LEVELS if num_missing == 1 else 0)
    return True
