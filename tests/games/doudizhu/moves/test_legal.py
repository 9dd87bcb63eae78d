from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.cards.card import counts_of, parse_cards
from suphx.games.doudizhu.moves.legal import list_legal
from suphx.games.doudizhu.moves.move_table import find_move, load_moves, move_text
from tests.games.doudizhu.builders.random_position import random_positions, scratch_for
from tests.games.doudizhu.twins.legal_twin import legal_moves

MOVES = load_moves()
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
