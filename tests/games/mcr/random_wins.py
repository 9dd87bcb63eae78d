"""Random winning hands of MCR, with many special forms, melds, kongs and circumstances that can occur together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from random import Random

import numpy as np

from suphx.games.mahjong.tile import (
    ANKAN_MELD,
    CHI_MELD,
    KAKAN_MELD,
    MINKAN_MELD,
    PON_MELD,
    TERMINALS_AND_HONOURS,
)
from suphx.games.mcr.fans import KONG, LAST_OF_KIND, LAST_TILE, SELF_DRAWN
from suphx.kernel.record import I8

KONG_MELDS = (ANKAN_MELD, MINKAN_MELD, KAKAN_MELD)
GREEN = (19, 20, 21, 23, 25, 32)


@dataclass(frozen=True)
class Win:
    concealed: tuple[int, ...]
    """Kinds, the winning tile included."""
    win_kind: int
    melds: tuple[tuple[int, int], ...] = ()
    """(type, lowest kind)"""
    circumstances: int = 0
    round_wind: int = 0
    seat_wind: int = 0

    @property
    def counts(self) -> I8:
        return np.bincount(self.concealed, minlength=34).astype(np.int8)

    def meld_arrays(self) -> tuple[I8, I8]:
        rows = np.zeros((2, 4), np.int8)
        for i, meld in enumerate(self.melds):
            rows[:, i] = meld
        return rows[0], rows[1]


def random_win(rng: Random) -> Win:
    """Return a random winning hand."""
    while True:
        groups = _random_groups(rng)
        counts = Counter(kind for group in groups for kind in group)
        if max(counts.values()) <= 4:
            break
    share = rng.choice((0.0, 0.0, 0.3, 0.6, 1.0))
    kong_share = rng.choice((0.0, 0.2, 0.9))
    melds, concealed = [], []
    for group in groups:
        is_set = len(group) == 3
        is_pung = is_set and group[0] == group[2]
        is_open = is_set and rng.random() < share
        if is_pung and counts[group[0]] == 3 and rng.random() < kong_share:
            counts[group[0]] = 4
            melds.append((rng.choice((MINKAN_MELD, KAKAN_MELD)) if is_open else ANKAN_MELD, group[0]))
        elif is_open:
            melds.append((PON_MELD if is_pung else CHI_MELD, group[0]))
        else:
            concealed += group
    rng.shuffle(melds)
    win_kind = rng.choice(concealed)
    return Win(
        concealed=tuple(sorted(concealed)),
        win_kind=win_kind,
        melds=tuple(melds),
        circumstances=_random_circumstances(rng, melds, concealed.count(win_kind), counts[win_kind], win_kind),
        round_wind=rng.randrange(4),
        seat_wind=rng.randrange(4),
    )


def _random_groups(rng: Random) -> list[list[int]]:
    """Return sets and a pair, or the single group of a special hand."""
    style = rng.random()
    first = 9 * rng.randrange(3)
    if style < 0.06:
        pool = _random_pool(rng)
        if style < 0.02:
            low = first + rng.randrange(3)
            pool = list(range(low, low + 7))
        return [2 * (rng.sample(pool, 7) if rng.random() < 0.7 and len(pool) >= 7 else rng.choices(pool, k=7))]
    if style < 0.07:
        return [[*TERMINALS_AND_HONOURS, rng.choice(TERMINALS_AND_HONOURS)]]
    if style < 0.09:
        return [[first + rank for rank in (0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, rng.randrange(9))]]
    knitted = [
        9 * suit + rank
        for suit, low in enumerate(rng.choice(list(permutations(range(3)))))
        for rank in range(low, 9, 3)
    ]
    if style < 0.13:
        num_honours = rng.choice((5, 6, 7, 7))
        return [rng.sample(range(27, 34), num_honours) + rng.sample(knitted, 14 - num_honours)]
    if style < 0.22:
        pool = _random_pool(rng)
        return [knitted, _random_set(pool, 0.6, rng), [rng.choice(pool)] * 2]
    if style < 0.24:
        return _terminal_chows(rng)
    pool = _random_pool(rng)
    chow_share = rng.choice((0.0, 0.3, 0.7, 0.9, 1.0))
    sets: list[list[int]] = []
    for _ in range(4):
        if sets and rng.random() < 0.4:
            sets.append(_related_set(rng.choice(sets), rng))
        else:
            sets.append(_random_set(pool, chow_share, rng))
    return [*sets, [rng.choice(pool)] * 2]


def _terminal_chows(rng: Random) -> list[list[int]]:
    a, b, c = rng.choice([(0, 9, 18), (9, 18, 0), (18, 0, 9), (0, 0, 0), (9, 9, 9)])
    return [[first + low + i for i in range(3)] for first in (a, b) for low in (0, 6)] + [[c + 4] * 2]


def _random_set(pool: list[int], chow_share: float, rng: Random) -> list[int]:
    lows = [kind for kind in pool if kind < 27 and kind % 9 < 7 and kind + 1 in pool and kind + 2 in pool]
    if lows and rng.random() < chow_share:
        low = rng.choice(lows)
        return [low, low + 1, low + 2]
    return [rng.choice(pool)] * 3


def _related_set(group: list[int], rng: Random) -> list[int]:
    """Return a set of the same form in another suit or some ranks away; the next kind among honours."""
    low, width = group[0], group[-1] - group[0]
    if low >= 27:
        return [27 + (low - 26) % 7] * 3
    rank = low % 9 + rng.choice((-3, -2, -1, 0, 0, 1, 2, 3, 6))
    rank = rank if 0 <= rank <= 8 - width else low % 9
    low = 9 * (low // 9 if rng.random() < 0.4 else rng.randrange(3)) + rank
    return [low, low + width // 2, low + width]


def _random_pool(rng: Random) -> list[int]:
    """Return the kinds to choose from: all, one suit, honours, terminals, green …"""
    first = 9 * rng.randrange(3)
    every_suit = range(27)
    pools: list[tuple[float, list[int]]] = [
        (0.30, list(range(34))),
        (0.12, [kind for kind in every_suit if 0 < kind % 9 < 8]),
        (0.12, list(range(first, first + 9))),
        (0.08, [*range(first, first + 9), *range(27, 34)]),
        (0.05, list(TERMINALS_AND_HONOURS)),
        (0.05, [0, 8, 9, 17, 18, 26]),
        (0.05, [*range(27, 34), first]),
        (0.03, list(range(27, 34))),
        (0.04, list(GREEN)),
        (0.02, [19, 20, 21, 23, 25]),
        (0.03, [9, 10, 11, 12, 13, 16, 17, 19, 21, 22, 23, 25, 26, 31]),
        (0.03, [kind for kind in every_suit if kind % 9 in (1, 3, 5, 7)]),
        (0.03, [kind for kind in every_suit if kind % 9 >= 5]),
        (0.03, [kind for kind in every_suit if kind % 9 < 4]),
        (0.02, [kind for kind in every_suit if kind % 9 >= 6]),
        (0.02, [kind for kind in every_suit if kind % 9 < 3]),
        (0.02, [kind for kind in every_suit if 3 <= kind % 9 < 6]),
        (0.02, [kind for kind in every_suit if 2 <= kind % 9 < 7]),
        (0.04, [kind for kind in every_suit if kind % 9 in (0, 1, 2, 6, 7, 8)]),
    ]
    return rng.choices([pool for _, pool in pools], [weight for weight, _ in pools])[0]


def _random_circumstances(
    rng: Random, melds: list[tuple[int, int]], concealed: int, in_hand: int, win_kind: int
) -> int:
    """Return circumstances that contradict neither each other nor the hand.

    ``concealed``: how many tiles of the winning kind are concealed, ``in_hand``: in the whole hand.
    """
    bits = SELF_DRAWN if rng.random() < 0.5 else 0
    has_kong = any(meld in KONG_MELDS for meld, _ in melds)
    if (has_kong if bits else in_hand == 1) and rng.random() < 0.2:
        bits |= KONG
    if rng.random() < 0.1:
        bits |= LAST_TILE
    if concealed == 1 and (in_hand == 4 or rng.random() < 0.15):
        bits |= LAST_OF_KIND
    return bits
