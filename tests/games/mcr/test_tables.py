"""Many games side by side, scripted agents, and what the terminal and the page show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suphx.games.game import PlayedGame
from suphx.games.mahjong.shanten import load_suits
from suphx.games.mcr.agents import best_shanten
from suphx.games.mcr.engine import count_unseen
from suphx.games.mcr.game import GAME
from suphx.games.mcr.names import AGENTS
from suphx.games.mcr.table import KIND_OF_NAME, KONG, MOVES, NUM_ACTIONS, Rules, move_text
from suphx.games.mcr.tables import McrTables, ScriptedAgent

PLAYERS = ("Anna", "Ben", "Cleo", "Dan")


def play(num_games: int, rules: Rules, agent: str, first_seed: int = 0) -> list[PlayedGame]:
    tables, player = McrTables(num_games, rules), ScriptedAgent(agent)
    tables.begin(np.arange(num_games), range(first_seed, first_seed + num_games))
    while (waiting := tables.waiting()).size:
        tables.advance(waiting, player.act(tables.state, waiting))
    assert (tables.state["score"].sum(axis=1) == 0).all()
    assert tables.take_ended().tolist() == list(range(num_games))
    return [tables.take_game(index, str(index), PLAYERS) for index in range(num_games)]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_game_does_not_depend_on_how_many_are_played_beside_it(agent: str) -> None:
    games = play(6, Rules(), agent)
    for seed in (0, 4):
        (alone,) = play(1, Rules(), agent, seed)
        assert (alone.record.moves, alone.points) == (games[seed].record.moves, games[seed].points)


def test_what_a_player_did_is_counted() -> None:
    games = play(30, Rules(minimum_fan=1), "shanten")
    counted = [GAME.scoring.count(game.record, "Ben", (4, 1, 2, 3)) for game in games]
    sums = dict(zip(GAME.scoring.counters, np.array(counted).sum(axis=0).tolist(), strict=True))
    assert (sums["games"], sums["place"], sums["first"]) == (30, 30, 30)
    assert 0 < sums["wins"] < sums["decided"] <= 30
    assert sums["score"] == sum(game.points[1] for game in games)
    assert GAME.scoring.count(games[0].record, "Eve", (1, 2, 3, 4)) is None
    assert {name for pair in GAME.scoring.ratios.values() for name in pair} <= set(GAME.scoring.counters)


def hand(text: str) -> np.typing.NDArray[np.int8]:
    counts = np.zeros(34, np.int8)
    for group in text.split():
        for digit in group[1:]:
            counts[KIND_OF_NAME[f"{group[0]}{digit}"]] += 1
    return counts


@pytest.mark.parametrize(
    ("text", "num_melds", "shanten"),
    [
        ("W123 T456 B789 F11 J12", 0, 1),
        ("W123 T456 B789 F11 J22", 0, 0),
        ("W1199 T2255 B3366 F1", 0, 0),
        ("W1111 T2255 B3366 F1", 0, 0),
        ("W19 T19 B19 F1234 J123", 0, 0),
        ("W147 B258 T369 F1234", 0, 0),
        ("W147 B258 T369 F1234 J1", 0, -1),
        ("W147 B25 T36 F1234 J123", 0, -1),
        ("W147 B258 T369 W11 B12", 0, 0),
        ("W147 B258 T369 W11 B123", 0, -1),
        ("W147 B258 T369 F1", 1, 0),
        ("W147 B258 T36 F11", 1, 0),
        ("W14 B258 T36", 2, 4),
    ],
)
def test_shanten_is_over_all_forms_of_hands(text: str, num_melds: int, shanten: int) -> None:
    assert best_shanten(load_suits(), hand(text), num_melds) == shanten


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_reads_nothing_that_is_hidden(agent: str) -> None:
    tables, player = McrTables(8, Rules()), ScriptedAgent(agent)
    tables.begin(np.arange(8), range(8))
    rng = np.random.default_rng(1)
    for _ in range(60):
        waiting = tables.waiting()
        moves = player.act(tables.state, waiting)
        hidden = tables.state.copy()
        for index, seat in zip(waiting.tolist(), tables.actors(waiting).tolist(), strict=True):
            hidden[index]["hand"][[other for other in range(4) if other != seat]] = rng.integers(0, 4, (3, 34))
            hidden[index]["wall"] = rng.permutation(136)
        assert (player.act(hidden, waiting) == moves).all()
        unseen = np.zeros(34, np.int8)
        count_unseen(tables.state[0], int(tables.state[0]["actor"]), unseen)
        assert unseen.min() >= 0
        tables.advance(waiting, moves)


def test_every_move_has_a_text_of_its_own() -> None:
    assert all(MOVES[text] == GAME.text.read_move(Rules(), f" {text.upper()}") for text in MOVES)
    with pytest.raises(ValueError, match="is no move"):
        GAME.text.read_move(Rules(), "8z")


def test_a_seat_sees_its_own_tiles_only() -> None:
    tables, player = McrTables(1, Rules()), ScriptedAgent("random")
    tables.begin([0], [7])
    for _ in range(30):
        tables.advance([0], player.act(tables.state, np.zeros(1, np.int64)))
    actor = int(tables.state["actor"][0])
    lines = GAME.text.seat_lines(tables, 0, actor)
    assert lines[-1].startswith("Your moves: ")
    tables.state["wall"] = 0
    tables.state["hand"][0, [seat for seat in range(4) if seat != actor]] = 0
    assert GAME.text.seat_lines(tables, 0, actor) == lines
    assert not any("moves" in line for line in GAME.text.seat_lines(tables, 0, (actor + 1) % 4))
    assert GAME.text.end_lines(tables, 0) == ["not finished"]


def test_the_page_has_each_step_and_result() -> None:
    games = play(12, Rules(minimum_fan=1), "shanten")
    records = [game.record for game in games]
    shown = GAME.viewer_game([*records, replace(records[0], moves=(), score=None, fan=None, offender=2)], first=3)
    assert [deal["number"] for deal in shown["deals"]] == list(range(3, 16))
    assert shown["deals"][0]["players"] == list(PLAYERS)
    for deal, record in zip(shown["deals"], records, strict=False):
        discards = [step["faces"][0] for step in deal["steps"] if step["kind"] == "discard"]
        assert discards == [move for move in record.moves if move < KONG]
        assert deal["after"] == list(record.score or ())
        assert [win["fan"] for win in deal["result"]["wins"]] == ([] if record.fan is None else [record.fan])
        assert [deal["result"]["kind"]] == (["win"] if record.fan is not None else ["empty wall"])
    assert shown["deals"][-1]["result"] == {"kind": "illegal reply", "wins": []}


def test_what_is_wrong_with_a_call_is_named() -> None:
    tables = McrTables(2, Rules())
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
    with pytest.raises(ValueError, match="knitted_straight_waits is '1998'"):
        GAME.new_rules({"knitted_straight_waits": "1998"})
    rules = Rules(knitted_straight_waits="2024", mixed_kongs=False)
    assert GAME.new_rules(GAME.rules_values(rules)) == rules
    assert move_text(NUM_ACTIONS) == str(NUM_ACTIONS)
