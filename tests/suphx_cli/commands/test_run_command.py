"""The last lines of ``suphx run``, and what it tells when it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from suphx_cli import cli
from suphx_cli.commands.run import show
from suphx_pipelines import pipeline
from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.runner import RunResult
from suphx_pipelines.runs.stage import Interrupted
from suphx_pipelines.runs.verdict import Verdict
from suphx_platform.console.console import Console
from tests.repository import RECIPES

VERDICT = Verdict(outcome="better", sentence="The nets play better than the opponent ukeire.")


def finished(*warnings: str) -> RunResult:
    folder, uri = Path("runs") / "laptop-1", "sqlite:///runs/mlflow.db"
    return RunResult(run_id="laptop-1", folder=folder, tracking_uri=uri, verdict=VERDICT, warnings=warnings)


def test_json_has_the_verdict_and_the_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    values = show(finished("few games"), Path("runs"), Console(is_json=True))
    assert values is not None
    assert values["verdict"] == VERDICT.sentence
    assert values["warnings"] == ["few games"]
    assert capsys.readouterr().out == ""


@dataclass
class Stopped:
    """Stands for a run that is stopped."""

    error: KeyboardInterrupt

    def __call__(self, *_: Any, get_ready: Callable[[], None], **__: Any) -> RunResult:
        get_ready()
        raise self.error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Interrupted("update 13 of reinforcement"), "Saved at update 13 of reinforcement. Continue with: "),
        (KeyboardInterrupt(), "Finished stages, and finished games of a match, are saved. Continue with: "),
    ],
)
def test_a_stopped_run_tells_what_is_saved_and_how_to_continue(
    error: KeyboardInterrupt, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline, "run_recipe", Stopped(error))
    monkeypatch.setattr("sys.argv", ["suphx", "run", "laptop", "--set", "a.b=1 2"])
    recipe = RECIPES / "laptop.toml"
    assert cli.main(["run", str(recipe)]) == 130
    assert text + "suphx run laptop --set 'a.b=1 2'" in capsys.readouterr().err


def test_a_run_that_is_stopped_while_kernels_compile_does_not_claim_that_stages_are_saved(
    monkeypatch: pytest.MonkeyPatch, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("suphx_platform.kernels.kernel_warmup.RunKernels.wait", stop)
    recipe = RECIPES / "laptop.toml"
    assert cli.main(["run", str(recipe), "--runs", str(runs), "--run-id", "stopped"]) == 130
    text = "Stopped before the first stage; the kernels compiled so far are kept. Continue with: "
    assert text in capsys.readouterr().err
    summary = RunSummary.read(runs / "stopped")
    assert summary is not None
    assert summary.state == "interrupted"
    assert (runs / "stopped" / "run.log").is_file()
    assert cli.main(["runs", "list", "--runs", str(runs)]) == 0
    assert "interrupted" in capsys.readouterr().out


def test_a_dry_run_names_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "laptop", "--dry-run", "--set", "reinforcement.learner.learning_rate=0.1"]) == 0
    assert "reinforcement.max_updates" in capsys.readouterr().err
