"""What a run leaves about itself while it works."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from suphx_pipelines.pipeline import pipeline_stages
from suphx_pipelines.recipe.recipe import MonteCarloRecipe, load_recipe
from suphx_pipelines.runs.run_summary import RunJournal, RunSummary, stage_note
from suphx_pipelines.tournament.sides.side_tournament import side_tournament_stages
from suphx_pipelines.tournament.tournament import tournament_stages
from suphx_platform.console.console import Console
from tests.repository import RECIPES


def stage_names(recipe: str) -> list[str]:
    if recipe == "nightly":
        return [stage.name for stage in tournament_stages()]
    if recipe == "doudizhu_tournament":
        return [stage.name for stage in side_tournament_stages("doudizhu")]
    if recipe.startswith("doudizhu"):
        return [stage.name for stage in pipeline_stages(MonteCarloRecipe(name="any"))]
    return [stage.name for stage in pipeline_stages(load_recipe(RECIPES / f"{recipe}.toml", []))]


@pytest.mark.parametrize("recipe", sorted(path.stem for path in RECIPES.glob("*.toml")))
def test_every_stage_of_the_shipped_recipes_says_what_it_does(recipe: str) -> None:
    names = stage_names(recipe)
    assert names
    for name in names:
        purpose, place = stage_note(name, "the-run").split("\n\n")
        assert purpose.endswith(".")
        assert place.startswith(f"Stage `{name}` of the run `the-run`")


PATIENCE_SECONDS = 30


def new_journal(folder: Path) -> RunJournal:
    return RunJournal(folder, "laptop-1", "laptop", ["records", "report"], Console(), refresh_seconds=0.01)


def stored(folder: Path) -> RunSummary:
    summary = RunSummary.read(folder)
    assert summary is not None
    return summary


def test_the_time_spent_is_stored_while_a_stage_works(tmp_path: Path) -> None:
    with new_journal(tmp_path).kept():
        pass
    before = stored(tmp_path).seconds
    journal = new_journal(tmp_path)
    with journal.kept(), journal.stage("records"):
        first = stored(tmp_path).seconds
        end = time.monotonic() + PATIENCE_SECONDS
        while stored(tmp_path).stages["records"].seconds < 0.02 and time.monotonic() < end:
            time.sleep(0.01)
        killed = stored(tmp_path)
        assert (killed.state, killed.stages["records"].status) == ("running", "running")
        assert killed.stages["records"].seconds >= 0.02
        assert killed.seconds > first >= before
    ended = stored(tmp_path)
    assert ended.state == "finished"
    assert ended.stages["records"].seconds >= killed.stages["records"].seconds
    assert ended.stages["report"].seconds == 0


def test_a_disk_that_refuses_now_and_then_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, is_refused = RunSummary.write, threading.Event()

    def watched(summary: RunSummary, folder: Path) -> None:
        try:
            write(summary, folder)
        except OSError:
            is_refused.set()
            raise

    monkeypatch.setattr(RunSummary, "write", watched)
    folder = tmp_path / "run"
    folder.mkdir()
    journal = new_journal(folder)
    with journal.kept():
        away = folder.rename(tmp_path / "away")
        assert is_refused.wait(PATIENCE_SECONDS)
        away.rename(folder)
    assert stored(folder).state == "finished"
