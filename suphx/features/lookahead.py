"""Look-ahead planes: which hands a discard leads to with up to three new tiles, and how likely they are.

Source: the paper's look-ahead features, "the probability and round score of winning a hand if we discard a specific
tile from the current hand tiles and then draw tiles from the wall to replace some other hand tiles". The paper names
neither the planes nor the scoring; what follows is ours.

A *way to win* with k new tiles from a hand of 14: give up k tiles and take k missing ones that the seat has not seen,
so that the hand is complete and has a yaku. It counts for each kind that it gives up: one goes now, the others later.
Opponents are ignored. A hand of 13 tiles (another seat's turn, a kan) takes k tiles and gives up k - 1; its ways count
for all columns. Two kinds of ways (points: hand_value.py): *drawn* is tsumo, after riichi if the hand is closed;
*called* is ron without riichi, after at least one chi or pon if a closed hand lacks more than one tile.
Of two fives the plain one is given up first, and a five that comes is a plain one.

Reach: the kinds of all ways with up to k new tiles that are worth the points or more. Chance of a kind: of all sets of
k unseen tiles the share of those that are the new tiles of one of its ways.
"""

from __future__ import annotations

import numpy as np

from suphx.features.holding import NO_CLAIM, Concealed, conceal, hold
from suphx.features.lookahead_layout import CHANCE_BORDERS, CLAIM_HIGH_CHANCE_BORDERS, FEW_CHANCE_BORDERS, NUM_LEVELS
from suphx.features.lookup import Lookup
from suphx.features.paper_layout import CLAIM, PUBLIC
from suphx.features.planes import ALL_KINDS, CountMasks, set_kinds
from suphx.features.suit_targets import MAX_CHANGED
from suphx.features.win_search import (
    ANY_SHIFT,
    CALLED,
    CALLED_SHIFT,
    DRAWN,
    HIGH_SHIFT,
    MAX_COLUMNS,
    NUM_DRAWS,
    NUM_FAMILIES,
    WAYS_SHIFT,
    Found,
    search_wins,
)
from suphx.riichi.jit import jit
from suphx.riichi.record import I64, U8
from suphx.riichi.table import Table

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
    concealed = conceal(t, seat, NO_CLAIM, unseen)
    found = new_found()
    if not search_wins(lookup, concealed, hold(t, seat, NO_CLAIM), found):
        return
    kinds = _column_kinds(concealed)
    _fill_reach(found, DRAWN, kinds, row, _DRAWN)
    _fill_reach(found, CALLED, kinds, row, _CALLED)
    _fill_chances(found, ANY_SHIFT, concealed, kinds, CHANCE_BORDERS, row, _CHANCE)
    _fill_chances(found, HIGH_SHIFT, concealed, kinds, FEW_CHANCE_BORDERS, row, _HIGH_CHANCE)
    _fill_chances(found, CALLED_SHIFT, concealed, kinds, FEW_CHANCE_BORDERS, row, _CALLED_CHANCE)


@jit
def fill_claim_lookahead(lookup: Lookup, t: Table, seat: int, action: int, unseen: CountMasks, row: U8) -> None:
    """Fill the look-ahead planes of the hand of ``seat`` after the claim or kan ``action``."""
    concealed = conceal(t, seat, action, unseen)
    found = new_found()
    if not search_wins(lookup, concealed, hold(t, seat, action), found):
        return
    kinds = _column_kinds(concealed)
    _fill_reach(found, DRAWN, kinds, row, _CLAIM_DRAWN)
    _fill_chances(found, ANY_SHIFT, concealed, kinds, CHANCE_BORDERS, row, _CLAIM_CHANCE)
    _fill_chances(found, HIGH_SHIFT, concealed, kinds, CLAIM_HIGH_CHANCE_BORDERS, row, _CLAIM_HIGH_CHANCE)


@jit
def new_found() -> Found:
    """Return the empty result of a search."""
    return Found(
        np.zeros((NUM_FAMILIES, MAX_CHANGED, NUM_LEVELS + 1), np.int64),
        np.zeros(NUM_DRAWS, np.int64),
        np.zeros(1 + NUM_DRAWS, np.int64),
    )


@jit
def _column_kinds(concealed: Concealed) -> I64:
    """Return the kinds of each column as bit sets, int64 (MAX_COLUMNS,)."""
    kinds = np.zeros(MAX_COLUMNS, np.int64)
    for kind in range(34):
        if concealed.hand[kind] > 0:
            kinds[concealed.columns[kind]] = 1 << kind
    if not concealed.has_discard:
        kinds[0] = ALL_KINDS
    return kinds


@jit
def _fill_reach(found: Found, family: int, column_kinds: I64, row: U8, plane: int) -> None:
    """Fill the planes of all numbers of new tiles x levels; each includes fewer tiles and higher levels."""
    reached = np.zeros(NUM_LEVELS + 1, np.int64)
    for i in range(MAX_CHANGED):
        higher = 0
        for level in range(NUM_LEVELS, 0, -1):
            higher |= found.reached[family, i, level]
            reached[level] |= higher
            if reached[level]:
                set_kinds(row, plane + NUM_LEVELS * i + level - 1, _spread(reached[level], column_kinds))


@jit
def _spread(columns: int, column_kinds: I64) -> int:
    """Return the kinds of a bit set of columns."""
    kinds = 0
    for column in range(MAX_COLUMNS):
        if columns >> column & 1:
            kinds |= column_kinds[column]
    return kinds


@jit
def _fill_chances(
    found: Found, shift: int, concealed: Concealed, column_kinds: I64, borders: tuple[tuple[int, ...], ...], row: U8,
    plane: int,
) -> None:  # fmt: skip
    """Fill the planes of the chances of the columns that stand at ``shift`` in the words of the draws."""
    ways = np.zeros((MAX_CHANGED, MAX_COLUMNS), np.int64)
    for i in range(1, found.touched[0] + 1):
        index = found.touched[i]
        word = found.draws[index]
        num_missing = (index >= 34) + (index >= 34 + 595)
        for column in range(MAX_COLUMNS):
            if word >> (shift + column) & 1:
                ways[num_missing, column] += word >> WAYS_SHIFT
    total = int(concealed.unseen.sum())
    all_ways = (total, total * (total - 1) // 2, total * (total - 1) * (total - 2) // 6)
    for i in range(MAX_CHANGED):
        for j in range(len(borders[i])):
            kinds = 0
            for column in range(MAX_COLUMNS):
                if ways[i, column] * 10_000 >= borders[i][j] * all_ways[i] > 0:
                    kinds |= column_kinds[column]
            if kinds:
                set_kinds(row, plane + len(borders[i]) * i + j, kinds)
