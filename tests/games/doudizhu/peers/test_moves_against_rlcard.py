"""The table of moves is PyPI ``rlcard``'s published list, element by element."""

from __future__ import annotations

import importlib

import pytest

from suphx.games.doudizhu.cards.card import cards_text, parse_cards
from suphx.games.doudizhu.moves.move_kind import KIND_NAMES
from suphx.games.doudizhu.moves.move_table import find_move, load_moves

MOVES = load_moves()


@pytest.mark.slow  # rlcard unpacks its list into its own folder when it is imported
def test_the_moves_are_those_of_the_published_list() -> None:
    published = importlib.import_module("rlcard.games.doudizhu.utils").ID_2_ACTION
    assert len(published) == len(set(published)) == MOVES.num_moves
    assert {cards_text(int(cards)) for cards in MOVES.cards} == {cards_text(parse_cards(text)) for text in published}


@pytest.mark.slow
def test_types_are_those_of_the_published_types() -> None:
    types = importlib.import_module("rlcard.games.doudizhu.utils").CARD_TYPE[0]
    ours_by_theirs: dict[str, set[str]] = {}
    for text, named in types.items():
        if text != "pass":
            move = find_move(MOVES, text)
            name = f"{KIND_NAMES[MOVES.kinds[move]]} {MOVES.lengths[move]}"
            ours_by_theirs.setdefault(named[0][0], set()).add(name)
    assert all(len(ours) == 1 for ours in ours_by_theirs.values()), ours_by_theirs
