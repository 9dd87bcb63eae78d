"""Which games of given records a run learns from."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from suphx.api.games import simulate
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.mjlog import write_mjlog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.replay import Replayer
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.stages import riichi_sample_game
from suphx_pipelines.stages.records import sound_games
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.console.console import Console
from suphx_platform.tracking.tracking import TrackingStore
from tests.games.riichi.builders.games import random_game
from tests.selfplay.small_policy_set import save_random


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
        keep=lambda number, then=None: None,
    )
    figures = riichi_sample_game.run(context)
    shown = capsys.readouterr().err.splitlines()
    finished = [line for line in shown if " in " in line]
    assert re.fullmatch(r"playing a game to look at: 100 % in .+", finished[0])
    found = re.fullmatch(r"asking the agent: ([\d,]+) of ([\d,]+) decisions in .+", finished[1])
    assert found is not None
    assert found[1] == found[2]
    assert figures["pages"] == 1
    assert figures["deals"] >= 1
    assert (folder / PAGE_FILE).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_games_of_one_name_are_all_read_and_a_copy_of_another_name_is_set_aside(tmp_path: Path) -> None:
    first, second = (write_mjlog(random_game(seed)) for seed in range(2))
    for name, text in (("a/1", first), ("b/1", second), ("c/copy", first)):
        path = tmp_path / f"{name}.mjlog"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    quarantine = Quarantine()
    copies: dict[str, str] = {}
    found = iter_records([tmp_path], workers=1, quarantine=quarantine)
    games = list(sound_games(found, Replayer(), quarantine, copies))
    assert copies == {"copy": "1"}
    assert [game.id for game in games] == ["1", "1"]
    (entry,) = quarantine.entries
    assert entry.file == str(tmp_path / "c" / "copy.mjlog")
    assert entry.reason == f"the same game was already there ({tmp_path / 'a' / '1.mjlog'})"


def test_a_bad_copy_does_not_hide_the_sound_game() -> None:
    sound = random_game(0)
    bad = replace(sound, id="bad", final_scores=(1, 2, 3, 4))
    quarantine = Quarantine()
    copies: dict[str, str] = {}
    assert list(sound_games([bad, bad, sound, sound], Replayer(), quarantine, copies)) == [sound]
    assert copies == {sound.id: sound.id}
    assert [entry.reason.partition(":")[0] for entry in quarantine.entries] == [
        "final scores",
        "final scores",
        f"the same game was already there ({sound.id})",
    ]


def test_games_with_the_same_moves_and_other_tiles_are_not_the_same() -> None:
    quarantine = Quarantine()
    games = simulate("tsumogiri", 8, seed=1)
    assert list(sound_games(games, Replayer(), quarantine, {})) == games
    assert not quarantine.count
