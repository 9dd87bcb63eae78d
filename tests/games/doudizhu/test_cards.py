from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.cards import (
    DECK,
    NUM_CARDS,
    cards_text,
    contains,
    count_cards,
    count_rank,
    counts_of,
    parse_cards,
    rank_of_id,
)


@pytest.mark.parametrize(
    ("text", "sorted_text"),
    [("3", "3"), ("R2B3", "32BR"), ("10 9 10", "9TT"), ("kkkk", "KKKK"), ("", "pass"), ("pass", "pass")],
)
def test_cards_are_read_in_any_order_and_written_in_ascending_order(text: str, sorted_text: str) -> None:
    assert cards_text(parse_cards(text)) == sorted_text


@pytest.mark.parametrize(
    ("text", "message"), [("33X", "'X' in '33X' is not a card"), ("33333", "more cards of rank 3"), ("RR", "rank R")]
)
def test_text_that_is_no_cards_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_cards(text)


def test_the_deck_has_54_cards() -> None:
    ids = [rank_of_id(card) for card in range(NUM_CARDS)]
    assert counts_of(np.array(DECK)).tolist() == np.bincount(ids).tolist()
    assert count_cards(DECK) == NUM_CARDS
    assert cards_text(DECK)[-6:] == "2222BR"


@pytest.mark.parametrize(
    ("hand", "cards", "expected"),
    [("3345", "335", True), ("3345", "355", False), ("TTTT", "TTTT", True), ("BR", "R", True), ("B", "BR", False)],
)
def test_a_hand_contains_cards_if_every_count_is_large_enough(hand: str, cards: str, expected: bool) -> None:
    assert contains(parse_cards(hand), parse_cards(cards)) == expected


def test_counts_of_packed_cards() -> None:
    cards = parse_cards("3336TTB")
    counts = counts_of(np.array([cards, 0]))
    assert counts.tolist() == [[3, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0], [0] * 15]
    assert [count_rank(cards, rank) for rank in range(15)] == counts[0].tolist()
