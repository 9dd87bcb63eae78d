"""Random hands and moves to beat, with many trios and planes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from suphx.games.doudizhu.cards.card import DECK, counts_of, pack_counts
from suphx.games.doudizhu.moves.move_table import Moves
from suphx.kernel.record import I32


def random_positions(moves: Moves, number: int, *, seed: int, max_cards: int = 20) -> Iterator[tuple[int, int]]:
    """Yield packed hands with a move to beat, which is the pass in one of three.

    Cards are drawn from few ranks as often as from all, so that chains and planes are frequent. The move to beat is of
    every type and length equally often, and its cards are not in the hand.
    """
    rng = np.random.default_rng(seed)
    deck = counts_of(np.array(DECK))
    members = [np.flatnonzero(moves.groups == group) for group in np.unique(moves.groups)]
    for _ in range(number):
        to_beat = moves.num_moves - 1
        if rng.random() < 2 / 3:
            to_beat = int(rng.choice(members[rng.integers(len(members))]))
        left = deck - counts_of(moves.cards[to_beat])
        first = int(rng.integers(0, 11))
        window = np.arange(15) if rng.random() < 0.5 else np.arange(first, min(15, first + int(rng.integers(4, 9))))
        cards = np.repeat(window, left[window])
        size = min(int(rng.integers(1, max_cards + 1)), len(cards))
        hand = np.bincount(rng.choice(cards, size, replace=False), minlength=15)
        yield int(pack_counts(hand)), to_beat


def scratch_for(moves: Moves) -> I32:
    """Return room for all moves of a hand."""
    return np.zeros(moves.num_moves, np.int32)
