"""Shanten, waits and ukeire of riichi, seven pairs and thirteen orphans included; for closed hands these count, too.

Kernels take a hand int8 (34,) beside ``num_melds`` melds (mahjong/shanten.py). The functions for many hands in one call
are the checked Python edge:

>>> hand = np.bincount(parse_kinds("123456789m1122p"), minlength=34)
>>> count_shanten([hand])
array([0], dtype=int8)
>>> np.flatnonzero(find_waits([hand])[0])  # 1p and 2p
array([ 9, 10])

Hands are integers (n, 34), concealed tiles by kind, beside ``num_melds`` melds: one number for all, or (n,). All
functions raise ValueError for hands that cannot be, and tell which one. The kernels release the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suphx.games.mahjong.planes import ALL_KINDS, CountMasks, count_masks
from suphx.games.mahjong.shanten import (
    CLASS_MASK,
    END_PAIRS_MASK,
    END_PAIRS_SHIFT,
    KINDS_MASK,
    PAIRS_MASK,
    PAIRS_SHIFT,
    Suits,
    count_kinds,
    improving_of_suit,
    load_suits,
    merge_rows,
    rows_shanten,
    special_counts,
    suit_rows,
    thirteen_orphans_shanten,
)
from suphx.games.mahjong.tile import NUM_KINDS, TERMINAL_AND_HONOUR_BITS
from suphx.games.riichi.tile import face_name
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64


@jit
def seven_pairs_shanten(counts: int) -> int:
    """Return the shanten to seven different pairs; ``counts``: see ``special_counts``."""
    return 6 - (counts >> PAIRS_SHIFT & PAIRS_MASK) + max(0, 7 - (counts & KINDS_MASK))


@jit
def shanten(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the least shanten over all forms of a hand (of 13 or 14 tiles, melds counted as three)."""
    rows = suit_rows(suits, hand)
    best = rows_shanten(suits, rows, num_melds)
    if num_melds == 0:
        counts = special_counts(rows)
        return min(best, seven_pairs_shanten(counts), thirteen_orphans_shanten(counts))
    return best


@jit
def improving_kinds(suits: Suits, hand: I8, num_melds: int, now: int) -> int:
    """Return the bit set of kinds that lower the shanten of a 13-tile hand from ``now`` (fifth tiles excluded)."""
    rows = suit_rows(suits, hand)
    m, p, s, z = rows
    left = merge_rows(suits, m, p)
    right = merge_rows(suits, s, z)
    kinds = improving_of_suit(suits, hand, 0, suits.merged[right, p & CLASS_MASK], num_melds, now)
    kinds |= improving_of_suit(suits, hand, 1, suits.merged[right, m & CLASS_MASK], num_melds, now)
    kinds |= improving_of_suit(suits, hand, 2, suits.merged[left, z & CLASS_MASK], num_melds, now)
    kinds |= improving_of_suit(suits, hand, 3, suits.merged[left, s & CLASS_MASK], num_melds, now)
    if num_melds == 0:
        kinds |= improving_special(count_masks(hand), special_counts(rows), now)
    return kinds


@jit
def improving_special(masks: CountMasks, counts: int, now: int) -> int:
    """Return the bit set of kinds that bring seven pairs or thirteen orphans below ``now``.

    ``masks``: the counts of a hand (planes.py); ``counts``: of the same hand, see ``special_counts``.
    """
    kinds = 0
    if seven_pairs_shanten(counts) <= now:
        kinds |= masks[0] & ~masks[1]
        if counts & KINDS_MASK < 7:
            kinds |= ALL_KINDS & ~masks[0]
    if thirteen_orphans_shanten(counts) <= now:
        kinds |= TERMINAL_AND_HONOUR_BITS & ~masks[0]
        if counts >> END_PAIRS_SHIFT & END_PAIRS_MASK == 0:
            kinds |= TERMINAL_AND_HONOUR_BITS & masks[0] & ~masks[1]
    return kinds


@jit
def waiting_kinds(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the bit set of kinds that complete a 13-tile hand; 0 when it is not tenpai."""
    if shanten(suits, hand, num_melds) != 0:
        return 0
    return improving_kinds(suits, hand, num_melds, 0)


@jit
def tenpai_discards(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the bit set of kinds whose discard leaves a 14-tile hand tenpai."""
    kinds = 0
    for kind in range(34):
        if hand[kind] > 0:
            hand[kind] -= 1
            if shanten(suits, hand, num_melds) == 0:
                kinds |= 1 << kind
            hand[kind] += 1
    return kinds


NOT_HELD = 127
"""The shanten after the discard of a tile that the hand does not hold."""


class Ukeire(NamedTuple):
    """Of n hands of 13 tiles (melds counted as three)."""

    shanten: I8
    """int8 (n,)."""
    kinds: NDArray[np.bool_]
    """bool (n, 34): the kinds that lower the shanten."""
    tiles: I64
    """int64 (n,): how many unseen tiles those are."""


class DiscardUkeire(NamedTuple):
    """Of n hands of 14 tiles (melds counted as three), after the discard of each kind."""

    shanten: I8
    """int8 (n, 34); NOT_HELD where there is nothing to discard."""
    tiles: I64
    """int64 (n, 34): unseen tiles that lower the shanten further; 0 where there is nothing to discard."""


def count_shanten(hands: ArrayLike, num_melds: ArrayLike = 0) -> I8:
    """Return int8 (n,): the shanten of hands of 13 or 14 tiles."""
    counts, melds = _check(hands, num_melds, (13, 14))
    result = np.empty(len(counts), np.int8)
    _fill_shanten(load_suits(), counts, melds, result)
    return result


def find_waits(hands: ArrayLike, num_melds: ArrayLike = 0) -> NDArray[np.bool_]:
    """Return bool (n, 34): the kinds that complete hands of 13 tiles; none where a hand is not tenpai."""
    found = count_ukeire(hands, num_melds)
    waits: NDArray[np.bool_] = found.kinds & (found.shanten == 0)[:, None]
    return waits


def count_ukeire(hands: ArrayLike, num_melds: ArrayLike = 0, *, unseen: ArrayLike | None = None) -> Ukeire:
    """Return what lowers the shanten of hands of 13 tiles.

    ``unseen``: tiles by kind that may still come, (34,) or (n, 34); by default all that the hand itself does not hold.
    """
    counts, melds = _check(hands, num_melds, (13,))
    left = _check_unseen(counts, unseen)
    n = len(counts)
    result = Ukeire(np.empty(n, np.int8), np.empty((n, NUM_KINDS), np.bool_), np.empty(n, np.int64))
    _fill_ukeire(load_suits(), counts, melds, left, result.shanten, result.kinds, result.tiles)
    return result


def count_discard_ukeire(
    hands: ArrayLike, num_melds: ArrayLike = 0, *, unseen: ArrayLike | None = None
) -> DiscardUkeire:
    """Return shanten and ukeire of hands of 14 tiles after every possible discard; ``unseen`` as in ``count_ukeire``.

    A discarded tile does not come back: by default it is not among the unseen ones.
    """
    counts, melds = _check(hands, num_melds, (14,))
    left = _check_unseen(counts, unseen)
    result = DiscardUkeire(np.empty(counts.shape, np.int8), np.empty(counts.shape, np.int64))
    _fill_discard_ukeire(load_suits(), counts.copy(), melds, left, result.shanten, result.tiles)
    return result


def _check(hands: ArrayLike, num_melds: ArrayLike, sizes: tuple[int, ...]) -> tuple[I8, I8]:
    """Return int8 (n, 34) and (n,); ValueError unless every hand and its melds make one of ``sizes`` tiles."""
    counts = _check_counts(hands, "hands")
    if counts.ndim != 2:
        raise ValueError(f"hands has the shape {counts.shape}: give (n, 34)")
    melds = np.asarray(num_melds)
    if melds.dtype.kind not in "iu" or melds.shape not in ((), (len(counts),)):
        raise ValueError(f"num_melds is {melds.dtype} {melds.shape}: give an integer, or one for each of {len(counts)}")
    if melds.size and not 0 <= melds.min() <= melds.max() <= 4:
        raise ValueError(f"num_melds is {melds.min()} … {melds.max()}: a hand has 0 to 4 melds")
    all_melds = np.ascontiguousarray(np.broadcast_to(melds, len(counts)), np.int8)
    wrong = _first_wrong(counts, all_melds, min(sizes), max(sizes))
    if wrong >= 0:
        allowed = " or ".join(str(size - 3 * int(all_melds[wrong])) for size in sizes)
        raise ValueError(
            f"hand {wrong} has {counts[wrong].sum()} tiles beside {all_melds[wrong]} melds: give {allowed}"
        )
    return counts, all_melds


def _check_counts(numbers: ArrayLike, name: str) -> I8:
    """Return contiguous int8 (…, 34); ValueError for anything but integers 0-4."""
    counts = np.asarray(numbers)
    if counts.dtype.kind not in "iu" or counts.shape[-1:] != (NUM_KINDS,):
        raise ValueError(f"{name} is {counts.dtype} {counts.shape}: give integers (n, 34), tiles by kind")
    if counts.size and not 0 <= counts.min() <= counts.max() <= 4:
        *row, kind = (int(i) for i in np.argwhere((counts < 0) | (counts > 4))[0])
        where = f"{name}[{row[0]}]" if row else name
        raise ValueError(f"{where} has {counts[*row, kind]} of {face_name(kind)}: there are 0 to 4 of a kind")
    return np.ascontiguousarray(counts, np.int8)


def _check_unseen(hands: I8, unseen: ArrayLike | None) -> I8:
    """Return int8 (n, 34)."""
    if unseen is None:
        return 4 - hands
    left = _check_counts(unseen, "unseen")
    if left.shape not in ((NUM_KINDS,), hands.shape):
        raise ValueError(f"unseen has the shape {left.shape}: give (34,) or {hands.shape}")
    return np.ascontiguousarray(np.broadcast_to(left, hands.shape))


@jit
def _first_wrong(hands: I8, num_melds: I8, least: int, most: int) -> int:
    """Return the first hand that has less or more tiles, or -1."""
    for i in range(len(hands)):
        size = 3 * num_melds[i]
        for kind in range(34):
            size += hands[i, kind]
        if size < least or size > most:
            return i
    return -1


@jit
def _fill_shanten(suits: Suits, hands: I8, num_melds: I8, result: I8) -> None:
    for i in range(len(hands)):
        result[i] = shanten(suits, hands[i], num_melds[i])


@jit
def _fill_ukeire(
    suits: Suits, hands: I8, num_melds: I8, unseen: I8, result: I8, kinds: NDArray[np.bool_], tiles: I64
) -> None:
    for i in range(len(hands)):
        now = shanten(suits, hands[i], num_melds[i])
        improving = improving_kinds(suits, hands[i], num_melds[i], now)
        result[i] = now
        for kind in range(34):
            kinds[i, kind] = improving >> kind & 1 != 0
        tiles[i] = count_kinds(improving, unseen[i])


@jit
def _fill_discard_ukeire(suits: Suits, hands: I8, num_melds: I8, unseen: I8, result: I8, tiles: I64) -> None:
    """``hands`` is changed on the way and left as it was."""
    for i in range(len(hands)):
        hand = hands[i]
        for kind in range(34):
            result[i, kind] = NOT_HELD
            tiles[i, kind] = 0
            if hand[kind] > 0:
                hand[kind] -= 1
                now = shanten(suits, hand, num_melds[i])
                result[i, kind] = now
                tiles[i, kind] = count_kinds(improving_kinds(suits, hand, num_melds[i], now), unseen[i])
                hand[kind] += 1
