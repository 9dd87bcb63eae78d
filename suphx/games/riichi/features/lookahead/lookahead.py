"""Look-ahead planes: which hands a discard leads to with up to three new tiles, and how likely they are.

Source: the paper's look-ahead features, "the probability and round score of winning a hand if we discard a specific
tile from the current hand tiles and then draw tiles from the wall to replace some other hand tiles". The paper names
neither the planes nor the scoring; ours are in ``lookahead_layout``, whose ``TERMS`` say what a way to win, drawn,
called, points and chance are. Reach: the kinds of all ways with up to k new tiles that are worth the points or more.
"""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.features.layout.lookahead_layout import (
    CHANCE_BORDERS,
    CLAIM_HIGH_CHANCE_BORDERS,
    FEW_CHANCE_BORDERS,
    MAX_CHANGED,
    NUM_LEVELS,
)
from suphx.games.riichi.features.layout.paper_layout import CLAIM, PUBLIC
from suphx.games.riichi.features.layout.planes import ALL_KINDS, CountMasks, set_kinds
from suphx.games.riichi.features.lookahead.hand_summary import NO_CLAIM, fill_hand_summary
from suphx.games.riichi.features.lookahead.lookup import Lookup
from suphx.games.riichi.features.lookahead.win_search import (
    ANY_SHIFT,
    CALLED,
    CALLED_SHIFT,
    COLUMNS_MASK,
    DRAWN,
    HIGH_SHIFT,
    MAX_COLUMNS,
    NUM_PAIRS,
    SEARCH,
    WAYS_SHIFT,
    Search,
    search_wins,
)
from suphx.games.riichi.table.table import Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, U8, Records

_DRAWN = PUBLIC["lookahead_drawn"].first
_CALLED = PUBLIC["lookahead_called"].first
_CHANCE = PUBLIC["lookahead_chance"].first
_HIGH_CHANCE = PUBLIC["lookahead_high_chance"].first
_CALLED_CHANCE = PUBLIC["lookahead_called_chance"].first
_CLAIM_DRAWN = CLAIM["claim_lookahead_drawn"].first
_CLAIM_CHANCE = CLAIM["claim_lookahead_chance"].first
_CLAIM_HIGH_CHANCE = CLAIM["claim_lookahead_high_chance"].first


@jit
def fill_lookahead(lookup: Lookup, t: Table, seat: int, unseen: CountMasks, row: U8) -> None:
    """Fill the look-ahead planes of the hand of ``seat`` as it is; ``unseen``: the tiles that ``seat`` cannot see."""
    _fill(lookup, t, seat, NO_CLAIM, unseen, np.empty(1, SEARCH), row)


@jit
def fill_claim_lookahead(lookup: Lookup, t: Table, seat: int, action: int, unseen: CountMasks, row: U8) -> None:
    """Fill the look-ahead planes of the hand of ``seat`` after the claim or kan ``action``."""
    _fill(lookup, t, seat, action, unseen, np.empty(1, SEARCH), row)


@jit
def _fill(
    lookup: Lookup, t: Table, seat: int, action: int, unseen: CountMasks, searches: Records, row: U8
) -> None:  # fmt: skip
    """Fill either. ``searches`` (1,) is scratch, and an argument: a record of it would not keep an own array alive."""
    ways = np.zeros((3, MAX_CHANGED, MAX_COLUMNS), np.int64)
    if not find_ways(lookup, t, seat, action, unseen, searches, ways):
        return
    search = searches[0]
    kinds = np.zeros(MAX_COLUMNS, np.int64)
    _fill_column_kinds(search, kinds)
    if action == NO_CLAIM:
        _fill_reach(search, DRAWN, kinds, row, _DRAWN)
        _fill_reach(search, CALLED, kinds, row, _CALLED)
        _fill_chances(search, ways[0], kinds, CHANCE_BORDERS, row, _CHANCE)
        _fill_chances(search, ways[1], kinds, FEW_CHANCE_BORDERS, row, _HIGH_CHANCE)
        _fill_chances(search, ways[2], kinds, FEW_CHANCE_BORDERS, row, _CALLED_CHANCE)
    else:
        _fill_reach(search, DRAWN, kinds, row, _CLAIM_DRAWN)
        _fill_chances(search, ways[0], kinds, CHANCE_BORDERS, row, _CLAIM_CHANCE)
        _fill_chances(search, ways[1], kinds, CLAIM_HIGH_CHANCE_BORDERS, row, _CLAIM_HIGH_CHANCE)


@jit
def find_ways(
    lookup: Lookup, t: Table, seat: int, action: int, unseen: CountMasks, searches: Records, ways: I64
) -> bool:  # fmt: skip
    """Search the wins of a hand, into ``searches`` (SEARCH (1,)); return whether any are in reach.

    ``ways``, int64 (3, MAX_CHANGED, MAX_COLUMNS), 0 before: by any, high, called, missing tiles - 1 and column, in how
    many ways the missing tiles of a win can be drawn.
    """
    search = searches[0]
    fill_hand_summary(t, seat, action, unseen, search)
    if not search_wins(lookup, search):
        return False
    _add_ways(search, ways)
    return True


@jit
def _fill_column_kinds(search: Search, kinds: I64) -> None:
    """Fill the kinds of each column as bit sets."""
    for kind in range(34):
        if search.hand[kind] > 0:
            kinds[search.columns[kind]] = 1 << kind
    if not search.has_discard:
        kinds[0] = ALL_KINDS


@jit
def _fill_reach(search: Search, family: int, column_kinds: I64, row: U8, plane: int) -> None:
    """Fill the planes of all numbers of new tiles x levels; each includes fewer tiles and higher levels."""
    reached = np.zeros(NUM_LEVELS + 1, np.int64)
    for i in range(MAX_CHANGED):
        higher = kinds = columns = 0
        for level in range(NUM_LEVELS, 0, -1):
            higher |= search.reached[family, i, level]
            reached[level] |= higher
            if reached[level] != columns:
                columns = reached[level]
                kinds = _spread(columns, column_kinds)
            if kinds:
                set_kinds(row, plane + NUM_LEVELS * i + level - 1, kinds)


@jit
def _spread(columns: int, column_kinds: I64) -> int:
    """Return the kinds of a bit set of columns."""
    kinds = 0
    for column in range(MAX_COLUMNS):
        kinds |= column_kinds[column] * (columns >> column & 1)
    return kinds


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
    for i in range(MAX_CHANGED):
        for j in range(len(borders[i])):
            kinds = 0
            for column in range(MAX_COLUMNS):
                if ways[i, column] * 10_000 >= borders[i][j] * draws[i] > 0:
                    kinds |= column_kinds[column]
            if kinds:
                set_kinds(row, plane + len(borders[i]) * i + j, kinds)
