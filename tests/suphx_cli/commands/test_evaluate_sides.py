"""``suphx evaluate`` for DouDizhu: agents by every kind of name, and what is refused."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation.kept_results import KeptResults
from suphx.games.doudizhu.records.game_record import read_records
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.training.value_nets import ValueNets, new_nets, save_value_nets
from suphx_cli import cli
from suphx_cli.commands import evaluate as command_module
from suphx_pipelines.tournament.history import game_sources

GAME = candidate_game("doudizhu")


def evaluate(capsys: pytest.CaptureFixture[str], candidate: object, opponent: str, *words: str) -> dict[str, Any]:
    arguments = ["evaluate", "--candidate", str(candidate), "--opponent", opponent, *words, "--json"]
    assert cli.main(arguments) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def nets(folder: Path, rules: Rules, seed: int = 1) -> Path:
    folder.mkdir()
    save_value_nets(folder, ValueNets(GAME, rules, new_nets(GAME, seed)))
    return folder


def test_scripted_agents_play_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    found = evaluate(capsys, "rule", "random", "--game", "doudizhu", "--decks", "200", "--seed", "3")
    assert (found["game"], found["decks"], found["seed"], found["outcome"]) == ("doudizhu", 200, 3, "better")
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
        side, players = (
            ("peasant", ("opponent", "candidate", "candidate"))
            if number % 2
            else (
                "landlord",
                ("candidate", "opponent", "opponent"),
            )
        )
        assert record.players == players
        assert record.hands == records[number - number % 2].hands
        wins[side] += (record.winner == "landlord") == (side == "landlord")
    for side, count in wins.items():
        assert found[f"wp_{side}"]["mean"] == count / 5


def test_a_sequential_match_stops_and_measures_on_new_decks(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rule", "random", "--game", "doudizhu", "--sequential", "0.2", "--error", "0.05"]
    found = evaluate(capsys, *words)
    assert (found["verdict"], found["difference"], found["error"]) == ("better", 0.2, 0.05)
    assert found["decks"] < 100
    assert found["fresh_match"]["decks"] == 2000
    assert found["fresh_match"]["share"]["interval"][0] > 0.9
    assert evaluate(capsys, *words) | {"seconds": 0} == found | {"seconds": 0}
    assert cli.main(["evaluate", "--candidate", "random", "--opponent", "rule", *words[2:]]) == 0
    captured = capsys.readouterr()
    assert "random is not better than rule by 20 % of the games won: decided after" in captured.err
    assert "not_better" in captured.out


@pytest.mark.parametrize("options", [["--decks", "600"], ["--decks", "600", "--keep-games"], ["--sequential", "0.2"]])
def test_a_stopped_match_goes_on_with_its_finished_decks_and_ends_the_same(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = KeptResults.write

    def write_and_stop(kept: KeptResults, key: str, result: dict[str, Any]) -> None:
        write(kept, key, result)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(command_module, "_FRESH_DECKS", 24)
    results, records = [], []
    for name, stops in (("whole", False), ("stopped", True)):
        games = tmp_path / f"{name}-games"
        command = ["evaluate", "--candidate", "rule", "--opponent", "random", "--game", "doudizhu", *options]
        command += [str(games)] if options[-1] == "--keep-games" else []
        command += ["--runs", str(tmp_path / name), "--json"]
        if stops:
            with monkeypatch.context() as patch:
                patch.setattr(KeptResults, "write", write_and_stop)
                assert cli.main(command) == 130
            assert "1 finished part of the match saved. Continue with: " in capsys.readouterr().err
            assert not list(games.glob("*.jsonl")), "records of half a match look like those of a whole one"
        assert cli.main(command) == 0
        printed = capsys.readouterr()
        assert (f"match: continuing after 1 finished part of it; remove {tmp_path}" in printed.err) == stops
        results.append(json.loads(printed.out.splitlines()[-1]) | {"seconds": 0})
        records.append({path.name: path.read_bytes() for path in games.glob("*")})
        assert not list((tmp_path / name).glob("*")), "nothing is left of a finished match"
    assert results[0] == results[1]
    assert records[0] == records[1]


def test_the_code_that_reads_answers_of_programs_decides_a_match() -> None:
    assert "suphx_platform/agents/side_program.py" in game_sources(command_module._CODE)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rule", "rul", "--game", "doudizhu"], "'rul' is no agent for doudizhu: did you mean 'rule'?"),
        (["rule", ".", "--game", "doudizhu"], "'.' has no nets for doudizhu (landlord.safetensors"),
        (["rule", "random", "--game", "doudizhu", "--hanchans", "8"], "--hanchans has no meaning for doudizhu"),
        (
            ["rule", "random", "--game", "doudizhu", "--keep-games", __file__],
            "which is not an empty folder: name a new",
        ),
        (["rule", "random", "--game", "doudizhu", "--decks", "1"], "1 deals have no interval: play at least 2"),
        (["rule", "random", "--game", "doudizhu", "--seed", "65537"], "--seed is 65,537: use 0 to 65,536"),
        (["rule", "random", "--game", "doudizhu", "--error", "0.1"], "--error is for a match that stops once it is"),
        (
            ["rule", "random", "--game", "doudizhu", "--sequential", "0.5"],
            "difference is 0.5: use more than 0",
        ),
        (["rule", "random", "--game", "doudizhu", "--sequential", "0.1", "--decks", "23"], "decks is 23: use at"),
        (
            ["rule", "random", "--game", "doudizhu", "--sequential", "0.1", "--keep-games", "games"],
            "--keep-games keeps matches of a fixed length: leave out --sequential",
        ),
        (["ukeire", "tsumogiri", "--decks", "8"], "--decks is for games of two sides, such as --game doudizhu"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    candidate, opponent, *options = words
    code = 1 if {"rul", ".", __file__} & set(words) else 2  # agents and files, or options alone
    assert cli.main(["evaluate", "--candidate", candidate, "--opponent", opponent, *options]) == code
    assert message in capsys.readouterr().err.splitlines()[-1]
