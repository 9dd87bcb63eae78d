"""A run whose code has changed: what it refuses, keeps and does again."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from suphx.kernel.source_closure import forget
from suphx_pipelines.pipeline import pipeline_stages
from suphx_pipelines.recipe.recipe import MonteCarloRecipe
from suphx_pipelines.recipe.recipe_file import find_recipe
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from suphx_pipelines.runs import provenance
from suphx_pipelines.runs.provenance import stage_code
from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.runs.stage import Stage
from suphx_pipelines.runs.stage_plan import CodeChange
from suphx_pipelines.runs.stage_storage import StageStorage
from suphx_pipelines.tournament.tournament import tournament_stages
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import Tracker
from tests.suphx_pipelines.recipe.small_recipe import load_recipe
from tests.suphx_pipelines.runs.run_trace import contents, tracked_runs, work
from tests.suphx_pipelines.runs.small_run import SmallRecipe, statuses

FILES = {
    "data.py": """
from log_of_this_test import note

def run(context):
    note(context, "data")
    (context.folder / "games.txt").write_text("1 2 3")
    return {"games": 3}
""",
    "training.py": """
import numpy
from log_of_this_test import note
from nets_of_this_test.deep.inner import loss

def run(context):
    for step in range(3):
        state = context.folder / f"{step}.txt"
        if not state.exists():
            if (context.folder.parent / f"stop {step}").exists():
                raise KeyboardInterrupt
            note(context, f"step {step}")
            state.write_text(str(loss.SCALE))
            context.keep(step)
    return {"sum": sum(int((context.folder / f"{step}.txt").read_text()) for step in range(3))}
""",
    "nets_of_this_test/deep/inner/loss.py": "SCALE = 2\n",
    "summary.py": """
from chart_of_this_test import WIDTH
from log_of_this_test import note

def run(context):
    note(context, "report")
    (context.folder / "report.html").write_text(str(WIDTH))
    return {"width": WIDTH}
""",
    "chart_of_this_test.py": "WIDTH = 100\n",
    "log_of_this_test.py": """
def note(context, text):
    with (context.folder.parent / "work.log").open("a") as log:
        log.write(text + "\\n")
""",
}


class Project:
    """A small project of three stages whose sources a test may edit."""

    def __init__(self, folder: Path, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.runs = runs
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two edits within a second look alike to it
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        """Write a source; the next run imports it again."""
        for module in [module for module in sys.modules if "of_this_test" in module]:
            del sys.modules[module]
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        importlib.invalidate_caches()
        forget()

    def runner(
        self, on_code_change: CodeChange = "stop", storage: Path | None = None, recipe: SmallRecipe | None = None
    ) -> Runner[SmallRecipe]:
        stages: list[Stage[SmallRecipe]] = [
            Stage(name="data", run=self._function("data.py"), recipe_keys=("numbers",)),
            Stage(name="training", run=self._function("training.py"), recipe_keys=("powers",), needs=("data",)),
            Stage(name="report", run=self._function("summary.py"), needs=("data", "training"), is_summary=True),
        ]
        return Runner(
            recipe or SmallRecipe(),
            stages,
            runs=self.runs,
            records=None,
            console=Console(),
            storage=None if storage is None else Storage(StorageConfig(address=str(storage))),
            on_code_change=on_code_change,
        )

    def run(self, on_code_change: CodeChange = "stop", storage: Path | None = None) -> RunResult:
        return self.runner(on_code_change, storage).run()

    def interrupt(self, step: int, on_code_change: CodeChange = "stop", storage: Path | None = None) -> Path:
        """Run until ``step`` of the training, and return the run's folder."""
        runner = self.runner(on_code_change, storage)
        runner.folder.mkdir(parents=True, exist_ok=True)
        mark = runner.folder / f"stop {step}"
        mark.touch()
        with pytest.raises(KeyboardInterrupt):
            runner.run()
        mark.unlink()
        return runner.folder

    def _function(self, name: str) -> Any:
        spec = importlib.util.spec_from_file_location(f"{name.removesuffix('.py')}_of_this_test", self.folder / name)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return vars(module)["run"]


@pytest.fixture
def project(tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, runs, monkeypatch)


LOSS = "nets_of_this_test/deep/inner/loss.py"
ALL_WORK = {"data": 1, "step 0": 1, "step 1": 1, "step 2": 1, "report": 1}


def test_a_run_of_changed_code_lists_its_stages_and_changes_nothing(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    first = project.run()
    before, tracked = contents(first.folder), tracked_runs(project.runs)
    project.write(LOSS, "SCALE = 3\n")
    capsys.readouterr()
    with pytest.raises(
        ValueError, match=r"since these stages were run: training\. Nothing was changed\. Use --on-code"
    ):
        project.run()
    assert contents(first.folder) == before
    assert tracked_runs(project.runs) == tracked
    summary = RunSummary.read(first.folder)
    assert summary is not None
    assert summary.state == "finished"
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"run {first.run_id}: code or inputs have changed since the last attempt"
    assert lines[1] == "  data: use the result"
    assert lines[2].startswith("  training: finished in 0")
    assert lines[2].endswith(f"(changed: {LOSS})")
    assert lines[3] == "  report: run again (its input has changed: training)"


def test_redo_runs_the_changed_stages_again_and_no_others(project: Project) -> None:
    project.run()
    project.write(LOSS, "SCALE = 3\n")
    result = project.run("redo")
    assert statuses(result) == ["kept", "finished", "finished"]
    assert work(result.folder) == {"data": 1, "step 0": 2, "step 1": 2, "step 2": 2, "report": 2}
    log = (result.folder / "run.log").read_text()
    assert f"training: run again (changed: {LOSS})" in log
    assert statuses(project.run()) == ["kept", "kept", "kept"]


def test_keep_uses_results_of_other_code_with_a_warning(project: Project) -> None:
    project.run()
    project.write(LOSS, "SCALE = 3\n")
    result = project.run("keep")
    assert statuses(result) == ["kept", "kept", "kept"]
    assert work(result.folder) == ALL_WORK
    assert result.warnings == (f"training: its result was made by other code or from other files (changed: {LOSS})",)
    with pytest.raises(ValueError, match="--on-code-change keep"):
        project.run()
    project.write(LOSS, "SCALE = 2\n")
    assert project.run().warnings == ()


@pytest.mark.parametrize("on_code_change", ["stop", "keep", "redo"])
def test_a_change_of_the_reports_code_draws_only_the_report_again(project: Project, on_code_change: CodeChange) -> None:
    project.run()
    project.write("chart_of_this_test.py", "WIDTH = 200\n")
    result = project.run(on_code_change)
    assert statuses(result) == ["kept", "kept", "finished"]
    assert work(result.folder) == ALL_WORK | {"report": 2}


def test_an_unfinished_stage_of_other_code_is_not_touched_without_a_question(project: Project) -> None:
    folder = project.interrupt(2)
    project.write(LOSS, "SCALE = 3\n")
    before = contents(folder)
    with pytest.raises(ValueError, match="training"):
        project.run()
    assert contents(folder) == before
    result = project.run("redo")
    assert result.stages["training"].metrics == {"sum": 9}


def test_keep_continues_an_unfinished_stage_and_its_result_is_not_that_of_either_code(project: Project) -> None:
    project.interrupt(1)
    project.write(LOSS, "SCALE = 3\n")
    project.interrupt(2, "keep")
    result = project.run()  # it goes on with the code that continued it: nothing to decide
    assert result.stages["training"].metrics == {"sum": 2 + 3 + 3}
    assert statuses(project.run()) == ["kept", "kept", "kept"]
    other = SmallRecipe(threads=2, name="other")
    assert project.runner(recipe=other).run().stages["training"].metrics == {"sum": 9}, "it is not reused elsewhere"


def test_an_attempt_that_left_nothing_is_started_again_without_a_question(project: Project) -> None:
    project.interrupt(0)
    project.write(LOSS, "SCALE = 3\n")
    assert project.run().stages["training"].metrics == {"sum": 9}


def test_other_versions_of_libraries_count_but_not_their_builds(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.run()
    versions = {"numpy": "1.99.1+cpu", "torch": "9.9"}
    monkeypatch.setattr(provenance, "version", lambda name: versions.get(name) or version(name))
    with pytest.raises(ValueError, match="these stages were run: training"):
        project.run()
    assert " -> 1.99.1)" in capsys.readouterr().err
    project.run("redo")
    versions["numpy"] = "1.99.1+cu130"
    assert statuses(project.run()) == ["kept", "kept", "kept"]


def test_another_machine_continues_what_is_done_again_and_not_what_it_replaces(
    project: Project, tmp_path: Path
) -> None:
    storage = tmp_path / "storage"
    project.run(storage=storage)
    project.write(LOSS, "SCALE = 3\n")
    folder = project.interrupt(2, "redo", storage)
    folder.rename(tmp_path / "lost")
    result = project.run("redo", storage)
    assert statuses(result) == ["kept", "finished", "finished"]
    assert work(result.folder) == {"step 2": 1, "report": 1}
    assert result.stages["training"].metrics == {"sum": 9}
    result.folder.rename(tmp_path / "lost too")
    assert statuses(project.run(storage=storage)) == ["kept", "kept", "kept"]


def test_what_is_done_again_is_removed_from_the_storage_although_that_was_cut_off(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = tmp_path / "storage"
    project.run(storage=storage)
    project.write(LOSS, "SCALE = 3\n")
    with monkeypatch.context() as cut:
        cut.setattr(StageStorage, "remove", _broken)
        with pytest.raises(OSError, match="the connection broke"):
            project.run("redo", storage)
    folder = project.interrupt(2, "redo", storage)
    versions = Storage(StorageConfig(address=str(storage))).versions(f"{folder.name}/training")
    assert [version.number for version in versions] == [0, 1], "steps of this attempt, not the result of other code"


def test_work_that_another_process_with_the_same_code_has_continued_meanwhile_is_fetched(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = tmp_path / "storage"
    project.interrupt(1, storage=storage).rename(tmp_path / "lost")
    project.write(LOSS, "SCALE = 3\n")
    fetch = StageStorage.fetch

    def overtaken(own: StageStorage, name: str, *arguments: Any) -> None:
        if name == "training":
            monkeypatch.setattr(StageStorage, "fetch", fetch)
            project.runs, here = tmp_path / "elsewhere", project.runs
            assert project.run("keep", storage).stages["training"].metrics == {"sum": 2 + 3 + 3}
            project.runs = here
        fetch(own, name, *arguments)

    monkeypatch.setattr(StageStorage, "fetch", overtaken)
    result = project.run("keep", storage)
    assert result.stages["training"].metrics == {"sum": 2 + 3 + 3}
    assert result.stages["training"].status == "kept"


def _broken(_storage: StageStorage, _name: str) -> None:
    raise OSError("the connection broke")


def test_results_of_other_code_in_the_storage_are_not_replaced_without_a_question(
    project: Project, tmp_path: Path
) -> None:
    first = project.run(storage=tmp_path / "storage")
    project.write(LOSS, "SCALE = 3\n")
    first.folder.rename(tmp_path / "lost")
    with pytest.raises(ValueError, match="training"):
        project.run(storage=tmp_path / "storage")
    assert contents(first.folder) == {}
    kept = project.run("keep", tmp_path / "storage")
    assert kept.stages["training"].metrics == {"sum": 6}


def test_a_stored_result_of_this_code_is_used_rather_than_one_of_other_code_that_is_here(
    project: Project, tmp_path: Path
) -> None:
    here = project.run().folder
    here.rename(tmp_path / "here")
    project.write(LOSS, "SCALE = 3\n")
    project.run(storage=tmp_path / "storage").folder.rename(tmp_path / "elsewhere")
    (tmp_path / "here").rename(here)
    result = project.run(storage=tmp_path / "storage")
    assert statuses(result) == ["kept", "kept", "kept"]
    assert result.stages["training"].metrics == {"sum": 9}


def test_an_attempt_of_this_code_is_continued_although_one_of_other_code_got_further(
    project: Project, tmp_path: Path
) -> None:
    storage = tmp_path / "storage"
    here = project.interrupt(2, storage=storage)
    here.rename(tmp_path / "here")
    project.write(LOSS, "SCALE = 3\n")
    project.interrupt(1, "redo", storage).rename(tmp_path / "elsewhere")
    (tmp_path / "here").rename(here)
    (here / "work.log").unlink()
    result = project.run("redo", storage)
    assert result.stages["training"].metrics == {"sum": 9}
    assert work(result.folder) == {"step 1": 1, "step 2": 1, "report": 1}, "step 0 is that of the other machine"


@pytest.mark.parametrize("is_lost", [False, True])
def test_after_a_rollback_a_result_of_the_newer_code_is_kept_although_older_attempts_are_stored(
    is_lost: bool, project: Project, tmp_path: Path
) -> None:
    storage = tmp_path / "storage"
    project.interrupt(2, storage=storage)
    project.write(LOSS, "SCALE = 3\n")
    newer = project.run("keep", storage)
    project.write(LOSS, FILES[LOSS])
    if is_lost:
        newer.folder.rename(tmp_path / "lost")
    with pytest.raises(ValueError, match="training"):
        project.run(storage=storage)
    result = project.run("keep", storage)
    assert statuses(result)[:2] == ["kept", "kept"]
    assert result.stages["training"].metrics == newer.stages["training"].metrics


@pytest.mark.parametrize("is_cut_off", [False, True])
def test_an_older_version_by_the_code_before_is_continued_if_the_newest_is_damaged(
    is_cut_off: bool, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = tmp_path / "storage"
    project.interrupt(1, storage=address)
    for scale, step in ((3, 2), (4, 2)):  # the second goes on from there, and stores nothing more
        project.write(LOSS, f"SCALE = {scale}\n")
        folder = project.interrupt(step, "keep", address)
    storage = Storage(StorageConfig(address=str(address)))
    newest = storage.versions(f"{folder.name}/training")[-1]
    (address / newest.key("1.txt")).write_text("x")
    folder.rename(tmp_path / "lost")
    if is_cut_off:  # between fetching the older version and working on it
        with monkeypatch.context() as cut:
            cut.setattr(Tracker, "describe", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                project.run("keep", address)
    result = project.run("keep", address)
    assert work(result.folder) == {"step 1": 1, "step 2": 1, "report": 1}
    assert result.stages["training"].metrics == {"sum": 2 + 4 + 4}


def _interrupted(_tracker: Tracker, _text: str) -> None:
    raise KeyboardInterrupt


def test_the_code_of_training_stages_does_not_include_the_report() -> None:
    stages = {
        stage.name: stage_code(stage.run, stage.modules)
        for stage in pipeline_stages(load_recipe(find_recipe(Path("self_play"))))
    }
    drawing = {"report.py", "report_page.py", "svg.py", "line_chart.py", "stage_plan.py", "run_list.py"}
    names = {stage: {Path(source).name for source in code.sources} for stage, code in stages.items()}
    assert {"report.py", "report_page.py", "line_chart.py"} <= names["report"]
    for name in names.keys() - {"sample_game", "report"}:
        assert not drawing & names[name], name
    assert {"simulator.py", "policy.py", "supervised.py"} <= names["supervised/discard"]
    assert {"numba", "numpy", "python", "torch"} <= stages["supervised/discard"].libraries.keys()
    played = {source.rpartition("riichi/")[2] for source in stages["reinforcement"].sources}
    assert {"game.py", "selfplay/table_group.py", "ending.py"} <= played


@pytest.mark.parametrize(
    "stages",
    [pipeline_stages(MonteCarloRecipe(name="any")), tournament_stages(TournamentRecipe(name="any", game="doudizhu"))],
    ids=["run", "tournament"],
)
def test_the_code_of_stages_includes_the_game_that_the_recipe_names(stages: list[Stage[Any]]) -> None:
    for stage in stages:
        files = {source.rpartition("doudizhu/")[2] for source in stage_code(stage.run, stage.modules).sources}
        assert stage.is_summary or {"game.py", "moves.py", "features.py", "engine.py"} <= files
