"""What a run leaves in a real MLflow store: finished, failed, stopped and continued."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suphx_pipelines.runs.run_summary import RunState, RunSummary, end_abandoned, headlines
from suphx_pipelines.runs.runner import Runner
from suphx_pipelines.runs.stage import TRACKED_FOLDER, Stage, write_note
from suphx_pipelines.runs.verdict import Verdict
from suphx_platform.tracking.mlflow_store import PRIMARY_METRIC
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs import small_run
from tests.suphx_pipelines.runs.run_folder import running
from tests.suphx_pipelines.runs.small_run import Context, SmallRecipe, small_runner

if TYPE_CHECKING:
    from mlflow.entities import Run


@pytest.mark.parametrize(
    ("stage", "shown", "technical"),
    [
        ("evaluation", ("paired_difference", "paired_difference_low", "win_rate"), ("observations_per_second",)),
        ("supervised/discard", ("accuracy",), ("waiting_share",)),
        ("reinforcement", ("hanchans",), ("version",)),
        ("match", ("rule_share", "rule_share_low", "rule_points_high"), ("rule_wp_first",)),
        ("decision", ("share", "points_low", "games", "is_won"), ("decision_games", "log_likelihood_ratio")),
        ("report", (), ("bytes",)),
    ],
)
def test_figures_of_strength_are_headlines_and_technical_ones_are_not(
    stage: str, shown: tuple[str, ...], technical: tuple[str, ...]
) -> None:
    metrics = dict.fromkeys((*shown, *technical), 0.5)
    assert headlines(stage, metrics) == dict.fromkeys(shown, 0.5)


NOTE = "mlflow.note.content"


def runner(runs: Path, work: Callable[[Context], dict[str, float]]) -> Runner[SmallRecipe]:
    stages: list[Stage[SmallRecipe]] = [
        Stage(name="evaluation", run=work),
        Stage(name="total", run=lambda _: {"n": 1.0}),
    ]
    found = Verdict(outcome="better", sentence="It is better.", difference=-0.1, low=-0.2, high=-0.05, hanchans=8)
    return small_runner(runs, stages=stages, find_verdict=lambda metrics: found)


def page_of(runs: Path, name: str) -> Run:
    run = TrackingStore(runs).find(name)
    assert run is not None
    return run


def play(context: Context) -> dict[str, float]:
    return {"paired_difference": -0.1, "technical": 1.0}


def test_the_page_of_a_finished_run_has_headlines_verdict_command_and_files(runs: Path) -> None:
    small = runner(runs, play)
    small.run()
    page = page_of(runs, small.run_id)
    assert page.info.status == "FINISHED"
    assert {"evaluation/paired_difference": -0.1, PRIMARY_METRIC: -0.1}.items() <= page.data.metrics.items()
    assert "evaluation/technical" not in page.data.metrics
    assert page.data.metrics["seconds"] >= 0
    tags = page.data.tags
    assert tags[NOTE].startswith("**It is better.**")
    commands = tags[NOTE].replace(" \\\n  ", " ")
    assert f"suphx ui {small.run_id} --runs {runs}" in commands
    assert tags["suphx.command"] in commands
    assert tags["mlflow.source.name"].endswith(" small")
    assert (tags["mlflow.source.type"], tags["suphx.outcome"]) == ("LOCAL", "better")
    files = TrackingStore(runs).client.list_artifacts(page.info.run_id)
    assert {file.path for file in files} == {"recipe.toml", "provenance.json", "run.log", "run.json"}


def test_the_page_has_the_report_and_its_pictures_the_notes_of_stages_and_the_games(runs: Path, tmp_path: Path) -> None:
    def read(context: Context) -> dict[str, float]:
        """Read the ``games``."""
        return {"games": 3.0, "kyoku": 24.0}

    def write(context: Context) -> dict[str, float]:
        write_note(context.folder, "Before: [one](#/experiments/1), http://me:secret@host/")
        (context.folder / TRACKED_FOLDER).mkdir()
        for name in ("report.html", "game.html", "strength.svg", "table.json", f"{TRACKED_FOLDER}/report.html"):
            (context.folder / name).write_text(name)
        return {}

    (records := tmp_path / "2009.mjlog").write_text("a game")
    stages: list[Stage[SmallRecipe]] = [
        Stage(name="records", run=read, reads_records=True),
        Stage(name="report", run=write),
    ]
    small = small_runner(runs, stages=stages, records=records)
    small.run()
    store, page = TrackingStore(runs), page_of(runs, small.run_id)
    files = {file.path for file in store.client.list_artifacts(page.info.run_id)}
    assert {"report.html", "game.html", "strength.svg"} < files
    assert "table.json" not in files
    for name, content in (("report.html", "mlflow/report.html"), ("game.html", "game.html")):
        assert Path(store.client.download_artifacts(page.info.run_id, name, str(tmp_path))).read_text() == content
    notes = {run.info.run_name: run.data.tags[NOTE] for run in store.client.search_runs([store.experiment_id()])}
    assert notes["records"].startswith("Read the `games`.")
    assert small.run_id in notes["report"]
    assert "\n\nBefore: [one](#/experiments/1), http://" in notes[small.run_id]
    assert "secret" not in notes[small.run_id]
    assert page.inputs is not None
    (used,) = page.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.profile) == ("2009.mjlog", '{"games": 3, "kyoku": 24}')


def test_a_failed_run_names_its_error_and_the_same_command_continues_its_page(runs: Path) -> None:
    def fail(context: Context) -> dict[str, float]:
        raise ValueError("the disk is made of cheese")

    small = runner(runs, fail)
    with pytest.raises(ValueError, match="cheese"):
        small.run()
    failed = page_of(runs, small.run_id)
    assert failed.info.status == "FAILED"
    assert failed.data.tags[NOTE].startswith("**Failed: the disk is made of cheese.** 0 of 2 stages are finished.")
    assert "Continue with:" in failed.data.tags[NOTE]
    runner(runs, play).run()
    again = page_of(runs, small.run_id)
    assert (again.info.run_id, again.info.status) == (failed.info.run_id, "FINISHED")
    assert again.data.tags[NOTE].startswith("**It is better.**")


def test_a_stopped_run_and_its_stage_are_killed_in_mlflow(runs: Path) -> None:
    def stop(context: Context) -> dict[str, float]:
        raise KeyboardInterrupt

    small = runner(runs, stop)
    with pytest.raises(KeyboardInterrupt):
        small.run()
    stopped = page_of(runs, small.run_id)
    store = TrackingStore(runs)
    statuses = {run.info.run_name: run.info.status for run in store.client.search_runs([store.experiment_id()])}
    assert statuses == {small.run_id: "KILLED", "evaluation": "KILLED"}
    assert stopped.data.tags[NOTE].startswith("**Stopped.** 0 of 2 stages are finished.")


def test_a_killed_process_leaves_a_run_that_is_then_shown_as_killed(runs: Path) -> None:
    done = subprocess.run([sys.executable, "-m", small_run.__name__, str(runs), "powers:middle"], check=False)
    assert done.returncode == -signal.SIGKILL
    store = TrackingStore(runs)
    name = next(path.parent.name for path in runs.glob("*/run.json"))
    assert statuses(store)[name] == "RUNNING"
    assert end_abandoned(runs, store) == [name]
    assert statuses(store) == {name: "KILLED", "numbers": "FINISHED", "powers": "KILLED"}
    run = store.find(name)
    assert run is not None
    assert run.data.tags["mlflow.note.content"].startswith("**Stopped.** 1 of 3 stages are finished.")
    assert end_abandoned(runs, store) == []
    small_runner(runs).run()
    assert set(statuses(store).values()) == {"FINISHED"}
    (stage,) = store.client.search_runs([store.experiment_id()], "attributes.run_name = 'powers'")
    powers = store.client.get_metric_history(stage.info.run_id, "power")
    assert [point.step for point in powers] == [0, 1, 2, 3], "what both processes logged is there once"


def test_a_damaged_run_does_not_keep_the_others_from_being_shown(runs: Path) -> None:
    store = TrackingStore(runs)
    for name in ("broken-1", "killed-1"):
        store.begin(name, key=name, tags={}, params={})
        (runs / name).mkdir()
        (runs / name / "lock").touch()
    (runs / "broken-1" / "run.json").write_text("[")
    assert sorted(end_abandoned(runs, store)) == ["broken-1", "killed-1"]
    assert set(statuses(store).values()) == {"KILLED"}


@pytest.mark.parametrize(("state", "status"), [("finished", "FINISHED"), ("failed", "FAILED")])
def test_a_run_that_had_ended_when_it_was_killed_keeps_its_end(runs: Path, state: RunState, status: str) -> None:
    subprocess.run([sys.executable, "-m", small_run.__name__, str(runs), "powers:middle"], check=False)
    (folder,) = (path.parent for path in runs.glob("*/run.json"))
    summary = RunSummary.read(folder)
    assert summary is not None
    summary.state, summary.error = state, "the disk is full" if state == "failed" else ""
    summary.write(folder)
    store = TrackingStore(runs)
    assert end_abandoned(runs, store) == [folder.name]
    run = store.find(folder.name)
    assert run is not None
    assert run.info.status == status
    assert not run.data.tags["mlflow.note.content"].startswith("**Stopped.**")


def test_a_run_with_a_process_or_without_a_folder_stays_as_it_is(runs: Path) -> None:
    store = TrackingStore(runs)
    for name in ("elsewhere-1", "working-1"):
        store.start(name, key=name)
    store.close()
    (runs / "working-1").mkdir()
    (runs / "working-1" / "lock").touch()
    with running(runs / "working-1"):
        assert end_abandoned(runs, store) == []
    assert end_abandoned(runs, store) == ["working-1"]
    assert statuses(store) == {"elsewhere-1": "RUNNING", "working-1": "KILLED"}


def statuses(store: TrackingStore) -> dict[str, str]:
    found = store.client.search_runs([store.experiment_id()])
    return {run.info.run_name: run.info.status for run in found}
