"""Kickers: the cards that go along with a trio, a plane or a quad."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement

from suphx.games.doudizhu.cards.card import ACE, BLACK_JOKER, NUM_RANKS, RED_JOKER, TWO


def solo_kickers(main: range, number: int, *, is_loose: bool) -> Iterator[int]:
    """Yield ``number`` single kickers, packed, for trios or a quad of the ranks ``main``.

    At most three of a rank, two of a rank that would make the plane longer, and not both jokers. With ``is_loose`` any
    other cards are allowed, as DouZero's generator has it.
    """
    ranks = [rank for rank in range(NUM_RANKS) if rank not in main]
    neighbours = {rank for rank in (main.start - 1, main.stop) if rank <= ACE}
    for chosen in combinations_with_replacement(ranks, number):
        counts = Counter(chosen)
        if counts[BLACK_JOKER] > 1 or counts[RED_JOKER] > 1:
            continue
        if is_loose:
            is_allowed = max(counts.values()) <= 4
        else:
            is_allowed = all(count <= (2 if rank in neighbours else 3) for rank, count in counts.items())
            is_allowed &= counts[BLACK_JOKER] + counts[RED_JOKER] < 2
        if is_allowed:
            yield sum(1 << 4 * rank for rank in chosen)


def pair_kickers(main: range, number: int) -> Iterator[int]:
    """Yield ``number`` pairs of different ranks, packed, for trios or a quad of the ranks ``main``."""
    ranks = [rank for rank in range(TWO + 1) if rank not in main]
    for chosen in combinations(ranks, number):
        yield sum(2 << 4 * rank for rank in chosen)
