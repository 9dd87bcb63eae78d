from __future__ import annotations

from pathlib import Path

import pytest

from suphx_platform.mlflow_call import TrackingError
from suphx_platform.tracking import MAX_VALUE_LENGTH, TrackingStore


def test_a_run_keeps_parameters_metrics_and_artifacts(runs: Path, tmp_path: Path) -> None:
    store = TrackingStore(runs)
    params = {"rate": 0.1, "long": "x" * 10_000} | {f"p{n}": n for n in range(150)}
    tracker = store.start("a run", key="one", tags={"colour": "blue"}, params=params)
    tracker.log_metrics({"loss": 2.0}, step=1)
    tracker.log_metrics({"loss": 1.5}, step=2)
    file, folder = tmp_path / "note.txt", tmp_path / "notes"
    file.write_text("hello")
    folder.mkdir()
    (folder / "inner.txt").write_text("there")
    with tracker:
        tracker.log_artifact(file)
        tracker.log_artifact(folder)

    run = store.client.get_run(tracker.run_id)
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "a run"
    assert run.data.tags["colour"] == "blue"
    assert run.data.params["rate"] == "0.1"
    assert len(run.data.params["long"]) == MAX_VALUE_LENGTH
    assert len(run.data.params) == 152
    assert [(m.step, m.value) for m in store.client.get_metric_history(tracker.run_id, "loss")] == [(1, 2.0), (2, 1.5)]
    assert {path.name for path in (runs / "artifacts").rglob("*.txt")} == {"note.txt", "inner.txt"}


def test_the_same_key_continues_the_same_run_and_another_key_starts_one(runs: Path) -> None:
    store = TrackingStore(runs)
    with pytest.raises(OSError, match="cheese"), store.start("a", key="one", params={"rate": 0.1}) as first:
        raise OSError("the disk is made of cheese")
    assert store.client.get_run(first.run_id).info.status == "FAILED"
    again = TrackingStore(runs).start("a", key="one", params={"rate": 0.1, "threads": 2})
    assert again.run_id == first.run_id
    assert store.client.get_run(again.run_id).info.status == "RUNNING"
    assert store.start("a", key="two").run_id != first.run_id


def test_a_run_is_not_continued_with_other_parameters(runs: Path) -> None:
    store = TrackingStore(runs)
    with store.start("a", key="one", params={"rate": 0.1, "seed": 1}) as first:
        pass
    with pytest.raises(
        ValueError, match=r"the run a in MLflow .* other settings: rate is '0\.1' there, '0\.2' here\. "
    ):
        store.start("a", key="one", params={"rate": 0.2, "seed": 1})
    assert store.client.get_run(first.run_id).info.status == "FINISHED", "nothing is changed"


def test_a_nested_run_knows_its_parent(runs: Path) -> None:
    store = TrackingStore(runs)
    parent = store.start("parent", key="p")
    child = parent.start("child", key="p/c", tags={"extra": "1"}, params={"seed": 1})
    data = store.client.get_run(child.run_id).data
    assert data.tags["mlflow.parentRunId"] == parent.run_id
    assert (data.tags["extra"], data.params) == ("1", {"seed": "1"})


def test_a_folder_of_runs_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TrackingError, match=r"file/runs cannot be made \(Not a directory\): name another with --runs"):
        TrackingStore(tmp_path / "file" / "runs").reach()


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_bytes(b"no database" * 1000)
    with pytest.raises(TrackingError, match=r"the MLflow store sqlite:.*mlflow\.db cannot be used .*move it away"):
        TrackingStore(tmp_path).reach()
