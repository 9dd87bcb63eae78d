"""The last lines of a run name what its reader can reach: paths on this machine, addresses of a run in a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx_cli.arguments import resumable
from suphx_cli.commands.run import next_commands, report_lines
from suphx_pipelines.pipeline import PipelineResult
from suphx_pipelines.runs.run_page import description
from suphx_pipelines.runs.run_summary import RunSummary, rayjob, with_places
from suphx_pipelines.runs.runner import RunResult
from suphx_platform.console.console import Console

PAGE = "http://suphx-mlflow:5000/#/experiments/1/runs/abc"
STORAGE = "s3://bucket/runs"


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the RayJob whose driver this process is: what KubeRay and Ray set."""
    monkeypatch.setenv("RAY_CLUSTER_NAME", "rl-0123456789-x2v9k")
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")
    return "rl-0123456789"


def finished(*, storage: str = STORAGE, page: str = PAGE) -> PipelineResult:
    folder = Path("/runs/rl-0123456789")
    uri = "http://suphx-mlflow:5000" if page else "sqlite:////runs/mlflow.db"
    run = RunResult(run_id=folder.name, folder=folder, tracking_uri=uri, storage=storage, page=page)
    return PipelineResult(run=run, report=folder / "report" / "report.html", agent=folder / "reinforcement")


def last_lines(result: PipelineResult) -> str:
    return "\n".join([*report_lines(result), *next_commands(result, Path("/runs"))])


def test_a_run_of_a_cluster_ends_with_addresses_and_commands_that_work_outside(driver: str) -> None:
    text = last_lines(finished())
    assert "/runs/rl" not in text.replace(STORAGE, "")
    assert "--runs" not in text
    for part in (PAGE, f"{STORAGE}/{driver}", f"suphx status {driver}", f"--agent {STORAGE}/{driver}/reinforcement",
                 f"suphx ui {driver}"):  # fmt: skip
        assert part in text


def test_a_run_of_a_cluster_that_stores_nothing_says_so_and_names_no_command_that_fails(driver: str) -> None:
    text = last_lines(finished(storage="", page=""))
    assert "storage.address" in text
    assert "suphx play" not in text
    assert "suphx ui" not in text


@pytest.mark.parametrize("variables", [{}, {"RAY_CLUSTER_NAME": "interactive"}, {"RAY_JOB_CONFIG_JSON_ENV_VAR": "{}"}])
def test_elsewhere_paths_are_named(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_CLUSTER_NAME", "RAY_JOB_CONFIG_JSON_ENV_VAR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert rayjob() == ""
    text = last_lines(finished())
    assert "/runs/rl-0123456789/report/report.html" in text
    assert "suphx play --agent /runs/rl-0123456789/reinforcement" in text


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
