"""Ready hands for several seats out of the same hidden tiles, all ways to deal them equally likely, or nearly so.

Each hand is drawn as if it were alone, and all are kept if no tile is in two of them: exactly uniform, and for one hand
nothing more. Of two hands TWO_FALLBACK and of three THREE_FALLBACK of positions in games of hasty agents do not come
apart in 500 tries. Then hands are drawn one after another, each from what the others left, 16 times, and one of these
deals is taken in proportion to the number of hands that its later seats could choose from: uniform up to the chance
of 16 samples.
"""

from __future__ import annotations

from suphx.riichi.jit import jit
from suphx.riichi.random_number import draw_number
from suphx.riichi.ready_hand import ReadyWeights, choose, count_ready, draw_ready, weigh_ready
from suphx.riichi.ready_table import ReadyTable
from suphx.riichi.record import I8, I64, field, record_dtype
from suphx.riichi.suit_table import Suits

_APART_TRIES = 500
_CANDIDATES = 16
_CANDIDATE_TRIES = 2000
_FINE = 1 << 30


class ReadyDeal(ReadyWeights):
    """What is asked of ``deal_ready``, what it finds, and its scratch; ``np.zeros(1, READY_DEAL)[0]``."""

    left: I64 = field("i8", 34)
    """Hidden tiles by kind."""
    num_melds: I8 = field("i1", 4)
    """By seat; -1 where no ready hand is needed."""
    hand: I8 = field("i1", 4, 34)
    """By seat: the ready hand; empty where none is needed."""
    rest: I64 = field("i8", 34)
    candidate: I8 = field("i1", 4, 34)


READY_DEAL = record_dtype(ReadyDeal)


@jit
def deal_ready(table: ReadyTable, suits: Suits, deal: ReadyDeal, state: I64) -> bool:
    """Fill ``deal.hand`` from ``left`` and ``num_melds``; False when no ready hands were found.

    ``state``: random_number.py.
    """
    deal.hand[:] = 0
    num_hands = 0
    for seat in range(4):
        num_hands += deal.num_melds[seat] >= 0
    if num_hands == 0:
        return True
    weigh_ready(table, deal, deal.left)
    for _ in range(_APART_TRIES):
        if _draw_apart(table, suits, deal, state):
            return True
    return num_hands > 1 and _draw_in_turn(table, suits, deal, state)


@jit
def _draw_apart(table: ReadyTable, suits: Suits, deal: ReadyDeal, state: I64) -> bool:
    """Draw every hand from all tiles; False when two share a tile, or a seat has no ready hand at all."""
    for kind in range(34):
        deal.rest[kind] = deal.left[kind]
    for seat in range(4):
        if deal.num_melds[seat] >= 0:
            hand = deal.hand[seat]
            if not draw_ready(table, suits, deal, deal.num_melds[seat], hand, state):
                return False
            for kind in range(34):
                # Hands are numbers of tiles: chance says whether these are other tiles than those of earlier seats.
                size = hand[kind]
                ways = deal.ways[kind, size]
                apart = choose(deal.rest[kind], size)
                if apart < ways and draw_number(state, ways) >= apart:
                    return False
                deal.rest[kind] -= size
    return True


@jit
def _draw_in_turn(table: ReadyTable, suits: Suits, deal: ReadyDeal, state: I64) -> bool:
    """Draw candidates one seat after another and keep one of them in proportion to its weight."""
    total = 0.0
    for number in range(_CANDIDATE_TRIES):
        if number >= _CANDIDATES and total > 0:
            break
        weight = _draw_candidate(table, suits, deal, state)
        total += weight
        if weight > 0 and draw_number(state, _FINE) * total < weight * _FINE:
            for seat in range(4):
                for kind in range(34):
                    deal.hand[seat, kind] = deal.candidate[seat, kind]
    return total > 0


@jit
def _draw_candidate(table: ReadyTable, suits: Suits, deal: ReadyDeal, state: I64) -> float:
    """Fill ``deal.candidate`` and return the product of the numbers of hands that each seat could choose from."""
    weight = 1.0
    for kind in range(34):
        deal.rest[kind] = deal.left[kind]
    for seat in range(4):
        hand = deal.candidate[seat]
        hand[:] = 0
        if deal.num_melds[seat] >= 0:
            weigh_ready(table, deal, deal.rest)
            if not draw_ready(table, suits, deal, deal.num_melds[seat], hand, state):
                return 0.0
            weight *= count_ready(table, deal, deal.num_melds[seat])
            for kind in range(34):
                deal.rest[kind] -= hand[kind]
    return weight
