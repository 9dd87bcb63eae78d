"""``suphx evaluate --keep-games``: records of whole games, with draw lanes and without."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation import deal_match
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.player_statistics import player_statistics
from suphx.games.riichi import game
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.tables import RiichiScoring
from suphx_cli import cli
from suphx_cli.commands import evaluate
from suphx_platform.agents.mjai import programs
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.mjai.bot_program import bot


def test_kept_games_are_records_that_can_be_viewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = []
    for name, more in (("lanes", []), ("no-lanes", ["--no-draw-lanes"])):
        games = tmp_path / name
        command = ["evaluate", "--candidate", "ukeire", "--opponent", "tsumogiri", "--hanchans", "8", *more]
        command += ["--runs", str(tmp_path), "--workers", "1", "--keep-games", str(games), "--json"]
        assert cli.main(command) == 0
        shown = json.loads(capsys.readouterr().out.splitlines()[-1])
        quarantine = Quarantine()
        logs = list(iter_records([games], quarantine=quarantine))
        assert (len(logs), quarantine.count) == (8, 0)
        assert logs[0].names == ("candidate", "opponent", "opponent", "opponent")
        assert player_statistics(logs, "candidate").average_placement == shown["average_placement"]
        scores.append([log.final_scores for log in logs])
        assert cli.main(command) == 1
        assert "is not an empty folder: name a new one" in capsys.readouterr().err
    assert scores[0] != scores[1]
    page = tmp_path / "page.html"
    viewed = ["view", str(games), "--id", "5", "--player", "candidate", "--out", str(page), "--json"]
    assert cli.main(viewed) == 0
    assert page.is_file()


@pytest.mark.ray
@pytest.mark.slow
def test_a_match_on_ray_has_the_same_result_and_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nets, results, records = save_random(tmp_path / "nets"), [], []
    for name, more in (("here", ["--workers", "1"]), ("ray", ["--workers", "2", "--ray"])):
        games = tmp_path / name
        command = ["evaluate", "--candidate", "ukeire", "--opponent", f"{nets}:sampled", "--hanchans", "8", *more]
        assert cli.main([*command, "--runs", str(tmp_path), "--keep-games", str(games), "--json"]) == 0
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


RIICHI = ("--candidate", "ukeire", "--opponent", "tsumogiri", "--workers", "1")
DOUDIZHU = ("--candidate", "rule", "--opponent", "random", "--game", "doudizhu")


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
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(game.Riichi, "scoring", RiichiScoring(deals_per_task=1))
    monkeypatch.setattr(deal_match, "_GAMES_PER_TASK", 1)
    monkeypatch.setattr(evaluate, "_FRESH_HANCHANS", 24)
    monkeypatch.setattr(evaluate, "_FRESH_DECKS", 24)
    has_records = options[-1] == "--keep-games"
    finished = f"{parts} finished part{'s' if parts > 1 else ''}"
    results, records = [], []
    for name, stops in (("whole", False), ("stopped", True)):
        runs, games = tmp_path / name, tmp_path / f"{name}-games"
        command = ["evaluate", *match, *options, *([str(games)] if has_records else []), "--runs", str(runs), "--json"]
        if stops:
            with monkeypatch.context() as patch:
                stop_after(parts, patch)
                assert cli.main(command) == 130
            assert f"{finished} of the match saved. Continue with: " in capsys.readouterr().err
            assert not list(games.glob("*.jsonl")), "records of half a match look like those of a whole one"
            kept = games / ".match" if has_records else next((runs / ".matches").iterdir())
            assert len(list((kept / "games").iterdir())) == parts
            if has_records:
                assert cli.main([*command, "--seed", "1"]) == 1
                assert "has games of another match (it differs in seed)" in capsys.readouterr().err
                (kept / "match.json").rename(games.with_suffix(".away"))
                assert cli.main(command) == 1
                assert "match.json is missing)" in capsys.readouterr().err
                games.with_suffix(".away").rename(kept / "match.json")
        assert cli.main(command) == 0
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    command = ["evaluate", "--candidate", "ukeire", "--opponent", "tsumogiri", "--hanchans", "8", "--workers", "1"]
    command += ["--runs", str(tmp_path / "runs"), "--keep-games"]
    assert cli.main([*command, str(whole)]) == 0

    def write_and_stop(games: Any, path: Path, to: Any) -> None:
        write_records(games, path, to)
        path.with_name(f".{path.name}.1.2.partial").touch()  # of another process, which is killed
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(game, "write_records", write_and_stop)
        assert cli.main([*command, str(stopped)]) == 130
    assert cli.main([*command, str(stopped), "--seed", "1"]) == 1
    assert "has games of another match (it differs in seed)" in capsys.readouterr().err
    assert cli.main([*command, str(stopped)]) == 0
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
    command = ["evaluate", "--candidate", bot("tsumogiri"), "--opponent", "tsumogiri", "--hanchans", "8"]
    assert cli.main([*command, "--workers", "1", "--runs", str(tmp_path)]) == 0
    assert sorted(keys) == ["walls-1-1", "walls-2-2"]
