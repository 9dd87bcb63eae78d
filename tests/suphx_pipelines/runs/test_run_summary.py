"""What a run leaves about itself while it works."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest

from suphx_cli.arguments import resumable
from suphx_cli.commands.run import next_commands, report_lines
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.runs.run_commands import command_line, with_places
from suphx_pipelines.runs.run_summary import RUN_FILE, RunRecord, RunSummary, StageSummary
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
        {"command": [1]},
        {"seconds": 10**400},
        {"seconds": True},
        {"state": "new"},
        {"stages": {"a": {"seconds": {}}}},
        {"stages": {"a": {"status": "new"}}},
    ],
)
def test_a_value_of_another_type_is_named(tmp_path: Path, broken: dict[str, object]) -> None:
    summary().write(tmp_path)
    write_json(tmp_path / RUN_FILE, read_json(tmp_path / RUN_FILE) | broken)
    with pytest.raises(ValueError, match=r"run\.json is damaged \("):
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


def new_record(folder: Path) -> RunRecord:
    return RunRecord(folder, "laptop", ["records", "report"], Console(), refresh_seconds=0.01)


def stored(folder: Path) -> RunSummary:
    summary = RunSummary.read(folder)
    assert summary is not None
    return summary


def test_the_time_spent_is_stored_while_a_stage_works(tmp_path: Path) -> None:
    with new_record(tmp_path).kept(Mock()):
        pass
    before = stored(tmp_path).seconds
    record = new_record(tmp_path)
    with record.kept(Mock()), record.stage("records"):
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


def test_an_error_that_names_a_file_that_is_not_utf_8_can_be_read_again(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), new_record(tmp_path).kept(Mock()):
        raise FileNotFoundError("no file \udcff.mjlog")
    assert (stored(tmp_path).state, stored(tmp_path).error) == ("failed", "no file \\udcff.mjlog")


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
    with new_record(folder).kept(Mock()):
        away = folder.rename(tmp_path / "away")
        assert is_refused.wait(PATIENCE_SECONDS)
        away.rename(folder)
    assert stored(folder).state == "finished"


PAGE = "http://suphx-mlflow:5000/#/experiments/1/runs/abc"
STORAGE = "s3://bucket/runs"
JOB = "rl-0123456789"


def last_lines(runs: Path, monkeypatch: pytest.MonkeyPatch, *, storage: str, page: str, cluster: str) -> str:
    """Return what ``suphx run`` prints last; ``cluster``: the name that KubeRay gave, if this is a driver."""
    for name, value in (("RAY_CLUSTER_NAME", cluster), ("RAY_JOB_CONFIG_JSON_ENV_VAR", cluster and "{}")):
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
    folder = runs / JOB
    save_random(folder / "reinforcement")
    result = RunResult(run_id=JOB, folder=folder, tracking_uri="", storage=storage, page=page)
    return "\n".join([*report_lines(result), *next_commands(result, runs)])


@pytest.mark.parametrize(
    ("storage", "page", "cluster", "named", "others"),
    [
        (STORAGE, PAGE, f"{JOB}-x2v9k", (PAGE, f"suphx status {JOB}", f"--agent {STORAGE}/{JOB}/reinforcement",
         f"suphx ui {JOB}"), ("RUNS", "--runs")),
        ("", "", f"{JOB}-x2v9k", ("storage.address",), ("RUNS", "suphx play", "suphx ui")),
        (STORAGE, "", "", (f"RUNS/{JOB}/report/report.html", f"suphx play --agent RUNS/{JOB}/reinforcement"), ()),
    ],
    ids=["cluster", "cluster that stores nothing", "this machine"],
)  # fmt: skip
def test_a_run_names_places_and_commands_that_work_where_it_is_read(
    storage: str, page: str, cluster: str, named: Sequence[str], others: Sequence[str],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    text = last_lines(tmp_path, monkeypatch, storage=storage, page=page, cluster=cluster).replace(str(tmp_path), "RUNS")
    assert [part for part in named if part not in text] == [part for part in others if part in text] == []
    values = with_places({"report": "/runs/report.html"}, "nightly-1", storage=storage, page=page)
    assert ("report" in values) == (not cluster)
    with pytest.raises(KeyboardInterrupt), resumable(Console(), lambda error: "Saved."):
        raise KeyboardInterrupt
    assert (f"suphx resume {JOB}" in capsys.readouterr().err) == bool(cluster)
