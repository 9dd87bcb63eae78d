"""Recorded games as JSON, as the text of the contests and as logs of Botzone; real games are replayed."""

from __future__ import annotations

import gzip
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mcr.botzone import Referee, game_log, new_referee, parse_log
from suphx.games.mcr.fans import FANS
from suphx.games.mcr.game import GAME
from suphx.games.mcr.learning import LEARNING
from suphx.games.mcr.record import GameRecord, judged_values, positions, record_of, winning_fans
from suphx.games.mcr.record_text import parse_text, record_text
from suphx.games.mcr.records import FILES, replay
from suphx.games.mcr.seat_log import parse_seat_log
from suphx.games.mcr.table import (
    KIND_NAMES,
    KIND_OF_NAME,
    MOVES,
    NO_SEAT,
    Rules,
    move_text,
)
from suphx.games.mcr.tables import McrTables, ScriptedAgent
from suphx.games.registry import game_of_records
from tests.games.mcr.course import Course
from tests.repository import REPOSITORY

SUITS = load_suits()
NUMBERS = {name: number for number, (_, name, _) in enumerate(FANS, 1)}


@pytest.fixture(scope="session")
def real_games() -> list[dict[str, Any]]:
    """172 games of others, of the folder mcr beside real records; skips without it."""
    given = os.environ.get("SUPHX_RECORDS")
    file = (Path(given) if given else REPOSITORY.parent / "shared" / "data") / "mcr" / "mcr_games.jsonl.gz"
    if not file.is_file():
        pytest.skip(f"no games at {file}")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def kinds_of(names: str | None) -> list[int] | None:
    return None if names is None else [KIND_OF_NAME[name] for name in names.split()]


@pytest.fixture(scope="session")
def real_records(real_games: list[dict[str, Any]]) -> list[GameRecord]:
    """The real games, their hands and draws compared with their walls."""
    return [
        replace(parse_text(game["text"], kinds_of(game["walls"])), reply=(game["error"] or {}).get("reply", ""))
        for game in real_games
    ]


def test_real_games_are_replayed_with_their_fans_and_scores(
    real_games: list[dict[str, Any]], real_records: list[GameRecord]
) -> None:
    wins = errors = 0
    for game, record in zip(real_games, real_records, strict=True):
        end = positions(record)[-1]
        assert end["score"].tolist() == game["score"]
        assert (None if end["winner"] == NO_SEAT else int(end["win_fan"])) == game["fan"], game["id"]
        if game["fans"]:
            wins += 1
            assert winning_fans(end) == sorted((NUMBERS[each["name"]], each["count"]) for each in game["fans"])
        if game["error"]:
            errors += 1
            assert end["offender"] == game["error"]["player"]
    assert (len(real_games), wins, errors) == (172, 80, 3)


def test_the_referees_values_of_real_games(real_games: list[dict[str, Any]], real_records: list[GameRecord]) -> None:
    numbers = 0
    for game, record in zip(real_games, real_records, strict=True):
        if game["judged"] is not None:
            values, asked = judged_values(record)
            assert [list(value) for value in values] == game["judged"], game["id"]
            numbers += asked
    assert numbers == 11_724


def test_real_games_are_written_as_they_were(
    real_games: list[dict[str, Any]], real_records: list[GameRecord], tmp_path: Path
) -> None:
    def lines(text: str) -> list[str]:
        return [
            line if line[:4] != "Fan " else " ".join(sorted(line.replace("+", " ").split()))
            for line in text.split("\n")
        ]

    for game, record in zip(real_games, real_records, strict=True):
        assert lines(record_text(record).strip()) == lines(game["text"].strip())
        assert parse_log(json.loads(json.dumps(game_log(record)))) == record
    for suffix in (".jsonl", ".json"):
        FILES.write(real_records, tmp_path / f"games{suffix}")
        assert list(FILES.read(tmp_path / f"games{suffix}")) == real_records
    FILES.write(real_records, tmp_path / "games.txt")
    again = list(FILES.read(tmp_path / "games.txt"))
    assert [record.moves for record in again] == [record.moves for record in real_records]


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    tables, found = McrTables(24, Rules(minimum_fan=1)), []
    tables.begin(np.arange(24), range(24))
    players = [ScriptedAgent("shanten"), ScriptedAgent("random")]
    while (waiting := tables.waiting()).size:
        for index in waiting.tolist():
            place = np.array([index])
            tables.advance(place, players[index % 2].act(tables.state, place))
    for index in tables.take_ended().tolist():
        found.append(tables.take_game(index, f"game-{index}", ("Anna", "Ben", "Cleo", "Dan")).record)
    return found


def test_logs_of_botzone_are_read_as_they_were_written(records: list[GameRecord], tmp_path: Path) -> None:
    assert sum(record.fan is not None for record in records) > 5
    FILES.write(records, tmp_path / "games.json")
    assert list(FILES.read(tmp_path / "games.json")) == [replace(record, seed=0) for record in records]
    assert game_of_records(tmp_path / "games.json") == "mcr"


def test_logs_are_read_as_botzone_hands_them_out(records: list[GameRecord], tmp_path: Path) -> None:
    """As its page gets them: walls as a text, players with pictures; and the list of messages alone."""
    record = next(record for record in records if record.fan is None)
    log = game_log(record) | {"rules": {}}
    players = [{"name": name, "imgid": "/avatar.png"} for name in record.players]
    (tmp_path / "page.json").write_text(json.dumps(log | {"initdata": json.dumps(log["initdata"]), "players": players}))
    (tmp_path / "list.json").write_text(json.dumps(log["logs"], indent=2))
    alone, whole = FILES.read(tmp_path)
    assert whole == replace(record, seed=0, rules=Rules())
    assert (alone.moves, alone.score, alone.is_wall_known) == (record.moves, record.score, False)


def test_what_the_referee_says_of_hands_is_read_from_botzones_logs(records: list[GameRecord]) -> None:
    hows = set()
    for record in records:
        log, end = game_log(record), positions(record)[-1]
        if end["winner"] == NO_SEAT or end["loser"] not in (NO_SEAT, end["turn"]):
            continue
        winner, turn, is_drawn = int(end["winner"]), int(end["turn"]), end["loser"] == NO_SEAT
        shown = [entry["output"] for entry in log["logs"][::2]]
        for output in shown:
            output["display"] = {"action": "DRAW", "player": 0, "canHu": [-4] * 4}
        shown[0]["display"] = {"action": "INIT", "canHu": [0] * 4}
        told = "DRAW" if is_drawn else shown[-2]["content"]["0"].split()[2]
        fans = [record.fan if seat == winner else -4 if is_drawn else 12 if seat == turn else -3 for seat in range(4)]
        shown[-2]["display"] = {"action": told, "player": turn, "canHu": fans}
        how = "self" if is_drawn else "rob" if told == "BUGANG" else "ron"
        assert parse_log(log).judged == ((record.fan, winner, how),), "not of a hand with the seat's own discard"
        hows.add(how)
    assert hows >= {"self", "ron"}
    assert parse_log(game_log(records[0])).judged is None


def test_the_text_has_all_but_the_undrawn_tiles(records: list[GameRecord]) -> None:
    for record in records:
        text = record_text(record)
        read = parse_text(text, rules=record.rules)
        assert record_text(read) == text
        assert (read.moves, read.fan, read.score) == (record.moves, record.fan, record.score)
        assert parse_text(text, record.wall, record.rules).wall == record.wall
    other = [*record.wall[1:], record.wall[0]]
    with pytest.raises(ValueError, match="are not those of the walls"):
        parse_text(text, other, record.rules)


def test_a_false_fan_or_score_is_found(records: list[GameRecord]) -> None:
    won = next(record for record in records if record.fan is not None)
    assert won.fan is not None
    with pytest.raises(ValueError, match="the fan of the record is"):
        positions(replace(won, fan=won.fan + 1))
    with pytest.raises(ValueError, match="the score of the record is"):
        positions(replace(won, score=(0, 0, 0, 0)))
    text = record_text(won).replace(f"Score {won.score[0] if won.score else 0}", "Score 1")
    with pytest.raises(ValueError, match="the score of the record is"):
        positions(parse_text(text, rules=won.rules))


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("offender", 7, "offender 7"),
        ("seed", 2**63, "the seed is"),
        ("seed", math.inf, "inf"),
        ("wind", "Up", "not in"),
        ("moves", ["W0"], "W0"),
    ],
)
def test_values_that_no_game_has_are_refused(records: list[GameRecord], key: str, value: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        GameRecord.from_json(records[0].to_json() | {key: value})


@pytest.mark.parametrize("line", ["Player 0 Play", "Player 1 Chi J3"])
def test_a_move_without_its_tile_is_refused(records: list[GameRecord], line: str) -> None:
    lines = record_text(records[0]).splitlines()
    with pytest.raises(ValueError, match=r"this is not a game|cannot"):
        parse_text("\n".join([*lines[: 8 if "Chi" in line else 7], line]))


def test_an_illegal_reply_ends_a_game_on_the_page(records: list[GameRecord]) -> None:
    (deal,) = GAME.viewer_game([replace(records[0], moves=(), score=None, fan=None, offender=2)])["deals"]
    assert deal["result"] == {"kind": "illegal reply", "wins": []}


def test_a_move_of_another_seat_in_a_text_is_refused(records: list[GameRecord]) -> None:
    text = record_text(records[1]).replace("Player 0 Play", "Player 1 Play", 1)
    with pytest.raises(ValueError, match="player 1 cannot play"):
        parse_text(text)


def test_a_referee_asks_and_punishes(records: list[GameRecord]) -> None:
    record = records[0]

    def begun() -> Referee:
        referee = new_referee(record)
        assert [request.split()[:2] for request in referee.requests()] == [["0", str(seat)] for seat in range(4)]
        referee.answer(["PASS"] * 4)
        hand = [KIND_NAMES[kind] for kind in record.wall[21:34][::-1]]
        assert referee.requests()[0] == f"1 0 0 0 0 {' '.join(hand)}"
        referee.answer(["PASS"] * 4)
        assert referee.requests()[1:] == ["3 0 DRAW"] * 3
        return referee

    drawn = KIND_NAMES[record.wall[20]]
    missing = next(name for name in KIND_NAMES if KIND_OF_NAME[name] not in (*record.wall[20:34],))
    for reply in ("PASS", "HU", f"PLAY {missing}", f"GANG {missing}", f"BUGANG {drawn}", "PLAY", "CHI W2 W1", ""):
        referee = begun()
        referee.answer([reply, "PASS", "PASS", "PASS"])
        assert referee.is_over
        assert referee.table["score"].tolist() == [-30, 10, 10, 10]
    referee = begun()
    referee.answer([f"PLAY {drawn}", "PASS", "PASS", "PASS"])
    assert referee.requests() == [f"3 0 PLAY {drawn}"] * 4
    referee.answer(["PASS", "PASS", "PENG", "PASS"])
    assert (referee.is_over, int(referee.table["offender"])) == (True, 2)


HANDS = {1: "W46 T1", 2: "W55 T9", 3: "W34 T123456789 B55"}
"""Seat 0 discards W5: seat 1 can chow it, seat 2 pung it, and seat 3 wins with it."""


@pytest.mark.parametrize(
    ("replies", "offender", "told"),
    [
        (("PASS", "CHI W5 T1", "PASS", "PASS"), None, "3 1 CHI W5 T1"),
        (("PASS", "CHI W5 T1", "PENG T9", "PASS"), None, "3 2 PENG T9"),
        (("PASS", "CHI W9 T1", "PENG T9", "PASS"), None, "3 2 PENG T9"),
        (("PASS", "CHI W9 T1", "PASS", "PASS"), 1, None),
        (("PASS", "CHI W5 W4", "PASS", "PASS"), 1, None),
        (("PASS", "PENG T1", "PENG T9", "PASS"), 1, None),
        (("PASS", "PASS", "PENG W9", "PASS"), 2, None),
        (("PASS", "PASS", "GANG", "PASS"), 2, None),
        (("PASS", "PASS", "PASS", "CHI W5 T1"), 3, None),
        (("HU", "PASS", "PASS", "HU"), 0, None),
        (("PASS", "HU", "PENG T9", "HU"), 1, None),
        (("PASS", "CHI W9 T1", "PENG W9", "HU"), None, None),
        (("PASS", "pass", "PASS", "PASS"), 1, None),
    ],
)
def test_a_referee_examines_wins_then_pungs_then_chows(
    replies: tuple[str, ...], offender: int | None, told: str | None
) -> None:
    referee = new_referee(record_of(Course(HANDS, {0: "W5"}).table, Rules()))
    for own in (["PASS"] * 4, ["PASS"] * 4, ["PLAY W5", "PASS", "PASS", "PASS"], replies):
        referee.answer(own)
    assert (None if referee.table["offender"] == NO_SEAT else int(referee.table["offender"])) == offender
    assert referee.is_over == (told is None)
    assert told is None or referee.requests() == [told] * 4
    assert referee.table["winner"] == (3 if offender is None and told is None else NO_SEAT)


def test_a_referee_tells_kongs_and_lets_only_added_ones_be_robbed() -> None:
    concealed = Course({0: "F1111 W123456 T34 B9"}, {0: "W8 W9"})
    referee = new_referee(record_of(concealed.table, Rules()))
    for own in (["PASS"] * 4, ["PASS"] * 4, ["GANG F1", "PASS", "PASS", "PASS"]):
        referee.answer(own)
    assert referee.requests() == ["3 0 GANG"] * 4
    referee.answer(["PASS"] * 4)
    assert referee.requests() == ["2 W9", *["3 0 DRAW"] * 3]
    hands = {0: "T5 F3", 1: "T55 W1 F4", 2: "T34 W123456789 B55"}
    course = Course(hands, {0: "F1", 1: "T5"}).play("0 T5", "1 pung", "2 pass", "1 F4")
    course.passes().discard().discard().play("0 F3").passes().play("1 kong T5")
    for end, offender in (("win", None), ("pass", None)):
        played = Course(hands, {0: "F1", 1: "T5"})
        moves = course.table["moves"][: course.table["num_decisions"]].tolist()
        for move in (*moves, MOVES[end]):
            played.play(f"{played.table['actor']} {move_text(move)}")
        record = record_of(played.table, Rules())
        log = game_log(record)
        sent = [entry["output"]["content"]["0"] for entry in log["logs"][::2]]
        assert ("3 1 BUGANG T5" in sent, record.offender) == (True, offender)
        assert parse_log(log).moves == record.moves


def seat_log(record: GameRecord, seat: int) -> dict[str, Any]:
    """Return what the program of a seat gets and replies in a game."""
    logs = game_log(record)["logs"]
    sent = [entry["output"]["content"][str(seat)] for entry in logs[::2] if entry["output"]["command"] == "request"]
    return {"_id": record.id, "requests": sent, "responses": [entry[str(seat)]["response"] for entry in logs[1::2]]}


def events_seen(record: GameRecord, seat: int) -> list[list[str]]:
    """Return the words of all events that a seat sees, without the draws after which nothing was recorded."""
    lines = [line.split(" Ignore ")[0].split()[1:] for line in record_text(record).splitlines() if line[:6] == "Player"]
    events = [
        words[: 2 if words[1] == "AnGang" and words[0] != str(seat) else None]
        for words in lines
        if words[1] not in ("Deal", "Draw") or words[0] == str(seat)
    ]
    return events[:-1] if events[-1][1] in ("Draw", "Hu") else events


@pytest.mark.parametrize("seat", range(4))
def test_the_log_of_one_seat_has_what_the_seat_saw(seat: int, records: list[GameRecord], tmp_path: Path) -> None:
    (tmp_path / "seat.json").write_text(
        "\n".join(
            json.dumps(seat_log(replace(record, rules=Rules()), seat)) for record in records if record.fan is None
        )
    )
    assert game_of_records(tmp_path / "seat.json") == "mcr"
    drawn = [record for record in records if record.fan is None]
    read = list(FILES.read(tmp_path / "seat.json"))
    assert len(read) == len(drawn) > 3
    for found, record in zip(read, drawn, strict=True):
        assert (found.seen_by, found.round_wind, found.is_wall_known) == (seat, record.round_wind, False)
        seen, whole = events_seen(found, seat), events_seen(record, seat)
        assert seen == whole[: len(seen)]
        assert len(whole) - len(seen) <= 1
        assert GameRecord.from_json(json.loads(json.dumps(found.to_json()))) == found
    with pytest.raises(ValueError, match=f"only seat {seat} saw this game"):
        LEARNING.positions(read[0])


def test_a_log_of_one_seat_with_another_word_or_a_fifth_tile_is_refused() -> None:
    hand = "1 0 0 0 0 W1 W1 W1 W1 W2 W3 W4 W5 W6 W7 W8 W9 T1"
    for requests, fault in (
        (["0 0 0", hand, "3 1 BUHUA H1"], "is missing or wrong"),
        (["0 0 0", hand, "2 W1"], "more than four W1"),
        (["0 0"], "is missing or wrong"),
    ):
        with pytest.raises(ValueError, match=fault):
            parse_seat_log({"requests": requests, "responses": ["PASS"] * 3})


def test_a_false_word_of_a_referee_is_found(records: list[GameRecord]) -> None:
    won = next(record for record in records if record.fan is not None)
    judged, _ = judged_values(won)
    assert replay(replace(won, judged=tuple(judged))).counts["judged_hands"] > 20
    fan, seat, how = judged[-1]
    with pytest.raises(ValueError, match="the record's referee said"):
        replay(replace(won, judged=(*judged[:-1], (fan + 1, seat, how))))
    with pytest.raises(ValueError, match="by the rules it is"):
        replay(replace(won, judged=tuple(judged[:-1])))


def test_real_games_are_verified(real_games: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_text("\n".join(map(json.dumps, real_games[40:70])))
    report = GAME.record_tools.verify([tmp_path], seen=lambda share, games: None)
    assert (report.games, report.differences, report.counts["scores"]) == (30, 0, 30)
    assert report.counts["judged_hands"] > 2000
