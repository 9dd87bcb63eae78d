"""A run that is resumed with other code: it continues with what there is, and says which commit has made it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from suphx_pipelines.runs import provenance
from suphx_pipelines.runs import runner as runner_module
from suphx_pipelines.runs.provenance import code_digest
from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.runner import RunResult
from suphx_pipelines.runs.stage import StageContext
from tests.suphx_pipelines.runs import small_run
from tests.suphx_pipelines.runs.run_trace import contents, work
from tests.suphx_pipelines.runs.small_run import STAGES, PowersConfig, SmallRecipe, small_runner, statuses
from tests.suphx_platform.tracking.empty_database import forget_everything

STAGES_WITH_SUMMARY = (*STAGES[:2], replace(STAGES[2], is_summary=True))


class Project:
    """A run whose code a test may change."""

    def __init__(self, runs: Path, storage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs, self.storage, self.monkeypatch = runs, storage, monkeypatch
        self.change("one")

    def change(self, commit: str) -> None:
        """Have other code, and its commit."""
        self.monkeypatch.setattr(runner_module, "code_digest", lambda: f"code {commit}")
        self.monkeypatch.setattr(runner_module, "git_commit", lambda: commit)

    def run(self, recipe: SmallRecipe | None = None, **more: Any) -> RunResult:
        return small_runner(self.runs, recipe, stages=STAGES_WITH_SUMMARY, storage=self.storage, **more).run()

    def interrupt(self, power: int) -> None:
        """Run until the stage ``powers`` makes this power."""

        def stop(context: StageContext[SmallRecipe], text: str) -> None:
            if text == f"power {power}":
                raise KeyboardInterrupt
            note(context, text)

        note = small_run.note
        with self.monkeypatch.context() as patch:
            patch.setattr(small_run, "note", stop)
            with pytest.raises(KeyboardInterrupt):
                self.run()

    def lose_machine(self) -> None:
        for run in self.runs.glob("small-*"):
            shutil.rmtree(run)


@pytest.fixture
def project(tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(runs, tmp_path / "storage", monkeypatch)


@pytest.mark.parametrize("is_lost", [False, True], ids=["here", "on another machine"])
def test_results_of_other_code_are_kept_with_a_warning_and_summaries_made_again(
    is_lost: bool, project: Project
) -> None:
    project.run()
    if is_lost:
        project.lose_machine()
    project.change("two")
    result = project.run()
    assert statuses(result) == ["kept", "kept", "finished"]
    assert result.warnings == tuple(
        f"{name}: its result was made by other code (commit one)" for name in ("numbers", "powers")
    )
    assert statuses(project.run()) == ["kept", "kept", "kept"]
    summary = RunSummary.read(result.folder)
    assert summary is not None
    assert summary.warnings == list(result.warnings)
    project.lose_machine()
    assert statuses(project.run()) == ["kept", "kept", "kept"], "the new summary is stored"
    project.change("one")
    assert [warning for warning in project.run().warnings if "powers" in warning] == []


@pytest.mark.parametrize("is_lost", [False, True], ids=["here", "on another machine"])
def test_unfinished_work_is_continued_by_other_code_and_no_other_run_takes_it(is_lost: bool, project: Project) -> None:
    project.interrupt(2)
    if is_lost:
        project.lose_machine()
    project.change("two")
    result = project.run()
    told = "powers: it was begun by other code (commit one)"
    assert result.stages["powers"].warnings == [told]
    assert work(result.folder)["power 2"] == 1
    assert ("power 1" in work(result.folder)) == (not is_lost)
    assert project.run().stages["powers"].warnings == [told]
    other = project.run(SmallRecipe(name="other"))
    assert statuses(other) == ["finished", "finished", "finished"]


def test_another_run_takes_results_of_the_same_code_only(project: Project) -> None:
    project.run()
    assert statuses(project.run(SmallRecipe(name="same"))) == ["reused", "reused", "finished"]
    project.change("two")
    assert statuses(project.run(SmallRecipe(name="changed"))) == ["finished", "finished", "finished"]


def test_work_of_another_version_of_suphx_is_refused(project: Project) -> None:
    folder = project.run().folder
    (folder / "powers" / "done.json").unlink()
    (folder / "powers" / "started.json").write_text(json.dumps({"version": 1}))
    before = contents(folder)
    with pytest.raises(ValueError, match=r"powers of the run small-.* was made by another version of Suphx"):
        project.run()
    assert contents(folder) == before


def test_stored_work_of_other_settings_is_refused(project: Project) -> None:
    project.run(run_id="mine")
    shutil.rmtree(project.runs / "mine")
    forget_everything(project.runs)
    with pytest.raises(
        ValueError, match=r"powers of the run mine was made with other settings: recipe.powers.exponent"
    ):
        project.run(SmallRecipe(powers=PowersConfig(exponent=3)), run_id="mine")
    assert contents(project.runs / "mine") == {}


def test_the_digest_of_the_code_counts_versions_of_libraries_but_not_their_builds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = {"torch": "9.9+cpu"}
    monkeypatch.setattr(provenance, "version", lambda name: versions.get(name) or version(name))
    found = []
    for torch in ("9.9+cpu", "9.9+cu130", "9.10"):
        versions["torch"] = torch
        code_digest.cache_clear()
        found.append(code_digest())
    code_digest.cache_clear()
    assert found[0] == found[1] != found[2]
