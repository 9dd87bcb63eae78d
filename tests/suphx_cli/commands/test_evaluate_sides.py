"""``suphx evaluate`` for DouDizhu: agents by every kind of name, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suphx.games.doudizhu.records.game_record import read_records
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx_cli import cli
from suphx_cli.commands import evaluate as command_module
from tests.games.doudizhu.builders import save_nets as nets

GAME = candidate_game("doudizhu")


def evaluate(capsys: pytest.CaptureFixture[str], candidate: object, opponent: str, *words: str) -> dict[str, Any]:
    arguments = ["evaluate", "--candidate", str(candidate), "--opponent", opponent, *words, "--json"]
    assert cli.main(arguments) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_scripted_agents_play_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluate(capsys, "rule", "random", "--game", "doudizhu", "--decks", "200", "--seed", "3")
    assert (found["game"], found["games"], found["seed"], found["outcome"]) == ("doudizhu", 400, 3, "better")
    for side in ("landlord", "peasant"):
        figure = found[f"wp_{side}"]
        assert 0.8 < figure["interval"][0] <= figure["mean"] <= figure["interval"][1]
        assert found[f"adp_{side}"]["mean"] > 0
    again = evaluate(capsys, "rule", "random", "--game", "doudizhu", "--decks", "200", "--seed", "4")
    assert again["share"] != found["share"]


def test_a_folder_of_nets_says_which_game_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = nets(tmp_path / "nets", Rules(scoring="points"))
    assert cli.main(["evaluate", "--candidate", str(own), "--opponent", "rule", "--decks", "2"]) == 0
    captured = capsys.readouterr()
    assert "of the games on both sides together" in captured.err
    assert "landlord" in captured.out


def test_nets_that_know_different_moves_do_not_play_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = nets(tmp_path / "a", Rules()), nets(tmp_path / "b", Rules(douzero_kickers=True))
    assert cli.main(["evaluate", "--candidate", str(one), "--opponent", str(other), "--decks", "2"]) == 1
    assert "learned rules with different moves: they cannot play each other" in capsys.readouterr().err


def test_the_games_are_kept_and_their_points_are_those_of_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "games"
    words = ("--game", "doudizhu", "--decks", "5", "--keep-games", str(folder))
    found = evaluate(capsys, "rule", "random", *words)
    records = list(read_records(folder / "games.jsonl"))
    assert len(records) == 10
    wins = {"landlord": 0, "peasant": 0}
    for number, record in enumerate(records):
        side, players = ("landlord", ("candidate", "opponent", "opponent"))
        if number % 2:
            side, players = "peasant", ("opponent", "candidate", "candidate")
        assert record.players == players
        assert record.hands == records[number - number % 2].hands
        wins[side] += (record.winner == "landlord") == (side == "landlord")
    for side, count in wins.items():
        assert found[f"wp_{side}"]["mean"] == count / 5


def test_a_sequential_match_stops_and_measures_on_new_decks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "_FRESH_DECKS", 200)
    words = ["rule", "random", "--game", "doudizhu", "--sequential", "0.2", "--error", "0.05"]
    found = evaluate(capsys, *words)
    assert (found["verdict"], found["difference"], found["error"]) == ("better", 0.2, 0.05)
    assert found["deals"] < 100
    assert found["fresh_match"]["deals"] == 200
    assert found["fresh_match"]["share"]["interval"][0] > 0.9
    assert evaluate(capsys, *words) | {"seconds": 0} == found | {"seconds": 0}
    assert cli.main(["evaluate", "--candidate", "random", "--opponent", "rule", *words[2:]]) == 0
    captured = capsys.readouterr()
    assert "random is not better than rule by 20 % of the games won: decided after" in captured.err
    assert "not_better" in captured.out
