"""How good a hand is: the plays that it takes to be rid of it, and how strong these are.

A hand is split into bombs, trios, chains, pairs and solos in six orders, because a card has several uses; the best
split counts. Each play costs a turn, and high plays win turns back.
"""

from __future__ import annotations

from suphx.games.doudizhu.cards.card import ACE, BLACK_JOKER, NUM_RANKS, RED_JOKER, TWO, count_rank
from suphx.kernel.jit import jit
from suphx.kernel.record import I64

TURN_COST = 7
_MIDDLE_RANK = 7  # a ten: lower plays are beaten more often than they win a turn
_BOMB_VALUE, _ROCKET_VALUE = 9, 16
_ORDERS = 6


@jit
def hand_value(cards: int, counts: I64) -> int:
    """Return how good packed ``cards`` are, higher is better, 0 for none; ``counts`` (15,) is scratch."""
    best = -(1 << 30)
    for order in range(_ORDERS):
        for rank in range(NUM_RANKS):
            counts[rank] = count_rank(cards, rank)
        best = max(best, _split(counts, order))
    return best if cards else 0


@jit
def _split(counts: I64, order: int) -> int:
    """Return the value of the hand in one way to split it; empties ``counts``."""
    value = _take_bombs(counts)
    if order % 3 == 0:
        value, trios = _take_trios(counts, value)
        value = _take_chains(counts, order // 3, value)
    elif order % 3 == 1:
        value = _take_chains(counts, order // 3, value)
        value, trios = _take_trios(counts, value)
    else:
        value = _take_runs(counts, 1 + order // 3, value)
        value, trios = _take_trios(counts, value)
        value = _take_chains(counts, 0, value)
    return value + _rest_value(counts, trios)


@jit
def _take_bombs(counts: I64) -> int:
    value = 0
    if counts[BLACK_JOKER] and counts[RED_JOKER]:
        counts[BLACK_JOKER] = counts[RED_JOKER] = 0
        value += _ROCKET_VALUE - TURN_COST
    for rank in range(TWO + 1):
        if counts[rank] == 4:
            counts[rank] = 0
            value += _BOMB_VALUE + rank // 2 - TURN_COST
    return value


@jit
def _take_chains(counts: I64, pairs_first: int, value: int) -> int:
    value = _take_runs(counts, 2 if pairs_first else 1, value)
    return _take_runs(counts, 1 if pairs_first else 2, value)


@jit
def _take_runs(counts: I64, size: int, value: int) -> int:
    """Take chains of solos (size 1) or pairs (2), as long as possible each."""
    least = 5 if size == 1 else 3
    first = 0
    while first <= ACE:
        last = first
        while last <= ACE and counts[last] >= size:
            last += 1
        if last - first >= least:
            for rank in range(first, last):
                counts[rank] -= size
            value += max(0, last - 1 - _MIDDLE_RANK) + 1 - TURN_COST
        else:
            first = last + (last == first)
    return value


@jit
def _take_trios(counts: I64, value: int) -> tuple[int, int]:
    """Take all trios, neighbours as one play; return the value and how many there are."""
    trios = 0
    high = -1
    for rank in range(TWO + 1):
        if counts[rank] >= 3:
            is_longer = high == rank - 1 and rank <= ACE and trios > 0
            counts[rank] -= 3
            trios += 1
            high = rank
            value += (rank - _MIDDLE_RANK + 2) if not is_longer else 1
            value -= 0 if is_longer else TURN_COST
    return value, trios


@jit
def _rest_value(counts: I64, trios: int) -> int:
    """Value pairs and solos; each trio takes along the lowest of them."""
    value = 0
    for rank in range(NUM_RANKS):
        if counts[rank] > 0:
            if trios > 0 and rank < TWO:
                trios -= 1
            else:
                value += rank - _MIDDLE_RANK - TURN_COST
            counts[rank] = 0
    return value
