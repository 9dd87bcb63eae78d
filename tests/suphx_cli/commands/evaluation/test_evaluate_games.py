"""``suphx evaluate --keep-games``: records of whole games, with draw lanes and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suphx.evaluation.player_statistics import player_statistics
from suphx.games.riichi import Quarantine, iter_records
from suphx_cli import cli
from tests.suphx_platform.parts.small_policy_set import save_random


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
    viewed = ["view", str(games), "--game", "5", "--player", "candidate", "--out", str(page), "--json"]
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
