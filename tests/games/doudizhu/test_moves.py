from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.cards import counts_of, parse_cards
from suphx.games.doudizhu.moves import (
    KIND_NAMES,
    PLANE_PAIRS,
    PLANE_SOLOS,
    find_move,
    list_legal,
    load_moves,
    move_text,
)
from tests.games.doudizhu.builders import random_positions, scratch_for
from tests.games.doudizhu.twins.legal_twin import legal_moves

MOVES = load_moves()
NUM_MOVES = 27_472
"""Of the table without ``douzero_kickers``, as published."""
SCRATCH = scratch_for(MOVES)


def legal(hand: int, to_beat: int) -> list[int]:
    return list(SCRATCH[: list_legal(MOVES, hand, to_beat, SCRATCH, 0)])


@pytest.mark.parametrize(
    ("hand", "to_beat", "expected"),
    [
        ("3456789", "pass", "3 4 5 6 7 8 9 34567 45678 56789 345678 456789 3456789"),
        ("33445", "pass", "3 4 5 33 44"),
        ("TJQKA2", "pass", "T J Q K A 2 TJQKA"),
        ("5556", "pass", "5 6 55 555 5556"),
        ("44TBR", "3", "4 T B R BR pass"),
        ("2BR", "A", "2 B R BR pass"),
        ("5555KK2", "44", "55 KK 5555 pass"),
        ("66663BR", "5555", "6666 BR pass"),
        ("3333", "4444", "pass"),
        ("77772", "BR", "pass"),
        ("56789TJ", "45678", "56789 6789T 789TJ pass"),
        ("444555789", "33344466", "44455578 44455579 44455589 pass"),
        ("3334447R", "333444TJ", "pass"),
        ("QQQ3344", "99955", "33QQQ 44QQQ pass"),
        ("3445566778899", "334455", "445566 556677 667788 778899 pass"),
        ("55557BR", "444478", "5555 55557B 55557R BR pass"),
    ],
)
def test_legal_moves_of_a_hand(hand: str, to_beat: str, expected: str) -> None:
    moves = [move_text(MOVES, move) for move in legal(parse_cards(hand), find_move(MOVES, to_beat))]
    assert sorted(moves) == sorted(expected.split())


def test_moves_are_written_behind_those_of_other_tables() -> None:
    out = np.full(MOVES.num_moves, -1, np.int32)
    end = list_legal(MOVES, parse_cards("4"), find_move(MOVES, "3"), out, 5)
    assert [move_text(MOVES, move) for move in out[5:end]] == ["4", "pass"]
    assert (np.delete(out, [5, 6]) == -1).all()


def compare_with_twin(number: int, max_cards: int, seed: int) -> None:
    for hand, to_beat in random_positions(MOVES, number, seed=seed, max_cards=max_cards):
        found = legal(hand, to_beat)
        expected = legal_moves(tuple(counts_of(np.array(hand)).tolist()), tuple(counts_of(MOVES.cards[to_beat])))
        assert len(found) == len(expected), (hex(hand), move_text(MOVES, to_beat))
        assert set(map(tuple, counts_of(MOVES.cards[found]).tolist())) == expected


def test_legal_moves_equal_those_of_the_slow_twin() -> None:
    compare_with_twin(60, max_cards=10, seed=1)


@pytest.mark.slow
def test_legal_moves_of_large_hands_equal_those_of_the_slow_twin() -> None:
    compare_with_twin(400, max_cards=20, seed=2)


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
        with pytest.raises(ValueError, match="is not a move"):
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
        with pytest.raises(ValueError, match="is not a move"):
            find_move(MOVES, text)
        return
    move = find_move(MOVES, text)
    assert move_text(MOVES, move) == text
    assert (KIND_NAMES[MOVES.kinds[move]], MOVES.lengths[move], MOVES.ranks[move]) == (name, length, rank)


def test_no_move_has_more_cards_than_a_hand() -> None:
    assert counts_of(MOVES.cards).sum(axis=1).max() == 20
    assert move_text(MOVES, NUM_MOVES - 1) == "pass"
