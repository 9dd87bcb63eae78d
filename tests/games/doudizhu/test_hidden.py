from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from suphx.games.doudizhu.cards import cards_text, counts_of, parse_cards
from suphx.games.doudizhu.hidden import sample_hands
from suphx.games.doudizhu.table import LANDLORD
from tests.games.doudizhu.builders import after_moves


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_drawn_hands_fit_with_what_the_seat_has_seen(seat: int, seed: int) -> None:
    table = after_moves(3 * seed + 2, seed).tables[0]
    hands = sample_hands(table, seat, 200, np.random.default_rng(seed))
    assert (hands[:, seat] == table["hands"][seat]).all()
    assert (hands.sum(axis=1) == table["hands"].sum()).all()
    counts = counts_of(hands)
    assert (counts.sum(axis=2) == counts_of(table["hands"]).sum(axis=1)).all()
    # What is left of the bottom cards is the landlord's, whatever else it has played.
    dealt = counts_of(hands[:, LANDLORD] + table["played"][LANDLORD])
    assert (dealt >= counts_of(np.array(table["bottom"]))).all()
    if seat != LANDLORD or seed == 0:
        assert len({tuple(row) for row in hands}) > 20


def test_draws_are_as_frequent_as_the_deals_that_fit() -> None:
    """Counts all deals of the unknown cards by hand, in a game in which the landlord has played nearly everything."""
    table = after_moves(0, 3).tables[0].copy()
    hands = "33334444555566667777", "8888TTTTJJJJQQQQ9", "999KKKKAAAA2222BR"
    table["hands"] = [parse_cards(hand) for hand in hands]
    table["bottom"] = parse_cards("777")
    kept = parse_cards("56"), parse_cards("88TJ9"), parse_cards("99KA")
    table["played"] = table["hands"] - np.array(kept)
    table["hands"] = kept
    drawn = sample_hands(table, 1, 20_000, np.random.default_rng(0))
    found = Counter(cards_text(int(row[0])) for row in drawn)
    # To landlord_down, six cards are unknown; by suits, each choice of the landlord's two is one deal, but that there
    # are more ways to have been dealt the cards of a rank of which some were played.
    unknown = "5699KA"
    dealt = Counter("33334444555566667777") - Counter("777")
    pool = Counter("".join(hands[0] + hands[2])) - Counter("777")
    ways: Counter[str] = Counter()
    for pair in combinations(range(6), 2):
        text = cards_text(parse_cards("".join(unknown[i] for i in pair)))
        ways[text] = 0
    for text in ways:
        own = dealt - Counter("56") + Counter(text)
        ways[text] = int(np.prod([_choose(pool[rank], own[rank]) for rank in pool]))
    total = sum(ways.values())
    for text, number in ways.items():
        expected = number / total
        error = 4 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-9
        assert abs(found[text] / 20_000 - expected) <= error, (text, found[text], expected)
    assert set(found) <= set(ways)


def _choose(whole: int, part: int) -> int:
    return int(np.prod([(whole - i) / (i + 1) for i in range(part)]).round()) if 0 <= part <= whole else 0


def test_a_seat_that_there_is_not_is_refused() -> None:
    table = after_moves(0, 1).tables[0]
    with pytest.raises(ValueError, match="seat is 3, count 1: use a seat from 0 to 2"):
        sample_hands(table, 3, 1, np.random.default_rng(0))
