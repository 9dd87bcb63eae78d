from __future__ import annotations

import getpass
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.tracking import tracking
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.mlflow_store import MAX_TAG_LENGTH, MAX_VALUE_LENGTH
from suphx_platform.tracking.outbox import Message
from suphx_platform.tracking.tracking import TrackingStore


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
    store.close()

    run = store.client.get_run(tracker.run_id)
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "a run"
    assert run.data.tags["colour"] == "blue"
    assert run.data.params["rate"] == "0.1"
    assert len(run.data.params["long"]) == MAX_VALUE_LENGTH
    assert len(run.data.params) == 152
    assert [(m.step, m.value) for m in store.client.get_metric_history(tracker.run_id, "loss")] == [(1, 2.0), (2, 1.5)]
    assert {path.name for path in (runs / "artifacts").rglob("*.txt")} == {"note.txt", "inner.txt"}


@pytest.mark.parametrize("ends_with", [KeyboardInterrupt, ValueError])
def test_a_run_that_is_asked_to_stop_waits_less_for_mlflow(
    ends_with: type[BaseException], runs: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    is_open = threading.Event()
    monkeypatch.setattr(tracking, "STOP_SECONDS", 0.1)
    store = TrackingStore(runs)
    send = store.send

    def send_late(messages: Sequence[Message]) -> None:
        assert is_open.wait(60)
        send(messages)

    store.send = send_late  # type: ignore[method-assign]
    store.start("a", key="one").log_metrics({"loss": 2.0}, step=1)
    if ends_with is ValueError:
        is_open.set()
    with pytest.raises(ends_with), store.closed():
        raise ends_with
    assert ("MLflow is slow" in caplog.text) == (ends_with is KeyboardInterrupt)
    is_open.set()
    store.close()


def test_the_same_key_continues_the_same_run_and_another_key_starts_one(runs: Path) -> None:
    store = TrackingStore(runs)
    with pytest.raises(OSError, match="cheese"), store.start("a", key="one", params={"rate": 0.1}) as first:
        raise OSError("the disk is made of cheese")
    store.close()
    assert store.client.get_run(first.run_id).info.status == "FAILED"
    again = TrackingStore(runs).start("a", key="one", params={"rate": 0.1, "threads": 2})
    assert again.run_id == first.run_id
    assert store.client.get_run(again.run_id).info.status == "RUNNING"
    assert store.start("a", key="two").run_id != first.run_id


def test_a_run_is_not_continued_with_other_parameters(runs: Path) -> None:
    store = TrackingStore(runs)
    with store.start("a", key="one", params={"rate": 0.1, "seed": 1}) as first:
        pass
    store.close()
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


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_bytes(b"no database" * 1000)
    with pytest.raises(TrackingError, match=r"the MLflow store sqlite:.*mlflow\.db cannot be used .*move it away"):
        TrackingStore(tmp_path).reach()


def test_what_is_logged_is_in_the_run_that_is_found_when_the_request_for_it_was_sent_twice(runs: Path) -> None:
    store = TrackingStore(runs)
    create = store.client.create_run

    def create_twice(*arguments: Any, **options: Any) -> Any:
        return max((create(*arguments, **options) for _ in range(2)), key=lambda run: run.info.run_id)

    store.client.create_run = create_twice  # type: ignore[method-assign]
    with closing(store), store.start("a", key="one") as tracker:
        tracker.log_metrics({"loss": 1.0}, step=1)
    assert store.newest_metrics("one") == {"loss": 1.0}


def test_a_deleted_experiment_is_named_with_the_command_that_restores_it(runs: Path) -> None:
    store = TrackingStore(runs)
    store.start("a", key="one")
    store.client.delete_experiment(store.experiment_id())
    with pytest.raises(ValueError, match=r"was deleted in MLflow: restore it with `MLFLOW_TRACKING_URI=") as caught:
        TrackingStore(runs).start("a", key="one")
    (command,) = re.findall("`(MLFLOW_TRACKING_URI.*?)`", str(caught.value))
    command = command.replace(" mlflow ", f" {Path(sys.executable).parent}/mlflow ")
    subprocess.run(command, shell=True, check=True, capture_output=True, cwd=runs)
    TrackingStore(runs).start("a", key="two")


def test_a_run_has_a_user_a_description_tags_and_the_data_that_it_learns_from(runs: Path) -> None:
    store = TrackingStore(runs)
    tracker = store.start("a", key="one")
    tracker.describe("**better** than `ukeire`")
    tracker.set_tags({"colour": "x" * 10_000})
    tracker.log_dataset("games", "d" * 64, source="file:///games", profile={"games": 3})
    tracker.flush()
    found = store.client.get_run(tracker.run_id)
    assert found.data.tags["mlflow.user"] == getpass.getuser()
    assert found.data.tags["mlflow.note.content"] == "**better** than `ukeire`"
    assert len(found.data.tags["colour"]) == MAX_TAG_LENGTH
    assert found.inputs is not None
    (used,) = found.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.profile) == ("games", '{"games": 3}')
