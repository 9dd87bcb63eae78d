"""Ranks, packed hands and their text: suits do not matter in DouDizhu, so a hand is fifteen counts.

Kernels keep a hand in one int64, four bits for each rank, 3 in the lowest bits. Counts add and subtract as numbers do.

>>> cards_text(parse_cards("2R33"))
'332R'
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

RANK_NAMES = "3456789TJQKA2BR"
"""In ascending order; T is 10, B the black joker, R the red joker."""
NUM_RANKS = 15
ACE, TWO, BLACK_JOKER, RED_JOKER = 11, 12, 13, 14
NUM_CARDS = 54
PASS_TEXT = "pass"

_DECK_COUNTS = (4,) * 13 + (1, 1)
DECK = sum(count << 4 * rank for rank, count in enumerate(_DECK_COUNTS))
"""All 54 cards, packed."""
_GUARD = 0x888888888888888


@jit
def count_rank(cards: int, rank: int) -> int:
    """Return how many cards of ``rank`` (0-14) there are in packed ``cards``."""
    return cards >> 4 * rank & 15


@jit
def count_cards(cards: int) -> int:
    """Return the number of packed ``cards``."""
    number = 0
    for rank in range(NUM_RANKS):
        number += cards >> 4 * rank & 15
    return number


@jit
def contains(hand: int, cards: int) -> bool:
    """Tell whether the packed ``hand`` has all packed ``cards``; no count of either is above 7."""
    return (hand | _GUARD) - cards & _GUARD == _GUARD


@jit
def rank_of_id(card: int) -> int:
    """Return the rank of a card of the deck: 0-51 are four of each rank, 52 and 53 the jokers."""
    return card >> 2 if card < 52 else card - 39


@jit
def pack_ids(ids: I64, first: int, number: int) -> int:
    """Return ``number`` cards of a shuffled deck, from its card ``first`` on, packed."""
    cards = 0
    for i in range(first, first + number):
        cards += 1 << 4 * rank_of_id(ids[i])
    return cards


def counts_of(cards: NDArray[np.int64]) -> I8:
    """Return int8 [..., 15]: the count of each rank in packed ``cards``."""
    shifts = 4 * np.arange(NUM_RANKS)
    return (cards[..., None] >> shifts & 15).astype(np.int8)


def cards_text(cards: int) -> str:
    """Return packed cards as text in ascending order (``"334TJ2BR"``); no cards are ``"pass"``."""
    return "".join(name * (cards >> 4 * rank & 15) for rank, name in enumerate(RANK_NAMES)) or PASS_TEXT


def parse_cards(text: str) -> int:
    """Return the packed cards of a text in any order, 10 as ``T`` or ``10``; ``"pass"`` and ``""`` are no cards.

    ValueError for an unknown character and for more cards of a rank than the deck has.
    """
    if text == PASS_TEXT:
        return 0
    cards = 0
    for name in text.upper().replace("10", "T").replace(" ", ""):
        rank = RANK_NAMES.find(name)
        if rank < 0:
            raise ValueError(f"{name!r} in {text!r} is not a card: use {RANK_NAMES} (T = 10, B and R = jokers)")
        cards += 1 << 4 * rank
        if cards >> 4 * rank & 15 > _DECK_COUNTS[rank]:
            raise ValueError(f"{text!r} has more cards of rank {name} than the deck: at most {_DECK_COUNTS[rank]}")
    return cards
