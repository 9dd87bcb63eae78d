"""Many hands side by side, their records as JSON and text, and what the terminal and the page show of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suphx.games.dazhong.game import GAME
from suphx.games.dazhong.records import FILES, HandRecord, positions, record_text
from suphx.games.dazhong.table import ENDED, MOVES, NUM_ACTIONS, NUM_TILES, Rules, move_text
from suphx.games.dazhong.tables import DazhongTables, ScriptedAgent
from suphx.games.game import PlayedGame
from suphx.games.registry import game_of_records

STEPS = {"draw", "discard", "ting", "chi", "pon", "minkan", "ankan", "kakan", "end"}
PLAYERS = ("Anna", "Ben", "Cleo", "Dan")


def play(num_hands: int, rules: Rules, agent: str, first_seed: int = 0) -> list[PlayedGame]:
    tables, player = DazhongTables(num_hands, rules), ScriptedAgent(agent)
    tables.begin(np.arange(num_hands), range(first_seed, first_seed + num_hands))
    while (waiting := tables.waiting()).size:
        tables.advance(waiting, player.act(tables.state, waiting))
    assert (tables.state["fan"].sum(axis=1) == 0).all()
    assert tables.take_ended().tolist() == list(range(num_hands))
    assert not tables.take_ended().size
    return [tables.take_game(index, str(index), PLAYERS) for index in range(num_hands)]


@pytest.fixture(scope="module")
def records() -> list[HandRecord]:
    return [game.record for game in play(12, Rules(), "random") + play(12, Rules(ting="paper"), "random", 12)]


def test_a_hand_does_not_depend_on_how_many_are_played_beside_it() -> None:
    hands = play(9, Rules(), "random")
    for seed in (0, 5):
        (alone,) = play(1, Rules(), "random", seed)
        assert (alone.record, alone.points) == (hands[seed].record, hands[seed].points)


def test_wins_are_worth_more_than_payments_in_a_match() -> None:
    points = np.array([game.points for game in play(40, Rules(), "random")])
    wins, fan = np.divmod(points + 500, 1000)
    assert set(np.unique(wins)) == {0, 1}
    assert (fan - 500).sum(axis=1).tolist() == [0] * 40
    places, _ = GAME.scoring.settle(points, [()] * 40)
    assert (places[wins.sum(axis=1) == 1][wins[wins.sum(axis=1) == 1] == 1] == 1).all()


def test_records_are_read_as_they_were_written_and_played_again(records: list[HandRecord], tmp_path: Path) -> None:
    for name in ("hands.jsonl", "hands.txt"):
        FILES.write(records, tmp_path / name)
        assert list(FILES.read(tmp_path / name)) == records
        assert game_of_records(tmp_path / name) == "dazhong"
    assert len(list(FILES.read(tmp_path))) == 2 * len(records)
    again = positions(records[0])
    assert again["num_decisions"].tolist() == list(range(len(records[0].moves) + 1))
    assert again[-1]["moves"][: len(records[0].moves)].tolist() == list(records[0].moves)


def test_parts_of_a_match_are_joined_in_the_order_of_its_walls(records: list[HandRecord], tmp_path: Path) -> None:
    for number, first in enumerate((1, 11, 2)):
        GAME.write_records([records[number]], tmp_path / f"walls-{first}-{first}{GAME.record_suffix}")
    GAME.join_records(tmp_path)
    GAME.join_records(tmp_path)
    assert list(GAME.read_records(tmp_path)) == [records[0], records[2], records[1]]
    assert [path.name for path in tmp_path.iterdir()] == ["hands.jsonl"]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.jsonl", '{"game": "dazhong"}', "hand 1: this is no hand"),
        ("a.jsonl", "{", "hand 1"),
        ("a.txt", "game: dazhong", "hand 1: this is no hand"),
        ("a.txt", "{text}wall: 1m", "hand 2"),
    ],
)
def test_what_cannot_be_read_is_named(
    name: str, content: str, fault: str, records: list[HandRecord], tmp_path: Path
) -> None:
    text = record_text(records[0])
    (tmp_path / name).write_text(content.replace("{text}", f"{text}\n"), encoding="utf-8")
    with pytest.raises(ValueError, match=fault):
        list(FILES.read(tmp_path))


def test_an_illegal_move_of_a_record_is_named(records: list[HandRecord]) -> None:
    values = records[0].to_json()
    values["moves"][3] = "chow 123m" if values["moves"][3] != "chow 123m" else "chow 234m"
    damaged = HandRecord.from_json(values)
    with pytest.raises(ValueError, match=r"move 4, .*chow .* is not legal"):
        positions(damaged)
    with pytest.raises(ValueError, match="hand 7: move 4"):
        GAME.viewer_game([damaged], first=7)


def test_every_move_has_a_text_of_its_own() -> None:
    assert len(MOVES) == NUM_ACTIONS - 6
    assert all(
        move_text(move) == text == move_text(GAME.text.read_move(Rules(), f" {text.upper()}"))
        for text, move in MOVES.items()
    )
    with pytest.raises(ValueError, match="is no move"):
        GAME.text.read_move(Rules(), "8z")


def test_a_seat_sees_its_own_tiles_only() -> None:
    tables = DazhongTables(1, Rules())
    tables.begin([0], [7])
    actor = int(tables.state["actor"][0])
    lines = GAME.text.seat_lines(tables, 0, actor)
    assert lines[-1].startswith("Your moves: ")
    assert "drawn" in lines[-2]
    tables.state["wall"] = 0
    tables.state["hand"][0, [seat for seat in range(4) if seat != actor]] = 0
    assert GAME.text.seat_lines(tables, 0, actor) == lines
    other = GAME.text.seat_lines(tables, 0, (actor + 1) % 4)
    assert not any("moves" in line or "drawn" in line for line in other)
    assert GAME.text.end_lines(tables, 0) == ["not finished"]


def test_the_page_has_every_tile_at_every_step(records: list[HandRecord]) -> None:
    records = records + [game.record for game in play(20, Rules(), "fanfou_op")]
    shown = GAME.viewer_game(records, first=3)
    assert [deal["number"] for deal in shown["deals"]] == list(range(3, 3 + len(records)))
    assert {step["kind"] for deal in shown["deals"] for step in deal["steps"]} >= STEPS
    for record, deal in zip(records, shown["deals"], strict=True):
        last = positions(record)[-1]
        state, won = dict(deal["start"]), deal["result"]["wins"]
        num_draws = 0
        for step in deal["steps"]:
            num_draws += step["kind"] == "draw"
            state.update(step["changes"])
            tiles = sum(len(state[f"hand{seat}"]) + len(state[f"river{seat}"]) for seat in range(4))
            tiles += sum(len(meld["faces"]) for seat in range(4) for meld in state[f"melds{seat}"])
            claimed = len(won) if step["kind"] == "end" and won and won[0]["seat"] != won[0]["loser"] else 0
            assert tiles + len(state["drawn"]) - claimed + state["left"] == NUM_TILES
        assert num_draws == NUM_TILES - 52 - last["wall_left"]
        assert [step["kind"] for step in deal["steps"]].count("end") == (last["phase"] == ENDED)
        assert state["scores"] == deal["after"] == last["fan"].tolist()
        assert [win["fan"] for win in won] == [fan for fan in last["win_fan"].tolist() if fan]
        assert state["open"] == [win["seat"] for win in won]


def test_what_is_wrong_with_a_call_is_named() -> None:
    tables = DazhongTables(2, Rules())
    tables.begin(np.arange(2), [1, 2])
    wrong = next(move for move in range(NUM_ACTIONS) if not tables.state[1]["legal"][move])
    legal = [int(np.flatnonzero(row)[0]) for row in tables.state["legal"]]
    for indices, moves, fault in (
        ([0, 1], [legal[0], wrong], "table 1, .* is not legal; legal: "),
        ([0, 0], [legal[0], legal[0]], "named twice"),
        ([2], [0], "no table 2"),
        ([0], [NUM_ACTIONS], "not legal"),
    ):
        before = tables.state.copy()
        with pytest.raises(ValueError, match=fault):
            tables.advance(indices, moves)
        assert (tables.state == before).all()
    with pytest.raises(ValueError, match="seeds are -1"):
        tables.begin([0], [-1])
    with pytest.raises(ValueError, match="'nobody' is no scripted agent"):
        ScriptedAgent("nobody")
    with pytest.raises(ValueError, match="ting is 'maybe'"):
        GAME.new_rules({"ting": "maybe"})
    assert GAME.new_rules(GAME.rules_values(Rules(ting="paper"))) == Rules(ting="paper")
