"""What one suit of a hand can become: every choice of sets and a pair that lacks at most three tiles of it.

A *target* is a suit read as sets (and a pair) in one way. It is near a suit of a hand when at most MAX_CHANGED tiles
are missing and at most as many are given up. For suits of up to TABLE_TILES tiles the near targets stand in a table;
for fuller ones (flushes) they are searched each time. ``expand_suit`` does both.

``Lookup`` is all precomputed tables that encoders read, as one argument that every kernel passes on.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.riichi.features.hand_value import WinLevels, load_win_levels
from suphx.games.riichi.features.paper_layout import MAX_CHANGED
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I32, I64, U16, Records, field, record_dtype
from suphx.kernel.source_closure import load_or_build

TABLE_TILES = 9

# A target as a word of 64 bits. Kinds are counted from 0 within the suit.
#
#   63 62    59 58         50 49       43 42       36 35    32           7    4 3      0
#   +-+--------+-------------+-----------+-----------+--------+-- ... --+------+--------+
#   |0| pair   | triplets    | doubles   | runs      | count  |         |count | count  |
#   | | kind+1 | bit = kind  | bit = lowest tile     | kind 8 |         |kind 1| kind 0 |
#   | | or 0   |             | of a run  |           |        |         |      |        |
#   +-+--------+-------------+-----------+-----------+--------+-- ... --+------+--------+
#
# Doubles are runs that stand there twice or more; their bit of runs is set, too.
RUNS_SHIFT, DOUBLES_SHIFT, SETS_SHIFT, PAIR_SHIFT = 36, 43, 50, 59
RUNS_MASK, SETS_MASK, PAIR_MASK = 0x7F, 0x1FF, 0xF

# A group of targets: what those that are joined with other suits have in common.
#
#   5      3   2   1        0
#   +-------+------+---------+
#   | sets  | pair | missing |
#   | 0..4  | 0, 1 | tiles   |
#   +-------+------+---------+
NUM_GROUPS = 5 * 2 * 4
GROUP_PAIR, GROUP_SET = 4, 8

MAX_STATES = 2048  # no suit of up to 14 tiles has more than 1,755 states of the search, or targets

_NUM_SUIT_CODES, _NUM_HONOUR_CODES = 42_185, 9_130  # with up to TABLE_TILES tiles
_NUM_NEAR = 6_452_462
_NUM_WORDS = 8_795

# The state of a search beside its word.
#
#   13     8 7      6 5           3 2           0
#   +-------+--------+-------------+-------------+
#   | group | given  | runs begun  | runs begun  |
#   | so far| up     | 2 kinds ago | 1 kind ago  |
#   +-------+--------+-------------+-------------+
_BEFORE_SHIFT, _GIVEN_SHIFT, _GROUP_SHIFT = 3, 6, 8


class SuitTargets:
    """All near targets of all codes in one record, so that kernels hand on a single pointer.

    Codes are ranked among those with up to TABLE_TILES tiles, counts of low kinds first; honours after the suits.
    """

    words: I64 = field("i8", _NUM_WORDS)
    """Every target once."""
    ranks: I32 = field("i4", 9, TABLE_TILES + 1, 5)
    """By position (of honours from 2 on), tiles left and count: how many codes have a smaller count there."""
    first: I32 = field("i4", _NUM_SUIT_CODES + _NUM_HONOUR_CODES)
    """By rank: where its targets begin in ``near``."""
    ends: U16 = field("u2", _NUM_SUIT_CODES + _NUM_HONOUR_CODES, NUM_GROUPS)
    """By rank and group: where the group ends, counted from ``first``."""
    near: U16 = field("u2", _NUM_NEAR)
    """Indices into ``words``, sorted by rank and group."""


SUIT_TARGETS = record_dtype(SuitTargets)


@cache
def load_suit_targets() -> SuitTargets:
    """Return the tables (17 MB), read-only; built once (seconds) and mapped from the cache folder afterwards."""
    stored: Records = load_or_build("suit_targets", Path(__file__), build_suit_targets)
    return cast(SuitTargets, stored.view(np.dtype((np.record, SUIT_TARGETS)))[0])


def build_suit_targets() -> Records:
    """Compute the tables, SUIT_TARGETS (1,)."""
    tables: Records = np.zeros(1, SUIT_TARGETS)
    table = tables[0]
    codes = np.ones((10, TABLE_TILES + 1), np.int32)  # by number of kinds and most tiles
    for num_kinds in range(1, 10):
        for tiles in range(TABLE_TILES + 1):
            counts = [int(codes[num_kinds - 1, tiles - count]) for count in range(min(4, tiles) + 1)]
            codes[num_kinds, tiles] = sum(counts)
            table["ranks"][9 - num_kinds, tiles, 1 : len(counts)] = np.cumsum(counts)[:-1]
    states = np.empty((2, MAX_STATES, 2), np.int64)
    found = np.empty(_NUM_NEAR, np.int64)
    _list_all(states, table["first"], table["ends"], found)
    table["words"], table["near"] = np.unique(found, return_inverse=True)
    return tables


@jit
def _list_all(states: I64, first: I32, ends: U16, found: I64) -> int:
    """Search the targets of every code in the order of their ranks; return how many there are."""
    counts = np.zeros(9, np.int8)
    rank = end = 0
    for num_kinds in (9, 7):
        counts[:] = 0
        is_next = True
        while is_next:
            first[rank] = end
            num_targets = expand_suit(counts[:num_kinds], np.full(NUM_GROUPS // 4, MAX_CHANGED), states)
            for group in range(NUM_GROUPS):
                for i in range(num_targets):
                    if states[0, i, 1] == group:
                        if end < len(found):
                            found[end] = states[0, i, 0]
                        end += 1
                ends[rank, group] = end - first[rank]
            rank += 1
            is_next = _next_counts(counts[:num_kinds])
    return end


@jit
def _next_counts(counts: I8) -> bool:
    """Go to the next counts in the order of ranks; False after the last."""
    tiles = 0
    for kind in range(len(counts)):
        tiles += counts[kind]
    for kind in range(len(counts) - 1, -1, -1):
        if counts[kind] < 4 and tiles < TABLE_TILES:
            counts[kind] += 1
            return True
        tiles -= counts[kind]
        counts[kind] = 0
    return False


@jit
def rank_suit(targets: SuitTargets, hand: I8, suit: int) -> int:
    """Return the rank of suit 0-2, or of the honours (3), of a hand, int8 (34,): up to TABLE_TILES tiles of it."""
    rank = _NUM_SUIT_CODES if suit == 3 else 0
    tiles = TABLE_TILES
    for position in range(2 if suit == 3 else 0, 9):
        count = hand[27 + position - 2 if suit == 3 else 9 * suit + position]
        rank += targets.ranks[position, tiles, count]
        tiles -= count
    return rank


@jit
def expand_suit(counts: I8, limits: I64, states: I64) -> int:
    """Write (word, group) of every near target of a suit to ``states[0]``; return how many there are.

    ``counts``: int8 (9,), or (7,) for honours; ``limits``: int64 (10,), how many tiles may be missing by number of sets
    and pair (2 * sets + has a pair; negative: none); ``states``: int64 (2, MAX_STATES, 2), scratch.
    """
    states[0, 0] = 0
    num_states = 1
    now = 0
    for kind in range(len(counts)):
        num_states = _extend(counts, kind, limits.max(), states[now], num_states, states[1 - now])
        now = 1 - now
    found = 0
    for i in range(num_states):
        word, group = states[now, i, 0], states[now, i, 1] >> _GROUP_SHIFT
        if group & 3 <= limits[group >> 2]:
            states[0, found, 0] = word
            states[0, found, 1] = group
            found += 1
    return found


@jit
def _extend(counts: I8, kind: int, limit: int, states: I64, num_states: int, after: I64) -> int:
    """Choose in every state what begins at one kind: runs, a triplet or the pair; return the number of new states."""
    n = 0
    for i in range(num_states):
        state = states[i, 1]
        last, before = state & 7, state >> _BEFORE_SHIFT & 7
        group = state >> _GROUP_SHIFT
        for count in range(last + before, 5):
            missing = (group & 3) + max(0, count - counts[kind])
            given = (state >> _GIVEN_SHIFT & 3) + max(0, counts[kind] - count)
            if missing > limit:
                break
            if given > MAX_CHANGED:
                continue
            for alike in (0, 2, 3):  # the pair, or a triplet; runs are the rest
                runs = count - last - before - alike
                begun = (group & ~3) + missing + GROUP_SET * (runs + (alike == 3))
                if runs < 0 or begun >= NUM_GROUPS or (alike == 2 and group & GROUP_PAIR):
                    continue
                if alike == 2:
                    begun += GROUP_PAIR
                if _can_finish(counts, kind, runs, last, limit - missing):
                    after[n, 0] = states[i, 0] | _word_part(kind, count, runs, alike)
                    after[n, 1] = runs | last << _BEFORE_SHIFT | given << _GIVEN_SHIFT | begun << _GROUP_SHIFT
                    n += 1
    return n


@jit
def _can_finish(counts: I8, kind: int, runs: int, last: int, limit: int) -> bool:
    """Tell whether the runs begun at ``kind`` and at the one before lack no more than ``limit`` tiles further on."""
    if runs > 0 and (len(counts) < 9 or kind > 6):
        return False
    if runs + last == 0:
        return True
    lacking = max(0, runs + last - counts[kind + 1])
    if runs > 0:
        lacking += max(0, runs - counts[kind + 2])
    return lacking <= limit


@jit
def _word_part(kind: int, count: int, runs: int, alike: int) -> int:
    """Return what one kind adds to the word of a target."""
    word = count << 4 * kind
    if runs > 0:
        word |= 1 << (RUNS_SHIFT + kind)
    if runs > 1:
        word |= 1 << (DOUBLES_SHIFT + kind)
    if alike == 3:
        word |= 1 << (SETS_SHIFT + kind)
    elif alike == 2:
        word |= (kind + 1) << PAIR_SHIFT
    return word


class Lookup(NamedTuple):
    """Read-only tables; one value serves all threads.

    >>> encode_observation(encoder.id, load_lookup(), table, seat, DISCARD_HEAD, -1, row)
    """

    suits: Suits
    suit_targets: SuitTargets
    win_levels: WinLevels


def load_lookup() -> Lookup:
    """Return the tables, mapped from the cache folder; computed when they are not there (seconds)."""
    return Lookup(load_suits(), load_suit_targets(), load_win_levels())
