"""Cards and moves in the numbers of PyPI ``douzero``: 3 … 14, 17 for a two, 20 and 30 for the jokers."""

from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.cards.card import counts_of

CARD_NUMBERS = (*range(3, 15), 17, 20, 30)


def cards_list(cards: int) -> list[int]:
    """Return packed cards as a sorted list."""
    counts = counts_of(np.array(cards)).tolist()
    return [number for number, count in zip(CARD_NUMBERS, counts, strict=True) for _ in range(count)]


def pack_list(cards: list[int]) -> int:
    """Return packed cards of a list in any order."""
    return sum(1 << 4 * CARD_NUMBERS.index(card) for card in cards)
