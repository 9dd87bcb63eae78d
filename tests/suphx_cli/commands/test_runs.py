from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from suphx_cli import cli
from suphx_platform.tracking.outbox import Outbox
from suphx_platform.tracking.tracking import TrackingStore
from tests.games.doudizhu.builders import save_nets
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.runs.run_folder import running, write_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    write_run(folder, "laptop-1", metrics={"evaluation": {"paired_difference": -0.25, "observations_per_second": 7.0}})
    write_run(
        folder,
        "laptop-2",
        state="failed",
        error="disk full",
        started="2026-11-22T05:30:34+00:00",
        recipe='name = "laptop"\n[net]\nsize = "small"\n',
        metrics={"evaluation": {"paired_difference": -0.5}, "records": {"games": 40.0}},
    )
    return folder


@pytest.fixture
def store(runs: Path, _empty_store: Path) -> TrackingStore:
    """The MLflow store of the folder; its tables are there."""
    shutil.copy(_empty_store, runs / "mlflow.db")
    return TrackingStore(runs)


def answer(runs: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli.main(["runs", *arguments, "--runs", str(runs), "--json"]) == 0, capsys.readouterr().err
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def lines(runs: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert cli.main(["runs", *arguments, "--runs", str(runs)]) == 0, capsys.readouterr().err
    return capsys.readouterr().out.splitlines()


def test_the_list_has_every_run_with_its_state(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = answer(runs, capsys, "list")["runs"]
    assert [(run["run_id"], run["state"]) for run in listed] == [("laptop-2", "failed"), ("laptop-1", "finished")]
    assert listed[1] == {
        "run_id": "laptop-1",
        "recipe": "laptop",
        "state": "finished",
        "verdict": "The nets play better.",
        "started": "2026-11-22T04:30:34+00:00",
        "seconds": 100.0,
        "error": None,
    }
    header, newest, oldest = lines(runs, capsys, "list")
    assert header.split() == ["run", "state", "started", "time", "verdict"]
    assert newest.endswith("failed: disk full")
    assert oldest.endswith("1 min 40 s  The nets play better.")


def test_a_damaged_run_hides_no_other(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "laptop-1" / "run.json").write_text("{", encoding="utf-8")
    listed = answer(runs, capsys, "list")["runs"]
    assert {run["run_id"]: run["state"] for run in listed} == {"laptop-1": "damaged", "laptop-2": "failed"}
    assert "damaged: " in " ".join(lines(runs, capsys, "list"))
    assert cli.main(["runs", "compare", "laptop-1", "laptop-2", "--runs", str(runs)]) == 1
    assert "laptop-1/run.json is damaged" in capsys.readouterr().err
    assert answer(runs, capsys, "delete", "laptop-1", "--yes")["deleted"] == ["laptop-1"]


def test_one_run_is_shown_with_its_stages_and_what_comes_next(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = answer(runs, capsys, "show", "laptop-2")
    assert shown["stages"]["records"] == {"status": "finished", "seconds": 12.5, "metrics": {"games": 40.0}}
    assert (shown["report"], shown["error"], shown["next"]) == (None, "disk full", [f"suphx run laptop --runs {runs}"])
    text = lines(runs, capsys, "show", "laptop-1")
    assert "verdict: The nets play better." in text
    (evaluation,) = [line for line in text if line.startswith("evaluation")]
    assert evaluation.split(maxsplit=4)[-1] == "paired difference -0.25"
    assert text[-1] == f"Next: suphx ui laptop-1 --runs {runs}"
    by_folder = lines(Path("runs"), capsys, "show", str(runs / "laptop-1"))
    assert by_folder[-1] == text[-1]


@pytest.mark.parametrize(
    ("stage", "save", "opponent"), [("supervised", save_random, "ukeire"), ("learning", save_nets, "rule")]
)
def test_a_finished_run_with_nets_can_be_played_against(
    stage: str, save: Callable[[Path], object], opponent: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nets = runs / "laptop-1" / stage
    save(nets)
    assert answer(runs, capsys, "show", "laptop-1")["next"] == [
        f"suphx ui laptop-1 --runs {runs}",
        f"suphx play --agent {nets}",
        f"suphx evaluate --candidate {nets} --opponent {opponent}",
    ]


def test_two_runs_are_compared_side_by_side(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = answer(runs, capsys, "compare", "laptop-1", "laptop-2")
    assert compared["runs"] == ["laptop-1", "laptop-2"]
    assert compared["settings"] == {"net.size": ["tiny", "small"]}
    assert compared["metrics"]["evaluation.paired_difference"] == [-0.25, -0.5]
    assert compared["metrics"]["records.games"] == [None, 40.0]
    table = [line.split() for line in lines(runs, capsys, "compare", "laptop-1", "laptop-2")]
    assert ["net.size", "tiny", "small"] in table
    assert ["evaluation.paired_difference", "-0.25", "-0.5"] in table
    assert ["records.games", "-", "40"] in table
    assert "evaluation.observations_per_second" not in [cells[0] for cells in table if cells]  # --verbose has all


def test_figures_in_mlflow_are_deleted_with_the_run(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, store: TrackingStore
) -> None:
    for name in ("laptop-1", "laptop-2"):
        with closing(store), store.start(name, key=name) as run, run.start("report", key=f"{name}/report/1"):
            pass
    assert answer(runs, capsys, "delete", "laptop-1", "--yes")["deleted_in_mlflow"] == ["laptop-1"]
    assert store.names() == ["laptop-2"]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://localhost:1")  # never asked: other machines may use its runs
    (line,) = lines(runs, capsys, "delete", "laptop-2", "--yes")
    assert line.endswith("Figures on the MLflow server http://localhost:1 are kept.")
    other = f"sqlite:///{runs / 'other.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", other)
    write_run(runs, "laptop-3")
    (line,) = lines(runs, capsys, "delete", "laptop-3", "--yes")
    assert line.endswith(f"Figures in the MLflow store {other}, which MLFLOW_TRACKING_URI names, are kept.")
    assert not (runs / "other.db").exists()
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert TrackingStore(runs).names() == ["laptop-2"]


def test_what_mlflow_has_refused_is_sent_again(
    runs: Path, capsys: pytest.CaptureFixture[str], store: TrackingStore
) -> None:
    def refuse(_: object) -> None:
        raise ValueError("status 500")

    with closing(Outbox(runs / "laptop-1" / ".mlflow-queue", send=refuse, probe=lambda: None)) as outbox:
        outbox.put({"do": "metrics", "key": "laptop-1", "metrics": [["loss", 2.0, 7, 1]]})
    assert cli.main(["runs", "send", "laptop-1", "--runs", str(runs)]) == 1
    assert "has not taken 1 of 1 message of laptop-1, which are kept" in " ".join(capsys.readouterr().err.split())
    store.begin("laptop-1", key="laptop-1", tags={}, params={})
    assert answer(runs, capsys, "send", "laptop-1") == {"run_id": "laptop-1", "sent": 1}
    assert store.newest_metrics("laptop-1") == {"loss": 2.0}
    assert lines(runs, capsys, "send", "laptop-1") == ["0 messages of laptop-1 sent to MLflow"]


def test_figures_stay_when_a_copy_elsewhere_is_deleted_and_go_with_a_run_that_is_named_by_a_link(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], store: TrackingStore
) -> None:
    with closing(store), store.start("laptop-1", key="laptop-1"):
        pass
    copy = tmp_path / "backup" / "laptop-1"
    shutil.copytree(runs / "laptop-1", copy)
    assert answer(runs, capsys, "delete", str(copy), "--yes")["deleted_in_mlflow"] == []
    assert not copy.exists()
    assert TrackingStore(runs).names() == ["laptop-1"]
    (runs / "latest").symlink_to("laptop-1")
    assert answer(runs, capsys, "delete", "latest", "laptop-1", "--yes")["deleted_in_mlflow"] == ["laptop-1"]
    assert [folder.name for folder in runs.iterdir() if folder.name.startswith("la")] == ["laptop-2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["laptop-1"], "cannot ask for confirmation without a terminal: add --yes"),
        (["laptop-1", "laptop-3", "--yes"], "laptop-3: no such run"),
        (["laptop-1", "laptop-2", "--yes"], "laptop-2 is running: stop it first"),
    ],
)
def test_nothing_is_deleted_where_one_run_cannot_be(
    arguments: list[str], message: str, runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(runs / "laptop-2"), open(os.devnull) as nothing:  # noqa: PTH123 - a stream for stdin
        monkeypatch.setattr(sys, "stdin", nothing)
        assert cli.main(["runs", "delete", *arguments, "--runs", str(runs)]) == 1
    assert message in capsys.readouterr().err
    assert sorted(folder.name for folder in runs.iterdir()) == ["laptop-1", "laptop-2"]


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"\n", 1), (b"no\n", 1)])
def test_the_question_must_be_answered_with_yes(typed: bytes, code: int, runs: Path) -> None:
    keyboard, terminal = pty.openpty()
    command = [sys.executable, "-m", "suphx_cli.cli", "runs", "delete", "laptop-1", "--runs", str(runs)]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.write(keyboard, typed)
        _, error = process.communicate(timeout=300)
    os.close(keyboard)
    os.close(terminal)
    assert process.returncode == code
    assert b"Delete this run? [y/N]" in error
    assert (runs / "laptop-1").exists() == bool(code)
