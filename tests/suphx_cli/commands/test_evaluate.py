"""``suphx evaluate``: agents by every kind of name, matches of every kind, records of their games, and resuming."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation import deal_match
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.player_statistics import player_statistics
from suphx.games.doudizhu.records.game_record import read_records
from suphx.games.doudizhu.table import Rules
from suphx.games.riichi import game
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.tables import RiichiScoring
from suphx_cli import cli
from suphx_cli.commands import evaluate as command
from suphx_platform.agents.mjai import programs
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.games.doudizhu.builders import save_nets
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.mjai.bot_program import bot

RIICHI = ("--candidate", "ukeire", "--opponent", "tsumogiri", "--workers", "1")
DOUDIZHU = ("--candidate", "rule", "--opponent", "random", "--game", "doudizhu")
Capture = pytest.CaptureFixture[str]


def evaluate(capsys: Capture, *words: object, runs: Path | None = None) -> dict[str, Any]:
    """Run the command and return its JSON, without the seconds."""
    capsys.readouterr()
    more = ["--runs", str(runs)] if runs else []
    assert cli.main(["evaluate", *map(str, words), *more, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found.pop("seconds") >= 0
    return found


@pytest.mark.usefixtures("short_games")
def test_the_champion_plays_under_its_name(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    store = TrackingStore(runs)
    nets = save_random(tmp_path / "nets")
    tracker = store.start("night", key="night")
    ModelRegistry(store, RegistryConfig()).promote(nets, tracker, Promotion(digest="a", replaces=None, night="1"))
    agents = ("--candidate", "models:/suphx@champion:sampled", "--opponent", "tsumogiri")
    result = evaluate(capsys, *agents, "--hanchans", 8, "--workers", 1, runs=runs)
    assert (result["candidate"], result["opponent"]) == ("models:/suphx@champion:sampled", "tsumogiri")


@pytest.mark.usefixtures("short_games")
def test_all_seatings_are_three_matches(capsys: Capture, tmp_path: Path) -> None:
    alone = evaluate(capsys, *RIICHI, "--hanchans", 24, runs=tmp_path)
    words = ("--hanchans", 24, "--seating", "all")
    result = evaluate(capsys, *RIICHI, *words, "--keep-games", tmp_path / "games", runs=tmp_path)
    others = result.pop("other_seatings")
    assert alone.pop("other_seatings") == {}
    assert result == alone
    assert {name: match["seating"] for name, match in others.items()} == {"2v2": "2v2", "3v1": "3v1"}
    assert all(match["games"] == 24 for match in others.values())
    assert len(list((tmp_path / "games").rglob("*.tsv.xz"))) == 3
    single = evaluate(capsys, *RIICHI, "--hanchans", 24, "--seating", "3v1", runs=tmp_path)
    assert single["paired_difference"] == others["3v1"]["paired_difference"]
    assert cli.main(["evaluate", *RIICHI, *map(str, words), "--runs", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "other seatings:" in output
    assert "3v1" in output


@pytest.mark.usefixtures("short_games")
def test_the_progress_of_a_match_that_stops_early_ends_with_its_games_on_new_walls(
    runs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_FRESH_HANCHANS", 48)
    options = ["--sequential", "0.5", "--hanchans", "4000", "--runs", str(runs), "--json"]
    assert cli.main(["evaluate", *RIICHI, *options]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out.splitlines()[-1])
    assert (result["verdict"], result["fresh_match"]["games"]) == ("better", 48)
    done, total = re.findall(r"([0-9,]+) of ([0-9,]+) hanchans", printed.err)[-1]
    assert done == total


@pytest.mark.usefixtures("short_games")
def test_deals_give_points_per_kyoku(tmp_path: Path, capsys: Capture) -> None:
    result = evaluate(capsys, *RIICHI, "--deals", 20, runs=tmp_path)
    assert (result["candidate"], result["opponent"], result["hanchans"]) == ("ukeire", "tsumogiri", 2)
    low, high = result["paired_difference"]["interval"]
    assert low <= result["paired_difference"]["points_per_kyoku"] <= high
    assert 0.9 < result["changed_share"] <= 1
    assert {"deals", "seed"} <= set(result)


# games of two sides


def test_scripted_agents_play_a_match_of_two_sides(capsys: Capture) -> None:
    found = evaluate(capsys, *DOUDIZHU, "--decks", 200, "--seed", 3)
    assert (found["game"], found["games"], found["seed"], found["outcome"]) == ("doudizhu", 400, 3, "better")
    for side in ("landlord", "peasant"):
        figure = found[f"wp_{side}"]
        assert 0.8 < figure["interval"][0] <= figure["mean"] <= figure["interval"][1]
        assert found[f"adp_{side}"]["mean"] > 0
    assert evaluate(capsys, *DOUDIZHU, "--decks", 200, "--seed", 4)["share"] != found["share"]


def test_a_folder_of_nets_says_which_game_it_is(tmp_path: Path, capsys: Capture) -> None:
    own = save_nets(tmp_path / "nets", Rules(scoring="points"))
    assert cli.main(["evaluate", "--candidate", str(own), "--opponent", "rule", "--decks", "2"]) == 0
    captured = capsys.readouterr()
    assert "of the games on both sides together" in captured.err
    assert "landlord" in captured.out


def test_nets_that_know_different_moves_do_not_play_each_other(tmp_path: Path, capsys: Capture) -> None:
    one, other = save_nets(tmp_path / "a", Rules()), save_nets(tmp_path / "b", Rules(douzero_kickers=True))
    assert cli.main(["evaluate", "--candidate", str(one), "--opponent", str(other), "--decks", "2"]) == 1
    assert "learned rules with different moves: they cannot play each other" in capsys.readouterr().err


def test_the_games_of_decks_are_kept_and_their_points_are_those_of_the_report(tmp_path: Path, capsys: Capture) -> None:
    found = evaluate(capsys, *DOUDIZHU, "--decks", 5, "--keep-games", tmp_path / "games")
    records = list(read_records(tmp_path / "games" / "games.jsonl"))
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


def test_a_sequential_match_stops_and_measures_on_new_decks(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_FRESH_DECKS", 200)
    words = ("--game", "doudizhu", "--sequential", "0.2", "--error", "0.05")
    found = evaluate(capsys, "--candidate", "rule", "--opponent", "random", *words)
    assert (found["verdict"], found["difference"], found["error"]) == ("better", 0.2, 0.05)
    assert found["deals"] < 100
    assert found["fresh_match"]["deals"] == 200
    assert found["fresh_match"]["share"]["interval"][0] > 0.9
    assert evaluate(capsys, "--candidate", "rule", "--opponent", "random", *words) == found
    assert cli.main(["evaluate", "--candidate", "random", "--opponent", "rule", *words]) == 0
    captured = capsys.readouterr()
    assert "random is not better than rule by 20 % of the games won: decided after" in captured.err
    assert "not_better" in captured.out


# records, and matches that are stopped


def test_kept_games_are_records_that_can_be_viewed(tmp_path: Path, capsys: Capture) -> None:
    scores = []
    for name, more in (("lanes", []), ("no-lanes", ["--no-draw-lanes"])):
        games = tmp_path / name
        words = ["evaluate", "--candidate", "ukeire", "--opponent", "tsumogiri", "--hanchans", "8", *more]
        words += ["--runs", str(tmp_path), "--workers", "1", "--keep-games", str(games), "--json"]
        assert cli.main(words) == 0
        shown = json.loads(capsys.readouterr().out.splitlines()[-1])
        quarantine = Quarantine()
        logs = list(iter_records([games], quarantine=quarantine))
        assert (len(logs), quarantine.count) == (8, 0)
        assert logs[0].names == ("candidate", "opponent", "opponent", "opponent")
        assert player_statistics(logs, "candidate").average_placement == shown["average_placement"]
        scores.append([log.final_scores for log in logs])
        assert cli.main(words) == 1
        assert "is not an empty folder: name a new one" in capsys.readouterr().err
    assert scores[0] != scores[1]
    page = tmp_path / "page.html"
    viewed = ["view", str(games), "--id", "5", "--player", "candidate", "--out", str(page), "--json"]
    assert cli.main(viewed) == 0
    assert page.is_file()


@pytest.mark.ray
@pytest.mark.slow
def test_a_match_on_ray_has_the_same_result_and_records(tmp_path: Path, capsys: Capture) -> None:
    nets, results, records = save_random(tmp_path / "nets"), [], []
    for name, more in (("here", ["--workers", "1"]), ("ray", ["--workers", "2", "--ray"])):
        games = tmp_path / name
        words = ["evaluate", "--candidate", "ukeire", "--opponent", f"{nets}:sampled", "--hanchans", "8", *more]
        assert cli.main([*words, "--runs", str(tmp_path), "--keep-games", str(games), "--json"]) == 0
        shown = json.loads(capsys.readouterr().out.splitlines()[-1])
        del shown["seconds"]
        results.append(shown)
        records.append({path.name: path.read_bytes() for path in games.iterdir()})
    assert results[0] == results[1]
    assert records[0] == records[1]


def stop_after(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the process get Ctrl-C when so many parts of a match are kept."""
    write = KeptResults.write

    def write_and_stop(kept: KeptResults, key: str, result: dict[str, Any]) -> None:
        write(kept, key, result)
        if kept.num_written == parts:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(KeptResults, "write", write_and_stop)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("short_games")
@pytest.mark.parametrize(
    ("match", "options", "parts"),
    [
        (RIICHI, ["--hanchans", "16", "--keep-games"], 2),
        (RIICHI, ["--deals", "40"], 2),
        (RIICHI, ["--sequential", "1", "--error", "0.3"], 2),
        (DOUDIZHU, ["--decks", "600", "--keep-games"], 1),
        (DOUDIZHU, ["--sequential", "0.2"], 1),
    ],
)
def test_a_stopped_match_goes_on_with_its_finished_parts_and_ends_the_same(
    match: tuple[str, ...],
    options: list[str],
    parts: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.setattr(game.Riichi, "scoring", RiichiScoring(deals_per_task=1))
    monkeypatch.setattr(deal_match, "_GAMES_PER_TASK", 1)
    monkeypatch.setattr(command, "_FRESH_HANCHANS", 24)
    monkeypatch.setattr(command, "_FRESH_DECKS", 24)
    has_records = options[-1] == "--keep-games"
    finished = f"{parts} finished part{'s' if parts > 1 else ''}"
    results, records = [], []
    for name, stops in (("whole", False), ("stopped", True)):
        runs, games = tmp_path / name, tmp_path / f"{name}-games"
        words = ["evaluate", *match, *options, *([str(games)] if has_records else []), "--runs", str(runs), "--json"]
        if stops:
            with monkeypatch.context() as patch:
                stop_after(parts, patch)
                assert cli.main(words) == 130
            assert f"{finished} of the match saved. Continue with: " in capsys.readouterr().err
            assert not list(games.glob("*.jsonl")), "records of half a match look like those of a whole one"
            kept = games / ".match" if has_records else next((runs / ".matches").iterdir())
            assert len(list((kept / "games").iterdir())) == parts
            if has_records:
                assert cli.main([*words, "--seed", "1"]) == 1
                assert "has games of another match (it differs in seed)" in capsys.readouterr().err
                (kept / "match.json").rename(games.with_suffix(".away"))
                assert cli.main(words) == 1
                assert "match.json is missing)" in capsys.readouterr().err
                games.with_suffix(".away").rename(kept / "match.json")
        assert cli.main(words) == 0
        printed = capsys.readouterr()
        assert (f"match: continuing after {finished} of it; remove {tmp_path}" in printed.err) == stops
        results.append(json.loads(printed.out.splitlines()[-1]) | {"seconds": 0})
        records.append(files_in(games))
        assert not list(runs.glob("*")), "nothing is left of a finished match"
    assert results[0] == results[1]
    assert records[0] == records[1]
    assert (len(records[0]) > 0) == has_records


@pytest.mark.usefixtures("short_games")
def test_a_match_that_is_stopped_before_its_first_part_is_kept_goes_on_in_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    words = ["evaluate", "--candidate", "ukeire", "--opponent", "tsumogiri", "--hanchans", "8", "--workers", "1"]
    words += ["--runs", str(tmp_path / "runs"), "--keep-games"]
    assert cli.main([*words, str(whole)]) == 0

    def write_and_stop(games: Any, path: Path, to: Any) -> None:
        write_records(games, path, to)
        path.with_name(f".{path.name}.1.2.partial").touch()  # of another process, which is killed
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(game, "write_records", write_and_stop)
        assert cli.main([*words, str(stopped)]) == 130
    assert cli.main([*words, str(stopped), "--seed", "1"]) == 1
    assert "has games of another match (it differs in seed)" in capsys.readouterr().err
    assert cli.main([*words, str(stopped)]) == 0
    assert files_in(stopped) == files_in(whole)


@pytest.mark.usefixtures("short_games")
def test_each_wall_of_a_slow_agent_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(programs.SWITCH, "0")
    keys: list[str] = []
    write = KeptResults.write

    def write_and_note(kept: KeptResults, key: str, result: dict[str, Any]) -> None:
        keys.append(key)
        write(kept, key, result)

    monkeypatch.setattr(KeptResults, "write", write_and_note)
    words = ["evaluate", "--candidate", bot("tsumogiri"), "--opponent", "tsumogiri", "--hanchans", "8"]
    assert cli.main([*words, "--workers", "1", "--runs", str(tmp_path)]) == 0
    assert sorted(keys) == ["walls-1-1", "walls-2-2"]
