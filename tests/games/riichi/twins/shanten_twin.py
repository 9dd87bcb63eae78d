"""Shanten by definition, slow: compare a hand with every possible complete hand."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from suphx.kernel.record import I8

TERMINALS = [0, 8, 9, 17, 18, 26, *range(27, 34)]


@functools.cache
def all_targets(num_sets: int) -> I8:
    """Return int8 (n, 34): every way to lay ``num_sets`` sets with at most four tiles of a kind."""
    triplets = [np.eye(34, dtype=np.int8)[kind] * 3 for kind in range(34)]
    runs = [sum(np.eye(34, dtype=np.int8)[9 * suit + i + j] for j in range(3)) for suit in range(3) for i in range(7)]
    chosen = np.array(list(itertools.combinations_with_replacement(range(55), num_sets)), np.int64)
    sets = np.array([*triplets, *runs], np.int8)[chosen.reshape(len(chosen), num_sets)]
    targets: I8 = sets.sum(axis=1, dtype=np.int8)
    return targets[(targets <= 4).all(axis=1)]


def standard(hand: I8, num_melds: int) -> tuple[int, set[int]]:
    """Return the shanten to sets and a pair, and the kinds that some nearest complete hand still lacks."""
    targets = all_targets(4 - num_melds)
    lacking = np.maximum(targets - hand, 0).sum(axis=1)
    near = targets[lacking <= lacking.min() + 2]
    best, kinds = 99, set[int]()
    for pair in range(34):
        whole = near[near[:, pair] <= 2].copy()
        whole[:, pair] += 2
        missing = np.maximum(whole - hand, 0)
        number = missing.sum(axis=1)
        least = int(number.min(initial=99))
        if least < best:
            best, kinds = least, set()
        if least == best:
            kinds |= set(np.flatnonzero(missing[number == least].any(axis=0)).tolist())
    return best - 1, kinds


def seven_pairs(hand: I8) -> int:
    """Return the shanten to seven different pairs."""
    return 13 - int(np.sort(np.minimum(hand, 2))[-7:].sum())


def thirteen_orphans(hand: I8) -> int:
    """Return the shanten to thirteen orphans."""
    ends = hand[TERMINALS]
    return 13 - int((ends > 0).sum()) - int((ends > 1).any())


def shanten_and_improving(hand: I8, num_melds: int) -> tuple[int, set[int]]:
    """Return the shanten of a 13-tile hand and the kinds that lower it."""
    best, kinds = standard(hand, num_melds)
    if num_melds > 0:
        return best, kinds
    for form in (seven_pairs, thirteen_orphans):
        now = form(hand)
        if now < best:
            best, kinds = now, set()
        if now == best:
            for kind in range(34):
                more = hand.copy()
                more[kind] += 1
                if more[kind] <= 4 and form(more) < now:
                    kinds.add(kind)
    return best, kinds
