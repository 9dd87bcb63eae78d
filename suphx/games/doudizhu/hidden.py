"""Hands of the other seats as one seat may imagine them: drawn from all deals that fit with what it has seen.

A seat knows its own cards, the three bottom cards, which the landlord got, all cards that were played and by whom, and
how many cards each seat has. Each deal of the 54 cards that fits is equally likely; what the moves say about the cards
that were kept is not considered. Suits do not matter, so a deal is how many cards of each rank one of the other seats
was dealt: of u unknown cards of a rank there are C(u, k) ways to give it k. The sum over ranks is fixed, and so a
table over ranks and sums draws exactly, without rejection.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from suphx.games.doudizhu.cards import DECK, NUM_RANKS, counts_of, pack_counts
from suphx.games.doudizhu.table import LANDLORD, NUM_SEATS
from suphx.kernel.record import I64

_HAND_CARDS = 17  # of a seat, apart from the bottom cards


def sample_hands(table: np.void, seat: int, count: int, rng: np.random.Generator) -> I64:
    """Return int64 [count, 3]: packed hands of all seats now, ``seat``'s as they are, the others drawn.

    ``table`` is a TABLE record of a game. ValueError for a seat that there is not, and for no draws.
    """
    if not 0 <= seat < NUM_SEATS or count < 1:
        raise ValueError(f"seat is {seat}, count {count}: use a seat from 0 to 2, and draw at least once")
    first, second = (other for other in range(NUM_SEATS) if other != seat)
    played = counts_of(table["played"]).astype(np.int64)
    bottom = counts_of(np.array([table["bottom"]])).astype(np.int64)[0]
    known = np.zeros((NUM_SEATS, NUM_RANKS), np.int64)  # of each seat's deal
    known[LANDLORD] = bottom
    own = counts_of(table["hands"][[seat]]).astype(np.int64)[0] + played[seat]
    deck = counts_of(np.array([DECK])).astype(np.int64)[0]
    unknown = deck - own - (0 if seat == LANDLORD else bottom)
    # The first seat's part of the unknown cards: it has played no more than it was dealt, and nor has the second.
    least = np.maximum(played[first] - known[first], 0)
    most = np.minimum(unknown - np.maximum(played[second] - known[second], 0), unknown)
    part = _draw(unknown, least, most, count, rng)
    hands = np.empty((count, NUM_SEATS), np.int64)
    hands[:, seat] = table["hands"][seat]
    hands[:, first] = pack_counts(known[first] + part - played[first])
    hands[:, second] = pack_counts(known[second] + unknown - part - played[second])
    return hands


def _draw(unknown: I64, least: I64, most: I64, count: int, rng: np.random.Generator) -> I64:
    """Return int64 [count, 15]: the cards of each rank that a seat got, 17 in all, between ``least`` and ``most``."""
    ways = _count_ways(unknown, least, most)
    part = np.zeros((count, NUM_RANKS), np.int64)
    left = np.full(count, _HAND_CARDS)
    for rank in range(NUM_RANKS):
        choices = np.arange(least[rank], most[rank] + 1)
        rest = left[:, None] - choices
        weights = np.where(rest >= 0, ways[rank + 1][np.maximum(rest, 0)], 0.0)
        weights *= [comb(int(unknown[rank]), int(number)) for number in choices]
        steps = np.cumsum(weights, axis=1)
        chosen = (rng.random(count)[:, None] * steps[:, -1:] >= steps).sum(axis=1)
        part[:, rank] = choices[chosen]
        left = left - part[:, rank]
    return part


def _count_ways(unknown: I64, least: I64, most: I64) -> NDArray[np.float64]:
    """Return float64 [16, 18]: in how many ways the ranks from r on can give a seat s cards; exact below 2**53."""
    ways = np.zeros((NUM_RANKS + 1, _HAND_CARDS + 1))
    ways[NUM_RANKS, 0] = 1
    for rank in reversed(range(NUM_RANKS)):
        for number in range(int(least[rank]), int(most[rank]) + 1):
            shifted = ways[rank + 1][: _HAND_CARDS + 1 - number]
            ways[rank, number:] += comb(int(unknown[rank]), number) * shifted
    return ways
