"""Random tenpai hands for one seat of riichi or several, out of the tiles that are hidden from another."""

from __future__ import annotations

from suphx.games.mahjong.ready_hands import (
    SEVEN_PAIRS,
    TENPAI_WEIGHTS,
    TenpaiTable,
    TenpaiWeights,
    choose,
    draw_tenpai,
    weigh_tenpai,
)
from suphx.games.mahjong.shanten import Suits
from suphx.games.riichi.shanten import waiting_kinds
from suphx.kernel.jit import jit
from suphx.kernel.random_number import draw_number
from suphx.kernel.record import I8, I64, field, record_dtype

_APART_TRIES = 2000
_IN_TURN_TRIES = 1000
_SWEEPS = 16
_WAIT_TRIES = 200


class TenpaiDeal:
    """What is asked of ``deal_tenpai``, what it finds, and its scratch; ``np.zeros(1, TENPAI_DEAL)[0]``."""

    left: I64 = field("i8", 34)
    """Hidden tiles by kind."""
    num_melds: I8 = field("i1", 4)
    """By seat; -1 where no tenpai hand is needed."""
    let_pass: I64 = field("i8", 4)
    """By seat: bit set of the kinds that the hand does not wait for, if possible."""
    hand: I8 = field("i1", 4, 34)
    """By seat: the tenpai hand; empty where none is needed."""
    rest: I64 = field("i8", 34)
    weights: TenpaiWeights = field(TENPAI_WEIGHTS)


TENPAI_DEAL = record_dtype(TenpaiDeal)


@jit
def deal_tenpai(table: TenpaiTable, suits: Suits, deal: TenpaiDeal, state: I64) -> bool:
    """Fill ``deal.hand`` from ``left`` and ``num_melds``; False when no tenpai hands were found.

    ``state``: random_number.py.
    """
    deal.hand[:] = 0
    num_hands = 0
    for seat in range(4):
        num_hands += deal.num_melds[seat] >= 0
    if num_hands == 0:
        return True
    if num_hands <= 2:
        weigh_tenpai(table, deal.weights, deal.left, SEVEN_PAIRS)
        for _ in range(_APART_TRIES):
            if _draw_apart(table, suits, deal, state):
                return True
    for _ in range(_IN_TURN_TRIES):
        if _draw_in_turn(table, suits, deal, state):
            for _ in range(_SWEEPS):
                # Put each hand back and draw it again from what the others leave.
                for seat in range(4):
                    if deal.num_melds[seat] >= 0:
                        for kind in range(34):
                            deal.rest[kind] += deal.hand[seat, kind]
                        _draw_from_rest(table, suits, deal, seat, state)
            return True
    return False


@jit
def _draw_apart(table: TenpaiTable, suits: Suits, deal: TenpaiDeal, state: I64) -> bool:
    """Draw every hand from all tiles; False when two share a tile, or a seat has no tenpai hand at all."""
    deal.rest[:] = deal.left
    for seat in range(4):
        if deal.num_melds[seat] >= 0:
            hand = deal.hand[seat]
            if not _draw_hand(table, suits, deal, seat, state):
                return False
            for kind in range(34):
                # Hands are numbers of tiles: chance says whether these are other tiles than those of earlier seats.
                size = hand[kind]
                ways = deal.weights.ways[kind, size]
                apart = choose(deal.rest[kind], size)
                if apart < ways and draw_number(state, ways) >= apart:
                    return False
                deal.rest[kind] -= size
    return True


@jit
def _draw_in_turn(table: TenpaiTable, suits: Suits, deal: TenpaiDeal, state: I64) -> bool:
    """Draw every hand from what the seats before it left; False when a seat finds no tenpai hand."""
    deal.rest[:] = deal.left
    for seat in range(4):
        if deal.num_melds[seat] >= 0 and not _draw_from_rest(table, suits, deal, seat, state):
            return False
    return True


@jit
def _draw_from_rest(table: TenpaiTable, suits: Suits, deal: TenpaiDeal, seat: int, state: I64) -> bool:
    hand = deal.hand[seat]
    weigh_tenpai(table, deal.weights, deal.rest, SEVEN_PAIRS)
    if not _draw_hand(table, suits, deal, seat, state):
        return False
    for kind in range(34):
        deal.rest[kind] -= hand[kind]
    return True


@jit
def _draw_hand(table: TenpaiTable, suits: Suits, deal: TenpaiDeal, seat: int, state: I64) -> bool:
    """Draw the hand of a seat by ``deal.weights``; False when there is no tenpai hand."""
    hand, num_melds = deal.hand[seat], deal.num_melds[seat]
    for _ in range(_WAIT_TRIES):
        if not draw_tenpai(table, suits, deal.weights, num_melds, hand, state):
            return False
        if waiting_kinds(suits, hand, num_melds) & deal.let_pass[seat] == 0:
            break
    return True
