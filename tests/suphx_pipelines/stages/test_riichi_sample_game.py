"""The game to look at: its files, its names, and the progress that a person sees."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from suphx_pipelines.engine.stage import StageContext
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.stages import riichi_sample_game
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.console.console import Console
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_platform.parts.small_policy_set import save_random


def test_its_progress_is_shown_until_the_end(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "sample_game"
    folder.mkdir()
    context = StageContext(
        folder=folder,
        recipe=Recipe(name="small"),
        upstream={"reinforcement": save_random(tmp_path / "reinforcement")},
        records=None,
        tracker=TrackingStore(runs).start("game", key="game"),
        console=Console(),
        seed=3,
        storage_name="",
        keep=lambda number, score=None, then=None: None,
    )
    figures = riichi_sample_game.run(context)
    shown = capsys.readouterr().err.splitlines()
    finished = [line for line in shown if " in " in line]
    assert re.fullmatch(r"playing a game to look at: 100 % in .+", finished[0])
    found = re.fullmatch(r"asking the agent: ([\d,]+) of ([\d,]+) decisions in .+", finished[1])
    assert found is not None
    assert found[1] == found[2]
    game = json.loads((folder / riichi_sample_game.GAME_FILE).read_text(encoding="utf-8"))
    assert figures == {"deals": len(game["deals"]), "pages": 1}
    assert (folder / PAGE_FILE).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
