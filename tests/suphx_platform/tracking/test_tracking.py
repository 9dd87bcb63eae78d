"""With a real store: what arrives, once and in order, whatever is killed."""

from __future__ import annotations

import getpass
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from mlflow.entities import Metric
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INTERNAL_ERROR

from suphx_platform.tracking import tracking
from suphx_platform.tracking.machine_metrics import system_metrics
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.mlflow_store import MAX_TAG_LENGTH, MAX_VALUE_LENGTH, MlflowStore
from suphx_platform.tracking.outbox import Message
from suphx_platform.tracking.tracking import EVALUATION, TrackedData, Tracker, TrackingStore


@pytest.fixture
def store(runs: Path) -> TrackingStore:
    return TrackingStore(runs)


def history(tracker: Tracker, name: str) -> list[tuple[int, float]]:
    """Return the steps and values of a metric in MLflow."""
    found = tracker.store.client.get_metric_history(tracker.run_id, name)
    return [(entry.step, entry.value) for entry in found]


def test_a_run_keeps_all_that_is_logged(runs: Path, store: TrackingStore, tmp_path: Path) -> None:
    params = {"rate": 0.1, "long": "x" * 10_000} | {f"p{n}": n for n in range(150)}
    file, folder = tmp_path / "note.txt", tmp_path / "notes"
    file.write_text("hello")
    folder.mkdir()
    (folder / "inner.txt").write_text("there")
    with closing(store), store.start("a run", key="one", tags={"colour": "blue"}, params=params) as tracker:
        tracker.log_metrics({"loss": 2.0}, step=1)
        tracker.log_metrics({"loss": 1.5}, step=2)
        tracker.describe("**better** than `ukeire`")
        tracker.set_tags({"shape": "x" * 10_000})
        games = TrackedData(
            name="games", digest="d" * 64, source="file:///games", profile={"games": 3}, columns={"planes": "binary"}
        )
        tracker.log_dataset(games, EVALUATION)
        tracker.log_artifact(file)
        tracker.log_artifact(folder)
    run = store.client.get_run(tracker.run_id)
    assert (run.info.status, run.info.run_name) == ("FINISHED", "a run")
    assert (run.data.tags["colour"], run.data.tags["mlflow.user"]) == ("blue", getpass.getuser())
    assert run.data.tags["mlflow.note.content"] == "**better** than `ukeire`"
    assert len(run.data.tags["shape"]) == MAX_TAG_LENGTH
    assert (run.data.params["rate"], len(run.data.params["long"])) == ("0.1", MAX_VALUE_LENGTH)
    assert len(run.data.params) == 152
    assert history(tracker, "loss") == [(1, 2.0), (2, 1.5)]
    assert run.inputs is not None
    (used,) = run.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.profile) == ("games", '{"games": 3}')
    assert used.dataset.schema is not None
    assert json.loads(used.dataset.schema)["mlflow_colspec"][0]["name"] == "planes"
    assert [(tag.key, tag.value) for tag in used.tags] == [("mlflow.data.context", "evaluation")]
    assert {path.name for path in (runs / "artifacts").rglob("*.txt")} == {"note.txt", "inner.txt"}


def test_a_nested_run_knows_its_parent(store: TrackingStore) -> None:
    parent = store.start("parent", key="p")
    child = parent.start("child", key="p/c", tags={"extra": "1"}, params={"seed": 1})
    data = store.client.get_run(child.run_id).data
    assert data.tags["mlflow.parentRunId"] == parent.run_id
    assert (data.tags["extra"], data.params) == ("1", {"seed": "1"})


def test_the_same_key_continues_the_same_run_unless_its_parameters_differ(runs: Path, store: TrackingStore) -> None:
    with pytest.raises(OSError, match="cheese"), store.start("a", key="one", params={"rate": 0.1}) as first:
        raise OSError("the disk is made of cheese")
    store.close()
    assert store.client.get_run(first.run_id).info.status == "FAILED"
    other = r"the run a in MLflow .* other settings: rate is '0\.1' there, '0\.2' here\. "
    with pytest.raises(ValueError, match=other):
        store.start("a", key="one", params={"rate": 0.2})
    assert store.client.get_run(first.run_id).info.status == "FAILED", "nothing is changed"
    again = TrackingStore(runs).start("a", key="one", params={"rate": 0.1, "threads": 2})
    assert again.run_id == first.run_id
    assert store.client.get_run(again.run_id).info.status == "RUNNING"
    assert store.start("a", key="two").run_id != first.run_id


@pytest.mark.parametrize("ends_with", [KeyboardInterrupt, ValueError])
def test_a_run_that_is_asked_to_stop_waits_less_for_mlflow(
    ends_with: type[BaseException],
    store: TrackingStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    is_open, send = threading.Event(), store.send
    monkeypatch.setattr(tracking, "STOP_SECONDS", 0.1)

    def send_late(messages: Sequence[Message]) -> None:
        assert is_open.wait(60)
        send(messages)

    monkeypatch.setattr(store, "send", send_late)
    store.start("a", key="one").log_metrics({"loss": 2.0}, step=1)
    if ends_with is ValueError:
        is_open.set()
    with pytest.raises(ends_with), store.closed():
        raise ends_with
    assert ("MLflow is slow" in caplog.text) == (ends_with is KeyboardInterrupt)
    is_open.set()
    store.close()


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_bytes(b"no database" * 1000)
    with pytest.raises(TrackingError, match=r"the MLflow store sqlite:.*mlflow\.db cannot be used .*move it away"):
        TrackingStore(tmp_path).reach()


def test_a_deleted_experiment_is_named_with_the_command_that_restores_it(runs: Path, store: TrackingStore) -> None:
    store.start("a", key="one")
    store.client.delete_experiment(store.experiment_id())
    with pytest.raises(ValueError, match=r"was deleted in MLflow: restore it with `MLFLOW_TRACKING_URI=") as caught:
        TrackingStore(runs).start("a", key="one")
    (command,) = re.findall("`(MLFLOW_TRACKING_URI.*?)`", str(caught.value))
    command = command.replace(" mlflow ", f" {Path(sys.executable).parent}/mlflow ")
    subprocess.run(command, shell=True, check=True, capture_output=True, cwd=runs)
    TrackingStore(runs).start("a", key="two")


def test_all_runs_are_found_however_many_one_answer_has(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MlflowStore(runs)
    ids = {key: store.begin(key, key=key, tags={}, params={}) for key in ("a-1", "a-1/stage", "a-2", "b-1", "a-3")}
    own = {key: run_id for key, run_id in ids.items() if "/" not in key}
    search = store.client.search_runs
    monkeypatch.setattr(
        store.client, "search_runs", lambda *given, **named: search(*given, **named | {"max_results": 2})
    )
    assert sorted(store.names()) == sorted(own)
    assert store.running() == own
    assert store.ids_of("a-") == {key: own[key] for key in ("a-1", "a-2", "a-3")}
    store.kill("a-2")
    assert store.running().keys() == own.keys() - {"a-2"}


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListObjectsV2"),
        EndpointConnectionError(endpoint_url="http://127.0.0.1:9"),
        ConnectionResetError("reset"),
        KeyError("a mistake of our own"),
    ],
)
def test_files_of_a_bucket_that_refuses_cannot_be_fetched(
    error: Exception, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> str:
        raise error

    monkeypatch.setattr("mlflow.artifacts.download_artifacts", refuse)
    expected = KeyError if isinstance(error, KeyError) else OSError
    with pytest.raises(expected) as raised:
        MlflowStore(runs).download("s3://bucket/nets", tmp_path / "nets")
    assert expected is KeyError or f"s3://bucket/nets cannot be fetched from sqlite:///{runs}" in str(raised.value)
    assert not (tmp_path / "nets").exists()


# Kills, and requests that are sent twice

RUN_WITHOUT_MLFLOW = """
import sys, time
from contextlib import contextmanager
from pathlib import Path
from suphx_platform.tracking.mlflow_client import USUAL, TrackingError
from suphx_platform.tracking.tracking import TrackingStore

@contextmanager
def nobody_answers(self, patience=USUAL):
    raise TrackingError("nobody answers")
    yield

store = TrackingStore(Path(sys.argv[1]))
stage = store.start("a", key="one").start("stage", key="one/stage/1")
stage.log_metrics({"loss": 100.0}, step=0)
stage.flush()
TrackingStore.call = nobody_answers
for step in range(1, 500):
    stage.log_metrics({"loss": 100.0 - step, "speed": step}, step=step)
stage.log_artifact(Path(sys.argv[2]))
print("ready", flush=True)
time.sleep(600)
"""


def test_a_killed_process_loses_nothing_that_mlflow_did_not_take(runs: Path, store: TrackingStore) -> None:
    command = [sys.executable, "-c", RUN_WITHOUT_MLFLOW, str(runs), __file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    with closing(store), store.start("a", key="one"):
        pass
    stage = store.find("one/stage/1")
    assert stage is not None
    found = store.client.get_metric_history(stage.info.run_id, "loss")
    assert [(entry.step, entry.value) for entry in found] == [(step, 100.0 - step) for step in range(500)]
    assert len(store.client.list_artifacts(stage.info.run_id)) == 1
    assert not (runs / "one").exists()


def test_what_is_sent_twice_is_in_mlflow_once(store: TrackingStore) -> None:
    create = store.client.create_run

    def create_twice(*arguments: Any, **options: Any) -> Any:
        return max((create(*arguments, **options) for _ in range(2)), key=lambda run: run.info.run_id)

    store.client.create_run = create_twice  # type: ignore[method-assign]
    with closing(store), store.start("a", key="one") as tracker:
        metrics = [["loss", value, 7, step] for step, value in ((1, 2.0), (2, 1.0))]
        for _ in range(2):  # as after a kill between the call and its mark
            store.send([{"do": "metrics", "key": "one", "metrics": metrics}])
    assert history(tracker, "loss") == [(1, 2.0), (2, 1.0)]
    assert store.newest_metrics("one") == {"loss": 1.0}, "the run that is found"


def test_a_metric_that_mlflow_never_takes_costs_no_other_point_and_is_sent_again_on_request(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suphx_platform.tracking.outbox._FIRST_PAUSE_SECONDS", 0.001)

    def store_of_server(is_faulty: bool) -> TrackingStore:
        store = TrackingStore(runs)
        log_batch = store.client.log_batch

        def log(run_id: str, metrics: Sequence[Metric] = (), **others: Any) -> None:
            if is_faulty and any(metric.key == "bad" for metric in metrics):
                raise MlflowException("status 500", INTERNAL_ERROR)
            log_batch(run_id, metrics=metrics, **others)

        store.client.log_batch = log  # type: ignore[assignment, method-assign]
        return store

    for session in range(2):
        with closing(store_of_server(True)) as store, store.start("a", key="one") as tracker:
            if session:
                tracker.resume()
            for step in range(20 * session, 20 * session + 20):
                tracker.log_metrics({"good": 1.0, "bad": float(step)}, step=step)
    run = store.find("one")
    assert run is not None
    assert run.info.status == "FINISHED"
    assert len(history(tracker, "good")) == 40
    number, left = store_of_server(True).send_refused("one")
    assert number >= left > 0, "points of one metric become one message"
    assert store_of_server(False).send_refused("one") == (left, 0)
    assert sorted(value for _, value in history(tracker, "bad")) == list(range(40))
    assert store.send_refused("one") == (0, 0)


def test_steps_that_a_resumed_run_repeats_are_in_mlflow_once(runs: Path) -> None:
    for session, (first, last) in enumerate(((0, 11), (6, 16), (3, 13), (12, 20))):
        with closing(TrackingStore(runs)) as store, store.start("a", key="one") as tracker:
            if session:
                tracker.resume()
            for step in range(first, last):
                tracker.log_metrics({"loss": 100.0 * session + step, f"of {session}": 1.0}, step=step)
            tracker.log_metrics({"seconds": session})
    sessions = [0] * 11 + [1] * 5 + [3] * 4
    assert history(tracker, "loss") == [(step, 100.0 * session + step) for step, session in enumerate(sessions)]
    assert [step for step, _ in history(tracker, "of 3")] == list(range(12, 20)), "another metric has another last step"
    assert [value for _, value in history(tracker, "seconds")] == [0.0, 1.0, 2.0, 3.0]


def test_the_machines_metrics_are_points_of_the_run(store: TrackingStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "0.05")
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_NODE_ID", "head")
    name, limit = "system/head/cpu_utilization_percentage", time.monotonic() + 60
    with closing(store), store.start("a", key="one") as tracker, system_metrics(tracker, time.time() - 100):
        while name not in store.newest_metrics("one"):
            assert time.monotonic() < limit
            time.sleep(0.05)
    assert store.newest_metrics("one")["system/head/system_memory_usage_megabytes"] > 0
    assert all(100 <= step < 1000 for step, _ in history(tracker, name)), "seconds since the run was begun first"


# The experiment


@pytest.mark.parametrize("already_exists", [False, True])
def test_runs_are_in_the_experiment_that_the_environment_names(
    runs: Path, store: TrackingStore, already_exists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if already_exists:
        number = store.client.create_experiment("mahjong", tags={"team": "blue"})
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mahjong")
    with closing(store), store.start("a", key="one") as tracker:
        pass
    found = store.client.get_experiment_by_name("mahjong")
    assert found is not None
    assert store.client.get_run(tracker.run_id).info.experiment_id == found.experiment_id
    assert ("mlflow.note.content" in found.tags) == (not already_exists), "the note of somebody else's stays"
    assert store.client.get_experiment_by_name("suphx") is None
    if already_exists:
        assert found.experiment_id == number
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", found.experiment_id)
    assert TrackingStore(runs).experiment_id() == found.experiment_id
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME")
    again = TrackingStore(runs)
    assert again.experiment_id() == found.experiment_id
    assert again.find("one") is not None
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", "77")
    with pytest.raises(ValueError, match="MLFLOW_EXPERIMENT_ID is 77, but MLflow has no such experiment"):
        TrackingStore(runs).experiment_id()
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mahjong")
    with pytest.raises(ValueError, match="77, which is not the experiment mahjong"):
        TrackingStore(runs).experiment_id()
