"""What makes a result a run's own: files from outside, addresses that move, ids of earlier versions."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from suphx_pipelines.json_file import read_json
from suphx_pipelines.runs.provenance import digest_file
from suphx_pipelines.runs.runner import Runner
from suphx_platform.console.console import Console
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs.small_run import STAGES, Context, SmallRecipe, make_numbers, small_runner


def test_files_that_change_between_the_plan_and_the_stage_that_reads_them_are_told(runs: Path, tmp_path: Path) -> None:
    nets = tmp_path / "nets"
    nets.write_text("one")

    def learn(context: Context) -> dict[str, float]:
        nets.write_text("two")  # as a training does that goes on elsewhere
        return make_numbers(context)

    def runner() -> Runner[SmallRecipe]:
        numbers, powers, total = STAGES
        stages = (replace(numbers, run=learn), replace(powers, outside_files=lambda _: [nets]), total)
        return Runner(SmallRecipe(), stages, runs=runs, records=None, console=Console())

    with pytest.raises(ValueError, match=r"nets has changed since this command began, and powers reads it"):
        runner().run()
    result = runner().run()
    assert result.stages["powers"].status == "finished"
    done = read_json(result.folder / "powers" / "done.json")
    assert done["inputs"]["files"] == [digest_file(nets)]


def test_what_a_run_copied_from_a_moving_address_is_its_own(runs: Path, tmp_path: Path) -> None:
    alias = tmp_path / "alias"

    def run(recipe: SmallRecipe) -> tuple[list[str], str]:
        def copy(context: Context) -> dict[str, float]:
            shutil.copy(alias, context.folder / "copy")
            return make_numbers(context)

        numbers, powers, total = STAGES
        stages = (replace(numbers, run=copy, reads_newest=lambda _: True), powers, total)
        result = Runner(recipe, stages, runs=runs, records=None, console=Console()).run()
        return [stage.status for stage in result.stages.values()], (result.folder / "numbers" / "copy").read_text()

    alias.write_text("champion 1")
    assert run(SmallRecipe()) == (["finished"] * 3, "champion 1")
    alias.write_text("champion 2")
    assert run(SmallRecipe()) == (["kept"] * 3, "champion 1")
    assert run(SmallRecipe(name="renamed")) == (["finished"] * 3, "champion 2")


def test_a_run_that_an_earlier_version_gave_another_id_is_named(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "a.mjlog"
    records.write_text("one")
    first = small_runner(runs, records=records).run()
    first.folder.rename(runs / "small-0123456789")
    told = "run small-0123456789 has the same settings and records; its name was given to it, or is from"
    for recipe, given, can_be_named, is_told in (
        (SmallRecipe(threads=2), records, True, True),
        (SmallRecipe(threads=2), records, False, False),
        (SmallRecipe(seed=8), records, True, False),
        (SmallRecipe(), None, True, False),
    ):
        again = Runner(recipe, STAGES, runs=runs, records=given, console=Console(), can_be_named=can_be_named).run()
        assert (told in " ".join(capsys.readouterr().err.split())) == is_told
        shutil.rmtree(again.folder)


@pytest.mark.parametrize("can_be_named", [True, False])
def test_a_run_that_a_server_has_from_somebody_else_is_told(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], can_be_named: bool
) -> None:
    def errors_of_a_run() -> str:
        Runner(SmallRecipe(), STAGES, runs=runs, records=None, console=Console(), can_be_named=can_be_named).run()
        return " ".join(capsys.readouterr().err.split())

    monkeypatch.setattr(TrackingStore, "is_server", True)
    assert "already has a run" not in errors_of_a_run()
    assert "already has a run" not in errors_of_a_run(), "the same one continues"
    for folder in runs.glob("small-*"):
        shutil.rmtree(folder)
    told = errors_of_a_run()
    assert re.search(r"already has a run small-\w+, begun by \w+ on 20\d\d-\d\d-\d\d\. If it is another one", told)
    assert ("--run-id NAME" if can_be_named else "another `name` in the recipe") in told


def test_missing_nets_of_a_player_do_not_matter_where_records_are_given(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "a.mjlog").write_text("one")

    def player_nets(_: SmallRecipe) -> list[Path]:
        raise ValueError("the player has no checkpoint")

    numbers, powers, total = STAGES
    stages = (replace(numbers, outside_files=player_nets), powers, total)
    runner = Runner(SmallRecipe(), stages, runs=runs, records=tmp_path / "a.mjlog", console=Console())
    assert {stage.status for stage in runner.run().stages.values()} == {"finished"}
