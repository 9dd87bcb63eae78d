from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.cards.card import counts_of
from suphx.games.doudizhu.moves.move_kind import KIND_NAMES, PLANE_PAIRS, PLANE_SOLOS
from suphx.games.doudizhu.moves.move_table import NUM_MOVES, find_move, load_moves, move_text

MOVES = load_moves()
LOOSE = load_moves(douzero_kickers=True)


def test_there_are_27472_moves_of_15_types() -> None:
    numbers = dict(zip(KIND_NAMES, np.bincount(MOVES.kinds).tolist(), strict=True))
    assert numbers == {
        "solo": 15, "pair": 13, "trio": 13, "trio + solo": 182, "trio + pair": 156,
        "solo chain": 36, "pair chain": 52, "trio chain": 45, "plane + solos": 21_822, "plane + pairs": 2_939,
        "quad + 2 solos": 1_326, "quad + 2 pairs": 858, "bomb": 13, "rocket": 1, "pass": 1,
    }  # fmt: skip
    assert MOVES.num_moves == NUM_MOVES == len(set(MOVES.cards.tolist())) == sum(numbers.values())


def test_planes_by_length() -> None:
    def numbers(kind: int) -> list[int]:
        return list(np.bincount(MOVES.lengths[MOVES.kinds == kind])[2:])

    assert numbers(PLANE_SOLOS) == [968, 3_282, 7_184, 10_388]
    assert numbers(PLANE_PAIRS) == [605, 1_200, 1_134]


def test_douzeros_kickers_make_29984_sets_of_cards_and_the_pass() -> None:
    assert LOOSE.num_moves == len(set(LOOSE.cards.tolist())) == 29_984 + 1
    assert set(MOVES.cards.tolist()) < set(LOOSE.cards.tolist())
    for text in ("333444BR", "4444BR", "3334445556667777"):  # both jokers, four equal kickers
        assert move_text(LOOSE, find_move(LOOSE, text)) == text
        with pytest.raises(ValueError, match="is no move"):
            find_move(MOVES, text)


@pytest.mark.parametrize(
    ("text", "name", "length", "rank"),
    [
        ("R", "solo", 1, 14),
        ("22", "pair", 1, 12),
        ("3336", "trio + solo", 1, 0),
        ("222BR", None, 0, 0),
        ("33999", "trio + pair", 1, 6),
        ("TJQKA", "solo chain", 5, 7),
        ("JQKA2", None, 0, 0),
        ("334455", "pair chain", 3, 0),
        ("QQQKKKAAA", "trio chain", 3, 9),
        ("3334445R", "plane + solos", 2, 0),
        ("333444BR", None, 0, 0),
        ("333444555666", "trio chain", 4, 0),
        ("333444555777", "plane + solos", 3, 0),
        ("QQQKKKAAA222", "plane + solos", 3, 9),
        ("3334445566", "plane + pairs", 2, 0),
        ("444456", "quad + 2 solos", 1, 1),
        ("444455", "quad + 2 solos", 1, 1),
        ("4444BR", None, 0, 0),
        ("44445566", "quad + 2 pairs", 1, 1),
        ("44445555", None, 0, 0),
        ("7777", "bomb", 1, 4),
        ("BR", "rocket", 1, 13),
        ("pass", "pass", 1, 0),
    ],
)
def test_cards_have_the_type_that_players_give_them(text: str, name: str | None, length: int, rank: int) -> None:
    if name is None:
        with pytest.raises(ValueError, match="is no move"):
            find_move(MOVES, text)
        return
    move = find_move(MOVES, text)
    assert move_text(MOVES, move) == text
    assert (KIND_NAMES[MOVES.kinds[move]], MOVES.lengths[move], MOVES.ranks[move]) == (name, length, rank)


def test_no_move_has_more_cards_than_a_hand() -> None:
    assert counts_of(MOVES.cards).sum(axis=1).max() == 20
    assert move_text(MOVES, NUM_MOVES - 1) == "pass"
