"""Tenpai hands by trying every set of tiles, and how well draws agree with them: the slow twin of ready_hands.py."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from suphx.games.riichi.shanten import find_waits
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.record import I8, I64

H = TypeVar("H", bound=Hashable)
Kinds = tuple[int, ...]
"""The kinds of a hand in order."""


def ready_sets(tiles: str, num_melds: int) -> I64:
    """Return int64 (n,): every tenpai set of the tiles of a text, as a bit set over their places in it."""
    kinds = parse_kinds(tiles)
    sets = np.array(list(itertools.combinations(range(len(kinds)), 13 - 3 * num_melds)))
    is_ready = find_waits(_count(np.array(kinds)[sets]), num_melds).any(axis=1)
    bits: I64 = (1 << sets[is_ready]).sum(axis=1)
    return bits


def kinds_of(tiles: str, bits: int) -> Kinds:
    """Return the kinds of a set of tiles."""
    return tuple(sorted(kind for i, kind in enumerate(parse_kinds(tiles)) if bits >> i & 1))


def tenpai_hands(tiles: str, num_melds: int) -> Counter[Kinds]:
    """Return how many sets of tiles make each tenpai hand."""
    return Counter(kinds_of(tiles, int(bits)) for bits in ready_sets(tiles, num_melds))


def kinds_held(hand: I8) -> Kinds:
    """Return the kinds of counts (34,)."""
    return tuple(np.repeat(np.arange(34), hand).tolist())


def surprise(draws: Iterable[H], ways: Mapping[H, int]) -> float:
    """Return chi-square in standard deviations from its mean; infinite when something impossible was drawn."""
    seen = Counter(draws)
    if not seen.keys() <= ways.keys():
        return float("inf")
    shares = np.array(list(ways.values())) / sum(ways.values())
    expected = shares * seen.total()
    counts = np.array([seen[hand] for hand in ways])
    chi_square = ((counts - expected) ** 2 / expected).sum()
    freedom = len(ways) - 1
    # The second term is for hands that are hardly ever expected.
    variance = 2 * freedom * (1 - 1 / seen.total()) + ((1 / shares).sum() - len(ways) ** 2) / seen.total()
    return float((chi_square - freedom) / np.sqrt(variance))


def _count(hands: I64) -> I8:
    counts = np.zeros((len(hands), 34), np.int8)
    np.add.at(counts, (np.arange(len(hands))[:, None], hands), 1)
    return counts
