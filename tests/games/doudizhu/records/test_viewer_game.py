"""Recorded games as the viewer shows them: states, steps, results, and what an agent would do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.doudizhu.cards import parse_cards
from suphx.games.doudizhu.features import move_columns
from suphx.games.doudizhu.records.game_record import GameRecord, record_of
from suphx.games.doudizhu.records.game_record import record_text as text_of
from suphx.games.doudizhu.selfplay import DouDizhuTables, ScriptedPlayer
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.kernel.record import I64
from suphx.selfplay.agents.opinion import candidate_opinions
from suphx.selfplay.rollouts.rollout import play_games

GAME = candidate_game("doudizhu")


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    """Return games of the rule agent, with bombs in some of them."""
    agents, seating = [ScriptedPlayer("rule")] * 3, np.array([[0, 1, 2]] * 30)
    return list(play_games(agents, seating, range(30), Rules(), game="doudizhu", names=("A", "B", "C")))


def packed(ranks: list[int]) -> int:
    return sum(1 << 4 * rank for rank in ranks)


def states(deal: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the state at the start and after each step, as the page computes them."""
    found = [dict(deal["start"])]
    for step in deal["steps"]:
        found.append({**found[-1], **step["changes"]})
    return found


def test_a_game_that_has_not_begun_is_shown_beside_others(records: list[GameRecord]) -> None:
    games = [records[0], replace(records[1], moves=())]
    opinions = [candidate_opinions(GAME.recorded_decisions(game), ScriptedPlayer("rule")) for game in games]
    values = GAME.viewer_game(games, opinions)
    assert [any(step["decisions"] for step in deal["steps"]) for deal in values["deals"]] == [True, False]


def test_states_follow_the_moves_of_the_record(records: list[GameRecord]) -> None:
    values = GAME.viewer_game(records)
    assert (values["game"], values["names"]) == ("doudizhu", ["landlord", "landlord_down", "landlord_up"])
    for number, (record, deal) in enumerate(zip(records, values["deals"], strict=True), 1):
        assert (deal["number"], deal["players"]) == (number, ["A", "B", "C"])
        start, dealt, *after = states(deal)
        assert [len(start[f"hand{seat}"]) for seat in range(3)] == [17, 17, 17]
        assert start["bottom"] == [-1, -1, -1]
        assert packed(dealt["bottom"]) == parse_cards(record.bottom)
        assert [packed(dealt[f"hand{seat}"]) for seat in range(3)] == [parse_cards(hand) for hand in record.hands]
        hands = [parse_cards(hand) for hand in record.hands]
        to_beat = -1
        for index, (move, state) in enumerate(zip(record.moves, after, strict=False)):
            step, seat = deal["steps"][index + 1], index % 3
            assert (step["seat"], packed(step["faces"])) == (seat, parse_cards(move))
            assert step["kind"] == ("pass" if move == "pass" else "play")
            hands[seat] -= parse_cards(move)
            assert [packed(state[f"hand{each}"]) for each in range(3)] == hands
            assert state["last"][seat] == {"faces": step["faces"], "type": step["type"], "is_old": False}
            is_lead = to_beat < 0
            if move != "pass":
                to_beat = seat
            elif to_beat == (seat + 1) % 3:
                to_beat = -1
            assert state["to_beat"] == to_beat
            others = [state["last"][each] for each in range(3) if each != seat]
            assert not is_lead or all(last is None or last["is_old"] for last in others)
        end = after[-1]
        assert deal["steps"][-1]["kind"] == "end"
        assert (end["turn"], end["open"]) == (-1, [0, 1, 2])
        bombs = sum(move == "BR" or (len(move) == 4 and len(set(move)) == 1) for move in record.moves)
        assert end["bombs"] == bombs
        winner = deal["result"]["winner"]
        assert record.winner == values["names"][winner]
        assert deal["result"]["stake"] == 2**bombs
        signs = [1, -1, -1] if winner == 0 else [-1, 1, 1]
        assert deal["result"]["points"] == [sign * 2**bombs for sign in signs]
    assert max(deal["result"]["stake"] for deal in values["deals"]) > 1


def test_a_game_without_an_end_is_shown_as_far_as_it_was_played(records: list[GameRecord]) -> None:
    whole = records[0]
    part = GameRecord(rules=whole.rules, hands=whole.hands, bottom=whole.bottom, moves=whole.moves[:4])
    (deal,) = GAME.viewer_game([part])["deals"]
    assert deal["result"] == {"winner": None, "bombs": 0, "stake": 1, "points": [0, 0, 0]}
    assert deal["players"] is None
    assert len(deal["steps"]) == 1 + 4
    assert states(deal)[-1]["turn"] == 1
    illegal = GameRecord(rules=whole.rules, hands=whole.hands, bottom=whole.bottom, moves=("pass",))
    with pytest.raises(ValueError, match="move 1, landlord: pass is not legal"):
        GAME.viewer_game([illegal])


def test_bids_are_steps_before_the_bottom_cards() -> None:
    rules = Rules(bidding=True, scoring="points")
    simulator = DouDizhuTables(20, rules)
    simulator.reset(range(20))
    shown = GAME.viewer_game([record_of(table, rules) for table in simulator.tables])["deals"]
    for deal, table in zip(shown, simulator.tables, strict=True):
        kinds = [step["kind"] for step in deal["steps"]]
        num_bids = int((table["bids"] >= 0).sum())
        assert set(kinds[:num_bids]) <= {"bid", "no bid"}
        assert kinds[num_bids] == "bottom"
        assert [step["seat"] for step in deal["steps"][:num_bids]] == [
            (int(table["first_bidder"]) + turn) % 3 for turn in range(num_bids)
        ]
        assert [step["bid"] for step in deal["steps"][:num_bids] if step["seat"] == 0] == [int(table["stake"])]
        assert states(deal)[-1]["stake"] == deal["result"]["stake"] == table["stake"]


class CardCounter:
    """Values a move by its number of cards: it plays as many as possible."""

    name = "counter"

    def candidate_values(self, tables: DouDizhuTables, indices: I64) -> Any:
        return move_columns(Rules().load_moves())[tables.legal(indices)[1]].sum(axis=1).astype(np.float32) / 10

    def act(self, tables: DouDizhuTables, indices: I64) -> I64:
        raise AssertionError("its values are enough")


def test_an_agent_with_values_is_shown_beside_the_players(records: list[GameRecord]) -> None:
    opinions = [candidate_opinions(GAME.recorded_decisions(record), CardCounter()) for record in records]
    values = GAME.viewer_game(records, opinions)
    found = [
        (deal, index, each)
        for deal in values["deals"]
        for index, step in enumerate(deal["steps"])
        for each in step["decisions"]
    ]
    assert values["num_decisions"] == len(found) > 300
    assert values["num_differences"] == sum(each["differs"] for _, _, each in found) > 0
    assert any(not each["differs"] for _, _, each in found)
    for deal, index, decision in found:
        step, moves = deal["steps"][index + 1], decision["moves"]
        assert decision["seat"] == step["seat"] == states(deal)[index + 1]["turn"]
        assert moves[decision["played"]]["faces"] == step["faces"]
        best = moves[decision["agent"]]
        assert best["value"] == max(move["value"] for move in moves)
        assert decision["differs"] == (decision["agent"] != decision["played"])
        assert len(moves) <= 6
        for move in moves:
            assert move["value"] == pytest.approx(len(move["faces"]) / 10)
            assert 0.5 <= move["p"] <= 1
        ordered = [move["value"] for move in moves[:5]]
        assert ordered == sorted(ordered, reverse=True)
        assert decision["more"] >= 0
        assert decision["more"] == 0 or len(moves) >= 5


def test_a_scripted_agent_agrees_with_its_own_games(records: list[GameRecord]) -> None:
    opinions = [candidate_opinions(GAME.recorded_decisions(record), ScriptedPlayer("rule")) for record in records]
    values = GAME.viewer_game(records, opinions)
    assert values["num_decisions"] > 300
    assert values["num_differences"] == 0
    decision = next(each for step in values["deals"][0]["steps"] for each in step["decisions"])
    assert [move["value"] for move in decision["moves"]] == [None]


def test_records_are_read_from_text_json_and_folders(tmp_path: Path, records: list[GameRecord]) -> None:
    (tmp_path / "b.txt").write_text(text_of(records[0]), encoding="utf-8")
    (one,) = GAME.read_records(tmp_path / "b.txt")
    assert (one.hands, one.moves, one.players) == (records[0].hands, records[0].moves, None)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match="has no records: they end in"):
        list(GAME.read_records(empty))
    (tmp_path / "c.txt").write_text("landlord_down: 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"c.txt: this text has no line 'landlord'"):
        list(GAME.read_records(tmp_path))
