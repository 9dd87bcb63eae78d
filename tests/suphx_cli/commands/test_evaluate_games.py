"""``suphx evaluate --keep-games``: records of whole games, with draw lanes and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suphx.evaluation.player_statistics import player_statistics
from suphx.games.riichi import Quarantine, iter_records
from suphx_cli import cli


def test_kept_games_are_records_that_can_be_viewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = []
    for name, more in (("lanes", []), ("no-lanes", ["--no-draw-lanes"])):
        games = tmp_path / name
        command = ["evaluate", "--candidate", "ukeire", "--baseline", "tsumogiri", "--hanchans", "8", *more]
        command += ["--runs", str(tmp_path), "--workers", "1", "--keep-games", str(games), "--json"]
        assert cli.main(command) == 0
        shown = json.loads(capsys.readouterr().out.splitlines()[-1])
        quarantine = Quarantine()
        logs = list(iter_records([games], quarantine=quarantine))
        assert (len(logs), quarantine.count) == (8, 0)
        assert logs[0].names == ("candidate", "baseline", "baseline", "baseline")
        assert player_statistics(logs, "candidate").average_placement == shown["average_placement"]
        scores.append([log.final_scores for log in logs])
        assert cli.main(command) == 1
        assert "is not an empty folder: name a new one" in capsys.readouterr().err
    assert scores[0] != scores[1]
    page = tmp_path / "page.html"
    viewed = ["view", str(games), "--game", "5", "--player", "candidate", "--out", str(page), "--json"]
    assert cli.main(viewed) == 0
    assert page.is_file()
