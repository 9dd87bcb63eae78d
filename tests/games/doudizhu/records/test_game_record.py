from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suphx.games.doudizhu.cards import counts_of
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.moves import move_text
from suphx.games.doudizhu.records.game_record import (
    GameRecord,
    find_records,
    parse_record,
    read_records,
    record_of,
    record_text,
    write_records,
)
from suphx.games.doudizhu.records.game_record import replay as replayed
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from tests.games.doudizhu.builders import after_moves, pack_counts

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
        ("34", r"34 is not a move: \? lists the types"),
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


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_seat_sees_nothing_of_the_other_hands(seed: int, seat: int) -> None:
    simulator, rng = after_moves(3 * seed + 1, seed), np.random.default_rng(seed)
    shown, table = TEXT.seat_lines(simulator, 0, seat), simulator.tables[0]
    first, second = (other for other in range(3) if other != seat)
    cards = np.repeat(np.arange(15), counts_of(table["hands"][[first, second]]).sum(axis=0))
    size = int(counts_of(table["hands"])[first].sum())
    for _ in range(20):
        order = rng.permutation(cards)
        for other, own in ((first, order[:size]), (second, order[size:])):
            table["hands"][other] = pack_counts(np.bincount(own, minlength=15))
        assert TEXT.seat_lines(simulator, 0, seat) == shown


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


def played(num_games: int, *, max_moves: int = 200, rules: Rules | None = None) -> Simulator:
    simulator, rng = Simulator(num_games, rules or Rules()), np.random.default_rng(5)
    simulator.reset(range(num_games))
    while (waiting := simulator.waiting()).size and max_moves:
        offsets, legal = simulator.legal(waiting)
        simulator.advance(waiting, legal[rng.integers(offsets[:-1], offsets[1:])])
        max_moves -= 1
    return simulator


@pytest.mark.parametrize("bidding", [False, True], ids=["no bids", "bids"])
@pytest.mark.parametrize("max_moves", [7, 200])
def test_games_come_back_from_files_and_replay_to_the_same_tables(
    tmp_path: Path, max_moves: int, bidding: bool
) -> None:  # fmt: skip
    simulator = played(20, max_moves=max_moves, rules=Rules(scoring="points", bidding=bidding))
    records = [record_of(table, simulator.rules) for table in simulator.tables]
    write_records(tmp_path / "games.jsonl", records)
    loaded = list(read_records(tmp_path / "games.jsonl"))
    assert loaded == records == list(read_records(str(tmp_path / "games.jsonl")))
    for record, table in zip(loaded, simulator.tables, strict=True):
        again = replayed(record)[0]
        for name in table.dtype.names:
            if name != "seed":
                assert (again[name] == table[name]).all(), name
        winner = int(table["winner"])
        assert record.winner == (None if winner < 0 else ("landlord", "landlord_down", "landlord_up")[winner])
        assert parse_record(record_text(record), simulator.rules) == record


@pytest.mark.parametrize(
    ("bids", "message"),
    [
        ([], "the bids are none: each seat bids once unless one bids 3"),
        ([["landlord", 3], ["landlord_down", 0]], "seats bid in turn"),
        ([["landlord", 2], ["landlord_up", 0], ["landlord_down", 0]], "seats bid in turn"),
        ([["landlord_up", 2], ["landlord", 1], ["landlord_down", 0]], "more than before, up to 3"),
        ([["landlord_up", 1], ["landlord", 2]], "each seat bids once unless one bids 3"),
        ([["landlord_up", 2], ["landlord", 0], ["landlord_down", 0]], "and the landlord most"),
        ([["landlord_up", 0], ["landlord", 0], ["landlord_down", 0]], "and the landlord most"),
        ([["nobody", 1]], "seats bid in turn"),
        ([["landlord", 4]], "up to 3"),
        ([["landlord", 1.5]], "write a list of a seat and its bid each"),
        ([["landlord", True]], "write a list"),
        ([["landlord"]], "write a list"),
        ("3", "write a list"),
        (3, "write a list"),
    ],
)
def test_bids_that_are_no_auction_are_told(bids: object, message: str) -> None:
    simulator = played(1, rules=Rules(bidding=True))
    values = record_of(simulator.tables[0], simulator.rules).to_json() | {"bids": bids}
    with pytest.raises(ValueError, match=message):
        GameRecord.from_json(values)


def test_bids_and_rules_belong_together() -> None:
    simulator = played(1, rules=Rules(bidding=True))
    record = record_of(simulator.tables[0], simulator.rules)
    with pytest.raises(ValueError, match="there are bids, but the rules have no bidding"):
        replace(record, rules=Rules())
    text = record_text(record)
    assert "\nbids: " in text
    assert parse_record(text).rules == parse_record(text.replace("bids:", "Bids :")).rules == Rules(bidding=True)
    without = "\n".join(line for line in text.splitlines() if not line.startswith("bids"))
    assert parse_record(without).bids == ()
    with pytest.raises(ValueError, match="the bids are none"):
        parse_record(without, Rules(bidding=True))
    for line in ("bids: landlord", "bids: landlord 2.5", "bids: landlord x, landlord_up pass"):
        with pytest.raises(ValueError, match="write such as 'landlord_up pass, landlord 2'"):
            parse_record("\n".join([line if each.startswith("bids") else each for each in text.splitlines()]))


def test_what_is_no_game_is_told_with_its_line(tmp_path: Path) -> None:
    simulator = played(1)
    record = record_of(simulator.tables[0], simulator.rules)
    good, path = record.to_json(), tmp_path / "games.jsonl"
    hands = {**good["hands"], "landlord_up": good["hands"]["landlord_down"]}
    for wrong, message in (
        ({**good, "game": "riichi"}, "line 2: game is 'riichi': this is not a record of doudizhu"),
        ({**good, "hands": hands}, "are not the deck, dealt as 20, 17 and 17 cards"),
        ({**good, "bottom": "3333"}, "the bottom is 3333: it is three cards of the landlord"),
        ({**good, "winner": "nobody"}, "winner is 'nobody', but by the moves it is"),
        ({key: good[key] for key in good if key != "moves"}, "this is not a record of doudizhu: it has no moves"),
    ):
        path.write_text("\n".join(map(json.dumps, (good, wrong))))
        with pytest.raises(ValueError, match="line 2") as caught:
            list(read_records(path))
        assert message in str(caught.value)
    path.write_text(json.dumps(good) + "\n" + json.dumps(good)[:500])
    with pytest.raises(ValueError, match=r"line 2: this is not JSON \(.*\): it is damaged or cut off"):
        list(read_records(path))


@pytest.mark.parametrize(("start", "message"), [(b"{", "line 1: this is longer"), (b"landlord", "this is longer")])
def test_a_game_without_an_end_is_refused_after_a_megabyte(start: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "endless.jsonl"
    path.write_bytes(start)
    os.truncate(path, 1 << 40)  # a terabyte, of which nothing is on the disk
    with pytest.raises(ValueError, match=message):
        list(find_records(path))


def test_a_move_that_is_not_legal_is_named() -> None:
    simulator = played(1)
    record = record_of(simulator.tables[0], simulator.rules)
    with pytest.raises(ValueError, match="move 1, landlord: pass is not legal"):
        replayed(replace(record, moves=("pass", *record.moves[1:])))
    with pytest.raises(ValueError, match="comes after the end of the game"):
        replayed(replace(record, moves=(*record.moves, "pass")))


def test_a_line_that_is_no_text_is_told_with_file_and_line(tmp_path: Path) -> None:
    simulator, path = played(1), tmp_path / "games.jsonl"
    line = json.dumps(record_of(simulator.tables[0], simulator.rules).to_json()).encode()
    path.write_bytes(line + b"\n\n{\xff}\n")
    with pytest.raises(ValueError, match=r"games\.jsonl, line 3: this is not text in UTF-8: byte 2 is 0xff"):
        list(read_records(path))
    path.write_bytes(line + b"\n{")
    records = find_records(path)
    assert next(records).winner is not None
    with pytest.raises(ValueError, match="line 2: "):
        next(records)


def test_a_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    simulator = played(1)
    record = record_of(simulator.tables[0], simulator.rules)
    (tmp_path / "a.jsonl").write_text(json.dumps(record.to_json()) + "\n", encoding="utf-8-sig")
    (tmp_path / "b.txt").write_text(record_text(record), encoding="utf-8-sig")
    assert list(find_records(tmp_path)) == [record, record]
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "games").symlink_to(tmp_path)
    assert list(find_records(tmp_path / "linked")) == [record, record]
    (tmp_path / "b.txt").write_bytes(b"landlord: \xff")
    with pytest.raises(ValueError, match=r"b\.txt: this is not text in UTF-8: byte 11 is 0xff"):
        list(find_records(tmp_path))


@pytest.mark.parametrize("name", [7, None, ["Anna"], "\ud800"])
def test_players_without_a_name_that_can_be_written_are_refused(name: object) -> None:
    simulator = played(1)
    record = record_of(simulator.tables[0], simulator.rules, ("Anna", "Ben", "クレオ"))
    assert GameRecord.from_json(record.to_json()) == record
    values = record.to_json()
    values["players"]["landlord_up"] = name
    with pytest.raises(ValueError, match=r"the player of landlord_up is .*: write a name as text"):
        GameRecord.from_json(values)
