"""What a run leaves about itself while it works."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from suphx_cli.arguments import resumable
from suphx_cli.commands.run import next_commands, report_lines
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.pipeline import PipelineResult
from suphx_pipelines.runs.run_page import description
from suphx_pipelines.runs.run_summary import (
    RUN_FILE,
    RunJournal,
    RunSummary,
    StageSummary,
    command_line,
    rayjob,
    with_places,
)
from suphx_pipelines.runs.runner import RunResult
from suphx_platform.console.console import Console
from tests.selfplay.small_policy_set import save_random


def summary() -> RunSummary:
    return RunSummary(
        run_id="laptop-1",
        recipe="laptop",
        command=["suphx", "run", "laptop"],
        state="running",
        started="2026-11-22T03:00:00+00:00",
        stages={"records": StageSummary(status="finished", seconds=3.5, warnings=["few games"]), "b": StageSummary()},
    )


def test_keys_of_a_later_version_are_ignored(tmp_path: Path) -> None:
    summary().write(tmp_path)
    write_json(tmp_path / RUN_FILE, read_json(tmp_path / RUN_FILE) | {"mood": "good"})
    assert RunSummary.read(tmp_path) == summary()


@pytest.mark.parametrize(
    "broken",
    [
        {"command": 7},
        {"command": [1]},
        {"seconds": "long"},
        {"seconds": 10**400},
        {"seconds": True},
        {"state": "new"},
        {"started": None},
        {"verdict": []},
        {"stages": {"a": {"seconds": {}}}},
        {"stages": {"a": {"status": "new"}}},
    ],
)
def test_a_value_of_another_type_is_named(tmp_path: Path, broken: dict[str, object]) -> None:
    summary().write(tmp_path)
    write_json(tmp_path / RUN_FILE, read_json(tmp_path / RUN_FILE) | broken)
    with pytest.raises(ValueError, match=r"run\.json is damaged \(TypeError.* is "):
        RunSummary.read(tmp_path)


def test_the_command_line_is_the_one_that_a_person_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / ".venv" / "bin" / "suphx"
    script.parent.mkdir(parents=True)
    script.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    assert command_line([str(script), "run", "laptop"]) == [".venv/bin/suphx", "run", "laptop"]
    monkeypatch.chdir(script.parent)
    assert command_line(["/nowhere/bin/suphx", "run", "laptop"]) == ["/nowhere/bin/suphx", "run", "laptop"]
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin")
    assert command_line([str(script), "run", "laptop"]) == ["suphx", "run", "laptop"]
    assert command_line(["/opt/suphx/platform/suphx_platform/cli.py", "run"]) == ["suphx", "run"]
    assert command_line(["suphx", "run", "--records", "a\udcff"]) == ["suphx", "run", "--records", "a\\udcff"]


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


PAGE = "http://suphx-mlflow:5000/#/experiments/1/runs/abc"
STORAGE = "s3://bucket/runs"


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the RayJob whose driver this process is: what KubeRay and Ray set."""
    monkeypatch.setenv("RAY_CLUSTER_NAME", "rl-0123456789-x2v9k")
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")
    return "rl-0123456789"


def last_lines(runs: Path, *, storage: str = STORAGE, page: str = PAGE) -> str:
    folder = runs / "rl-0123456789"
    save_random(folder / "reinforcement")
    uri = "http://suphx-mlflow:5000" if page else "sqlite:////runs/mlflow.db"
    run = RunResult(run_id=folder.name, folder=folder, tracking_uri=uri, storage=storage, page=page)
    result = PipelineResult(run=run, report=folder / "report" / "report.html")
    return "\n".join([*report_lines(result), *next_commands(result, runs)])


def test_a_run_of_a_cluster_ends_with_addresses_and_commands_that_work_outside(driver: str, tmp_path: Path) -> None:
    text = last_lines(tmp_path)
    assert str(tmp_path) not in text
    assert "--runs" not in text
    for part in (PAGE, f"{STORAGE}/{driver}", f"suphx status {driver}", f"--agent {STORAGE}/{driver}/reinforcement",
                 f"suphx ui {driver}"):  # fmt: skip
        assert part in text


def test_a_run_of_a_cluster_that_stores_nothing_says_so_and_names_no_command_that_fails(
    driver: str, tmp_path: Path
) -> None:
    text = last_lines(tmp_path, storage="", page="")
    assert "storage.address" in text
    assert "suphx play" not in text
    assert "suphx ui" not in text


@pytest.mark.parametrize("variables", [{}, {"RAY_CLUSTER_NAME": "interactive"}, {"RAY_JOB_CONFIG_JSON_ENV_VAR": "{}"}])
def test_elsewhere_paths_are_named(variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_CLUSTER_NAME", "RAY_JOB_CONFIG_JSON_ENV_VAR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert rayjob() == ""
    text = last_lines(tmp_path)
    assert f"{tmp_path}/rl-0123456789/report/report.html" in text
    assert f"suphx play --agent {tmp_path}/rl-0123456789/reinforcement" in text


def test_a_tournament_of_a_cluster_shows_places_instead_of_the_path_of_its_report(driver: str) -> None:
    values = {"champion": "models:/suphx@champion", "report": "/runs/nightly-1/report/report.html"}
    shown = with_places(values, "nightly-1", storage=STORAGE, page=PAGE)
    text = str(shown)
    assert shown["champion"] == values["champion"]
    assert "/runs/nightly-1/report" not in text
    assert all(part in text for part in (PAGE, f"{STORAGE}/nightly-1", f"suphx status {driver}"))


def test_a_run_of_a_cluster_that_is_stopped_is_continued_by_its_rayjob(
    driver: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt), resumable(Console(), lambda error: "Saved."):
        raise KeyboardInterrupt
    assert f"suphx resume {driver}" in capsys.readouterr().err
    summary = RunSummary(run_id=driver, recipe="rl", state="interrupted", started="2026-11-29T10:00:00+00:00",
                         command=["suphx", "run", "/etc/recipe.toml"])  # fmt: skip
    text = description(summary, tmp_path / driver, STORAGE)
    assert f"suphx resume {driver}" in text
    assert "/etc/recipe.toml" not in text
