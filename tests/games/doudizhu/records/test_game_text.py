"""DouDizhu in a terminal: moves as people type them, what a seat sees, and how a game ended."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import GameRecord, Rules, cards_text, move_text, sample_hands
from tests.games.doudizhu.builders import after_moves

TEXT = candidate_game("doudizhu").text
RULES = Rules()


def test_each_move_is_read_as_it_is_shown() -> None:
    moves = RULES.load_moves()
    for move in range(moves.num_moves):
        shown = TEXT.move_text(RULES, move).split(" (")[0]
        assert TEXT.read_move(RULES, shown) == move
        assert sorted(shown) == sorted(move_text(moves, move))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("p", "pass"),
        ("PASS", "pass"),
        ("4 777", "7774 (trio + solo)"),
        ("k 10 j q a", "TJQKA (solo chain)"),
        ("rb", "BR (rocket)"),
        ("777,4", "7774 (trio + solo)"),
        ("777-4", "7774 (trio + solo)"),
        ("\uff17\uff17\uff17 + 4", "7774 (trio + solo)"),
    ],
)
def test_cards_are_typed_in_any_order(typed: str, shown: str) -> None:
    assert TEXT.move_text(RULES, TEXT.read_move(RULES, typed)) == shown


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("34", r"34 is no move: \? lists the types"),
        ("4" * 100_000, f"^{'4' * 40}… is too long for a move: a hand has at most 20 cards$"),
        ("3x", "'X' in '3x' is not a card"),
        ("33333", "more cards of rank 3 than the deck"),
        (".", r"'\.' has no cards: type the cards of your move, or p to pass"),
        *(
            (typed, "has no cards: type the cards of your move, or p to pass")
            for typed in ("", " ", ",", "-", "+", ";")
        ),
    ],
)
def test_what_is_no_move_is_told(typed: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TEXT.read_move(RULES, typed)


def test_legal_moves_are_listed_by_type() -> None:
    moves = [TEXT.read_move(RULES, text) for text in ("3", "7", "7774", "p")]
    assert TEXT.move_lists(RULES, moves) == ["solo: 3 7", "trio + solo: 7774", "pass: pass"]
    assert TEXT.move_lists(RULES, moves[:1] * 31) == [f"solo:{' 3' * 30} and 1 more"]


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_seat_sees_nothing_of_the_other_hands(seed: int, seat: int) -> None:
    simulator = after_moves(3 * seed + 1, seed)
    shown = TEXT.seat_lines(simulator, 0, seat)
    seen = set()
    for hands in sample_hands(simulator.tables[0], seat, 20, np.random.default_rng(seed)):
        simulator.tables[0]["hands"] = hands
        seen.add(tuple(hands.tolist()))
        assert TEXT.seat_lines(simulator, 0, seat) == shown
    assert len(seen) > 1 or seat == 0


def test_what_a_seat_sees() -> None:
    simulator = after_moves(0, 4)
    assert TEXT.seat_lines(simulator, 0, 0)[-1] == "you lead: play anything"
    assert TEXT.seat_lines(simulator, 0, 1)[-1].startswith("your hand "), "it is not this seat's turn"
    simulator.advance(np.zeros(1, np.int64), np.array([TEXT.read_move(RULES, "7774")]))
    *table, others, own, last = TEXT.seat_lines(simulator, 0, 1)
    assert table == [
        "bottom cards, dealt to the landlord: 8 T A   bombs: 0",
        "landlord_up          17 cards",
        "landlord             16 cards   last move 7774",
        "landlord_down (you)  17 cards",
    ]
    hands = simulator.tables["hands"][0]
    for line, cards in ((others, hands[0] + hands[2]), (own, hands[1])):
        told = line[len("the others hold ") :]
        assert told.replace(" ", "") == cards_text(int(cards))
        assert all(len(set(rank)) == 1 for rank in told.split())
        assert len(set(told.split())) == len(told.split())
    assert last == "to beat         7774 (trio + solo)"


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("8888", "you do not have 8888 (bomb)"),
        ("33", "33 (pair) does not beat 4 (solo)"),
        ("3", "3 (solo) does not beat 4 (solo)"),
    ],
)
def test_a_move_that_is_not_legal_is_refused_with_the_reason(typed: str, reason: str) -> None:
    simulator = after_moves(0, 4)
    assert TEXT.refusal(simulator, 0, TEXT.read_move(RULES, "p")) == "you lead: play something"
    simulator.advance(np.zeros(1, np.int64), np.array([TEXT.read_move(RULES, "4")]))
    assert TEXT.refusal(simulator, 0, TEXT.read_move(RULES, typed)) == reason


def test_a_seat_is_told_its_partner() -> None:
    assert [TEXT.seat_note(seat) for seat in range(3)] == [
        "you play against both peasants",
        "you and landlord_up play against the landlord",
        "you and landlord_down play against the landlord",
    ]


def test_the_end_names_the_winner_the_points_and_what_was_left() -> None:
    found = set()
    for seed in range(40):
        simulator = after_moves(200, seed)
        table = simulator.tables[0]
        first, *left = TEXT.end_lines(simulator, 0)
        winner = int(table["winner"])
        points, bombs = 2 ** int(table["num_bombs"]), int(table["num_bombs"])
        found.add((winner == 0, bombs > 0))
        assert first.startswith(("the peasants win", "the landlord wins")[winner == 0])
        assert f" {points} point" in first
        assert f"with {bombs} bomb" in first
        assert len(left) == int((table["hands"] > 0).sum()) == 2
    assert len(found) >= 3


def test_a_record_is_a_line_of_a_file() -> None:
    simulator = after_moves(200, 3)
    line = TEXT.record_line(simulator, 0, ("Änne", "rule", "rule"))
    assert "\n" not in line
    record = GameRecord.from_json(json.loads(line))
    assert record.players == ("Änne", "rule", "rule")
    assert record.winner is not None
