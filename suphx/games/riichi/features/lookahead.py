"""Look-ahead planes: which hands a discard leads to with up to three new tiles, and how likely they are.

Source: the paper's look-ahead features, "the probability and round score of winning a hand if we discard a specific
tile from the current hand tiles and then draw tiles from the wall to replace some other hand tiles". The paper names
neither the planes nor the scoring; ours are in paper_layout.py; docs/features.md says what a way to win, drawn,
called, points and chance are. Reach: the kinds of all ways with up to k new tiles that are worth the points or more.

The search goes over the suits' near targets for every winning hand that at most three new tiles make of a hand. A way
to win gives up some tiles (those the hand holds more of than the winning hand) and takes as many missing ones, all of
them unseen. Two results: which discards reach which level of points (hand_value.py) with how many tiles, and for every
multiset of missing tiles the discards with which it wins.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.planes import ALL_KINDS, CountMasks, count_bits, set_kinds
from suphx.games.mahjong.shanten import CLASS_MASK, merge_rows, special_counts, suit_rows, thirteen_orphans_shanten
from suphx.games.mahjong.tile import TERMINAL_AND_HONOUR_BITS, TERMINALS_AND_HONOURS
from suphx.games.riichi.features import paper_layout as layout
from suphx.games.riichi.features import suit_targets as near
from suphx.games.riichi.features.hand_value import (
    NO_CLAIM,
    HandSummary,
    Reading,
    fill_hand_summary,
    pairs_levels,
    win_levels,
)
from suphx.games.riichi.features.suit_targets import Lookup
from suphx.games.riichi.shanten import seven_pairs_shanten
from suphx.games.riichi.table import Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I16, I64, U8, Records, field, record_dtype

NUM_FAMILIES = 2
DRAWN, CALLED = range(NUM_FAMILIES)
MAX_COLUMNS = 14  # kinds that a hand can discard
NUM_PAIRS = 34 * 35 // 2
NUM_DRAWS = 34 + NUM_PAIRS + 34 * 35 * 36 // 6  # multisets of one to three kinds

# What a multiset of draws is good for, as a word of 64 bits. A column is a kind that the hand can discard; bit c of a
# set of columns tells whether the hand wins after discarding that kind.
#
#    63      42 41        28 27        14 13         0
#   +----------+------------+------------+------------+
#   |   ways   |   called   |    high    |    any     |
#   +----------+------------+------------+------------+
#    in how     columns that columns that columns that
#    many ways  win after a  win HIGH_    win at all
#    it can be  call, with a LEVEL points
#    drawn      yaku         or more
ANY_SHIFT, HIGH_SHIFT, CALLED_SHIFT, WAYS_SHIFT = 0, MAX_COLUMNS, 2 * MAX_COLUMNS, 3 * MAX_COLUMNS
COLUMNS_MASK = (1 << MAX_COLUMNS) - 1

# A target in place: four words of 64 bits. Bits of runs stand at 9 * suit + number of the lowest tile, bits of triplets
# at their kind. The words 0 and 1 of different suits are added, word 2 is shifted behind those of other suits.
#
#      63 60 59    54 53    48 47        34 33                   27 26                         0
#     +-----+--------+--------------------------------------------+-----------------------------+
#   0 |       0      |  doubles: runs that stand there twice      |  runs                       |
#     +-----+--------+--------+------------+----------------------+-----------------------------+
#   1 |  0  | pair+1 |  dora  |  given up  |  triplets                                          |
#     |     | (kind) | (count)|  (columns) |  (kinds, bits 33 to 0)                             |
#     +-----+--------+--------+------------+-----------+-----------------+----------------------+
#   2 |  0                                             | third  | second | first missing kind+1 |
#     |                                                | 17..12 | 11..6  | 5..0 (the lowest)    |
#     +------------------------------------------------+--------+--------+----------------------+
#   3 |  in how many ways the missing tiles can be drawn: a number                              |
#     +-----------------------------------------------------------------------------------------+
_DOUBLES = 27
_GIVEN, _DORA, _PAIR = 34, 48, 54
_KIND_BITS, _KIND_MASK = 6, 63

_WAYS = np.array([[1, n, n * (n - 1) // 2, n * (n - 1) * (n - 2) // 6, 0] for n in range(5)])
_REPEATED = np.array([0, 1, 1 | 1 << _KIND_BITS, 1 | 1 << _KIND_BITS | 1 << 2 * _KIND_BITS, 0])


class Search(HandSummary):
    """A hand, what a search of it needs, and what it finds."""

    targets: I64 = field("i8", near.MAX_STATES, 4)  # of all suits; no hand of 14 tiles has more than 1,700
    num_groups: I64 = field("i8", 4)  # by suit: those that are not empty
    groups: I64 = field("i8", 4, near.NUM_GROUPS)
    starts: I64 = field("i8", 4, near.NUM_GROUPS + 1)  # where their targets begin
    limits: I64 = field("i8", near.NUM_GROUPS // 4)  # see expand_suit

    reached: I64 = field("i8", NUM_FAMILIES, layout.MAX_CHANGED, layout.NUM_LEVELS + 1)
    """By family, number of missing tiles - 1 and level: bit set of columns."""
    draws: I64 = field("i8", NUM_DRAWS)
    """The words of all multisets of missing tiles, see ``draws_index``."""
    num_draws: int = field("i8")
    draw_indices: I16 = field("i2", NUM_DRAWS)
    """Those that are not zero."""


SEARCH = record_dtype(Search)


@jit
def draws_index(kinds: tuple[int, int, int], num_missing: int) -> int:
    """Return the place of a sorted multiset of one to three kinds among all of them."""
    first, second, third = kinds
    if num_missing == 1:
        return first
    index = second * (second + 1) // 2 + first
    if num_missing == 2:
        return 34 + index
    return 34 + NUM_PAIRS + third * (third + 1) * (third + 2) // 6 + index


@jit
def search_wins(lookup: Lookup, search: Search) -> bool:
    """Find every way to win with the hand of ``search``; return False, with nothing written, if none is in reach.

    A hand without a discard (3n + 1 tiles) gives up one tile less; all its ways then count for column 0.
    """
    suits = lookup.suits
    rows = suit_rows(suits, search.hand)
    m, p, s, z = rows
    whole = suits.merged[merge_rows(suits, m, p), merge_rows(suits, s, z)]
    has_sets = suits.shanten[whole, 4 - search.num_sets] < layout.MAX_CHANGED
    has_pairs = has_orphans = False
    if search.num_sets == 4:
        counts = special_counts(rows)
        has_pairs = seven_pairs_shanten(counts) < layout.MAX_CHANGED
        has_orphans = thirteen_orphans_shanten(counts) < layout.MAX_CHANGED
    if not (has_sets or has_pairs or has_orphans):
        return False
    search.reached[:] = 0
    search.draws[:] = 0
    search.num_draws = 0
    if has_sets:
        left, right = merge_rows(suits, m, p), merge_rows(suits, s, z)
        end = _list_suit(lookup, search, 0, suits.merged[right, p & CLASS_MASK], 0)
        end = _list_suit(lookup, search, 1, suits.merged[right, m & CLASS_MASK], end)
        end = _list_suit(lookup, search, 2, suits.merged[left, z & CLASS_MASK], end)
        _list_suit(lookup, search, 3, suits.merged[left, s & CLASS_MASK], end)
        _join(lookup, search, suits.lacking[right], suits.lacking[z & CLASS_MASK])
    if has_pairs:
        _search_pairs(lookup, search)
    if has_orphans:
        for pair in TERMINALS_AND_HONOURS:
            missing, num_missing, ways, given, _ = _changes(search, TERMINAL_AND_HONOUR_BITS, 1 << pair)
            if 0 < num_missing <= layout.MAX_CHANGED and ways > 0:
                called = layout.NUM_LEVELS if num_missing == 1 else 0
                _note(search, _unpack(missing), num_missing, ways, given, layout.NUM_LEVELS, called)
    return True


@jit
def _list_suit(lookup: Lookup, search: Search, suit: int, rest: int, end: int) -> int:
    """Append the targets of a suit that the others, of class ``rest``, can complete; return the new end of targets."""
    for sets in range(search.num_sets + 1):
        for pair in range(2):
            lacking = lookup.suits.lacking[rest, 1 - pair] >> 8 * (search.num_sets - sets) & 0xFF
            search.limits[2 * sets + pair] = layout.MAX_CHANGED - lacking
    num_tiles = 0
    for kind in range(9 * suit, 34 if suit == 3 else 9 * suit + 9):
        num_tiles += search.hand[kind]
    is_in_table, table = num_tiles <= near.TABLE_TILES, lookup.suit_targets
    states = np.empty((2, 1 if is_in_table else near.MAX_STATES, 2), np.int64)
    rank = num_targets = num_groups = 0
    if is_in_table:
        rank = near.rank_suit(table, search.hand, suit)
    else:
        kinds = search.hand[27:] if suit == 3 else search.hand[9 * suit : 9 * suit + 9]
        search.limits[2 * search.num_sets + 2 :] = -1
        num_targets = near.expand_suit(kinds, search.limits, states)
    for group in range(near.GROUP_SET * (search.num_sets + 1)):
        start = end
        if is_in_table and group & 3 <= search.limits[group >> 2]:
            first = int(table.first[rank])
            begin = int(table.ends[rank, group - 1]) if group > 0 else 0
            for i in range(begin, table.ends[rank, group]):
                end = _place(search, suit, table.words[table.near[first + i]], end)
        for i in range(num_targets):
            if states[0, i, 1] == group:
                end = _place(search, suit, states[0, i, 0], end)
        if end > start:
            search.groups[suit, num_groups] = group
            search.starts[suit, num_groups] = start
            num_groups += 1
    search.num_groups[suit] = num_groups
    search.starts[suit, num_groups] = end
    return end


@jit
def _place(search: Search, suit: int, word: int, end: int) -> int:
    """Write a target as it stands in its suit; return the new end: the old one when a missing tile is not unseen."""
    base = 9 * suit
    given = missing = num_missing = dora = 0
    ways = 1
    for i in range(7 if suit == 3 else 9):
        kind = base + i
        count = word >> 4 * i & 7
        change = count - search.hand[kind]
        new = max(change, 0)
        ways *= _WAYS[search.unseen[kind], new]
        missing |= (kind + 1) * _REPEATED[new] << _KIND_BITS * num_missing
        num_missing += new
        given |= int(change < 0) << search.columns[kind]
        dora += count * search.dora[kind]
    if ways == 0:
        return end
    if suit < 3 and word >> 16 & 7:
        dora += search.red >> suit & 1
    pair = word >> near.PAIR_SHIFT & near.PAIR_MASK
    if pair > 0:
        pair += base
    target = search.targets[end]
    runs, doubles = word >> near.RUNS_SHIFT & near.RUNS_MASK, word >> near.DOUBLES_SHIFT & near.RUNS_MASK
    sets = word >> near.SETS_SHIFT & near.SETS_MASK
    target[0] = runs << base | doubles << (_DOUBLES + base)
    target[1] = sets << base | given << _GIVEN | dora << _DORA | pair << _PAIR
    target[2] = missing
    target[3] = ways
    return end + 1


@jit
def _join(lookup: Lookup, search: Search, lacking_two: I64, lacking_one: I64) -> None:
    """Combine the targets of the four suits into winning hands.

    ``lacking_two``, ``lacking_one``: what the last two suits and the last one lack, see ``Suits.lacking``.
    """
    # Groups add up: the last one must bring them to this, less what need not be missing.
    full = near.GROUP_SET * search.num_sets + near.GROUP_PAIR + layout.MAX_CHANGED
    for a in range(search.num_groups[0]):
        for b in range(search.num_groups[1]):
            two = _add_groups(search.groups[0, a], search.groups[1, b], full, lacking_two)
            for c in range(search.num_groups[2] if two >= 0 else 0):
                three = _add_groups(two, search.groups[2, c], full, lacking_one)
                for d in range(search.num_groups[3] if three >= 0 else 0):
                    last, rest = search.groups[3, d], full - three
                    if last >> 2 == rest >> 2 and last & 3 <= rest & 3:
                        _join_groups(lookup, search, a, b, c, d)


@jit
def _add_groups(group: int, other: int, full: int, lacking: I64) -> int:
    """Return the sum of two groups, or -1 when the suits still to come cannot complete them within the limit."""
    rest = full - group - other
    if rest < 0 or group & other & near.GROUP_PAIR or (group & 3) + (other & 3) > layout.MAX_CHANGED:
        return -1
    if lacking[rest >> 2 & 1] >> 8 * (rest >> 3) & 0xFF > rest & 3:
        return -1
    return group + other


@jit
def _join_groups(lookup: Lookup, search: Search, a: int, b: int, c: int, d: int) -> None:
    """Combine the targets of one group of each suit."""
    shift_b = _KIND_BITS * (search.groups[0, a] & 3)
    shift_c = _KIND_BITS * (search.groups[1, b] & 3) + shift_b
    shift_d = _KIND_BITS * (search.groups[2, c] & 3) + shift_c
    num_missing = shift_d // _KIND_BITS + (search.groups[3, d] & 3)
    if num_missing == 0:
        return
    targets = search.targets
    for i in range(search.starts[0, a], search.starts[0, a + 1]):
        for j in range(search.starts[1, b], search.starts[1, b + 1]):
            for k in range(search.starts[2, c], search.starts[2, c + 1]):
                runs = targets[i, 0] + targets[j, 0] + targets[k, 0]
                sets = targets[i, 1] + targets[j, 1] + targets[k, 1]
                missing = targets[i, 2] | targets[j, 2] << shift_b | targets[k, 2] << shift_c
                ways = targets[i, 3] * targets[j, 3] * targets[k, 3]
                for x in range(search.starts[3, d], search.starts[3, d + 1]):
                    whole = sets + targets[x, 1]
                    reading = Reading(
                        runs=runs & (1 << _DOUBLES) - 1,
                        doubles=runs >> _DOUBLES,
                        sets=whole & (1 << _GIVEN) - 1,
                        pair=(whole >> _PAIR) - 1,
                        dora=whole >> _DORA & 63,
                    )
                    kinds = _unpack(missing | targets[x, 2] << shift_d)
                    drawn, called = win_levels(lookup.win_levels, search, reading, kinds, num_missing)
                    given = whole >> _GIVEN & COLUMNS_MASK
                    _note(search, kinds, num_missing, ways * targets[x, 3], given, drawn, called)


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
    search: Search, kinds: tuple[int, int, int], num_missing: int, ways: int, given: int, drawn: int, called: int
) -> None:  # fmt: skip
    """Add one winning hand to what was found: ``given`` is the bit set of columns that it gives up."""
    if drawn == 0:
        return  # a hand without a yaku; what wins called wins drawn, too
    columns = given if search.has_discard else 1
    search.reached[DRAWN, num_missing - 1, drawn] |= columns
    search.reached[CALLED, num_missing - 1, called] |= columns
    index = draws_index(kinds, num_missing)
    word = search.draws[index]
    if word == 0:
        search.draw_indices[search.num_draws] = index
        search.num_draws += 1
    word |= columns << ANY_SHIFT | ways << WAYS_SHIFT
    if drawn >= layout.HIGH_LEVEL:
        word |= columns << HIGH_SHIFT
    if called > 0:
        word |= columns << CALLED_SHIFT
    search.draws[index] = word


@jit
def _search_pairs(lookup: Lookup, search: Search) -> None:
    """Find the wins with seven different pairs."""
    kinds = np.empty(34, np.int64)  # those that make a pair with one tile, then those with two
    pairs = np.empty(7, np.int64)
    num_pairs = num_single = 0
    for kind in range(34):
        if search.hand[kind] > 1:
            pairs[num_pairs] = kind
            num_pairs += 1
        elif search.hand[kind] == 1 and search.unseen[kind] > 0:
            kinds[num_single] = kind
            num_single += 1
    num_others = num_single
    for kind in range(34):
        if search.hand[kind] == 0 and search.unseen[kind] > 1:
            kinds[num_others] = kind
            num_others += 1
    for kept in range(1 << num_pairs):
        num_new = 7 - count_bits(kept)
        if 0 < num_new <= layout.MAX_CHANGED:
            bits = 0
            for i in range(num_pairs):
                bits |= (kept >> i & 1) << pairs[i]
            _choose_pairs(lookup, search, bits, kinds[:num_others], num_single, num_new)


@jit
def _choose_pairs(lookup: Lookup, search: Search, kept: int, kinds: I64, num_single: int, num_new: int) -> None:
    """Find the wins with the pairs ``kept`` and ``num_new`` (1-3) others of ``kinds``, the singles first."""
    n = len(kinds)
    for i in range(n):
        one = kept | 1 << kinds[i]
        if num_new == 1:
            _judge_pairs(lookup, search, one)
            continue
        # Two new pairs of which one has no tile yet lack three tiles; more is out of reach.
        for j in range(i + 1, n if i < num_single and num_new == 2 else num_single):
            two = one | 1 << kinds[j]
            if num_new == 2:
                _judge_pairs(lookup, search, two)
            for k in range(j + 1, num_single if num_new == 3 else 0):
                _judge_pairs(lookup, search, two | 1 << kinds[k])


@jit
def _judge_pairs(lookup: Lookup, search: Search, kinds: int) -> None:
    """Note the win with pairs of ``kinds``, a bit set of seven."""
    missing, num_missing, ways, given, dora = _changes(search, kinds, kinds)
    drawn, called = pairs_levels(lookup.win_levels, search, kinds, dora, num_missing)
    _note(search, _unpack(missing), num_missing, ways, given, drawn, called)


@jit
def _changes(search: Search, once: int, twice: int) -> tuple[int, int, int, int, int]:
    """Return missing kinds, their number, ways to draw them, columns given up and dora of a hand of singles and pairs.

    ``once``, ``twice``: bit sets of its kinds and of its pairs. More than MAX_CHANGED missing kinds are not all told.
    """
    missing = given = num_missing = dora = 0
    ways = 1
    for kind in range(34):
        count = (once >> kind & 1) + (twice >> kind & 1)
        change = count - search.hand[kind]
        new = max(change, 0)
        ways *= _WAYS[search.unseen[kind], new]
        if num_missing < layout.MAX_CHANGED:
            missing |= (kind + 1) * _REPEATED[new] << _KIND_BITS * num_missing
        num_missing += new
        given |= int(change < 0) << search.columns[kind]
        dora += count * search.dora[kind]
    for suit in range(3):
        dora += search.red >> suit & once >> 9 * suit + 4 & 1
    return missing, num_missing, ways, given, dora


_AT = layout.CLAIM.first_planes()


@jit
def fill_lookahead(lookup: Lookup, t: Table, seat: int, action: int, unseen: CountMasks, row: U8) -> None:
    """Fill the look-ahead planes of the hand of ``seat`` as it is (NO_CLAIM), or after the claim or kan ``action``.

    ``unseen``: the tiles that ``seat`` cannot see.
    """
    _fill(lookup, t, seat, action, unseen, np.empty(1, SEARCH), row)


@jit
def _fill(
    lookup: Lookup, t: Table, seat: int, action: int, unseen: CountMasks, searches: Records, row: U8
) -> None:  # fmt: skip
    """``searches`` (1,) is scratch, and an argument: a record of it would not keep an own array alive."""
    search = searches[0]
    fill_hand_summary(t, seat, action, unseen, search)
    if not search_wins(lookup, search):
        return
    ways = np.zeros((3, layout.MAX_CHANGED, MAX_COLUMNS), np.int64)
    _add_ways(search, ways)
    kinds = np.zeros(MAX_COLUMNS, np.int64)
    for kind in range(34):
        if search.hand[kind] > 0:
            kinds[search.columns[kind]] = 1 << kind
    if not search.has_discard:
        kinds[0] = ALL_KINDS
    if action == NO_CLAIM:
        _fill_reach(search, DRAWN, kinds, row, _AT.lookahead_drawn)
        _fill_reach(search, CALLED, kinds, row, _AT.lookahead_called)
        _fill_chances(search, ways[0], kinds, layout.CHANCE_BORDERS, row, _AT.lookahead_chance)
        _fill_chances(search, ways[1], kinds, layout.FEW_CHANCE_BORDERS, row, _AT.lookahead_high_chance)
        _fill_chances(search, ways[2], kinds, layout.FEW_CHANCE_BORDERS, row, _AT.lookahead_called_chance)
    else:
        _fill_reach(search, DRAWN, kinds, row, _AT.claim_lookahead_drawn)
        _fill_chances(search, ways[0], kinds, layout.CHANCE_BORDERS, row, _AT.claim_lookahead_chance)
        _fill_chances(search, ways[1], kinds, layout.CLAIM_HIGH_CHANCE_BORDERS, row, _AT.claim_lookahead_high_chance)


@jit
def _fill_reach(search: Search, family: int, column_kinds: I64, row: U8, plane: int) -> None:
    """Fill the planes of all numbers of new tiles x levels; each includes fewer tiles and higher levels."""
    reached = np.zeros(layout.NUM_LEVELS + 1, np.int64)
    for i in range(layout.MAX_CHANGED):
        higher = kinds = columns = 0
        for level in range(layout.NUM_LEVELS, 0, -1):
            higher |= search.reached[family, i, level]
            reached[level] |= higher
            if reached[level] != columns:
                columns = reached[level]
                kinds = 0
                for column in range(MAX_COLUMNS):
                    kinds |= column_kinds[column] * (columns >> column & 1)
            if kinds:
                set_kinds(row, plane + layout.NUM_LEVELS * i + level - 1, kinds)


@jit
def _add_ways(search: Search, ways: I64) -> None:
    """Add up the ways to draw of all winning draws: any, high, called x missing tiles x columns."""
    for i in range(search.num_draws):
        index = search.draw_indices[i]
        word = search.draws[index]
        missing = (index >= 34) + (index >= 34 + NUM_PAIRS)
        count = word >> WAYS_SHIFT
        columns = word >> ANY_SHIFT & COLUMNS_MASK
        column = 0
        while columns:
            if columns & 1:
                ways[0, missing, column] += count
                ways[1, missing, column] += count * (word >> HIGH_SHIFT + column & 1)
                ways[2, missing, column] += count * (word >> CALLED_SHIFT + column & 1)
            columns >>= 1
            column += 1


@jit
def _fill_chances(
    search: Search, ways: I64, column_kinds: I64, borders: tuple[tuple[int, ...], ...], row: U8, plane: int
) -> None:  # fmt: skip
    """Fill the planes of the numbers of missing tiles x ``borders`` (ten-thousandths of all draws)."""
    total = 0
    for kind in range(34):
        total += search.unseen[kind]
    draws = (total, total * (total - 1) // 2, total * (total - 1) * (total - 2) // 6)
    for i in range(layout.MAX_CHANGED):
        for j in range(len(borders[i])):
            kinds = 0
            for column in range(MAX_COLUMNS):
                if ways[i, column] * 10_000 >= borders[i][j] * draws[i] > 0:
                    kinds |= column_kinds[column]
            if kinds:
                set_kinds(row, plane + len(borders[i]) * i + j, kinds)
