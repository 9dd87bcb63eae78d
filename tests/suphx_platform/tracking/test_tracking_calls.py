"""With a real store: what arrives, once and in order, whatever is killed."""

from __future__ import annotations

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
from mlflow.entities import Metric
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INTERNAL_ERROR

from suphx_platform.tracking.tracking import TrackingStore, system_metrics

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


def test_a_killed_process_loses_nothing_that_mlflow_did_not_take(runs: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", RUN_WITHOUT_MLFLOW, runs, __file__], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with closing(TrackingStore(runs)) as store, store.start("a", key="one"):
        pass
    stage = store.find("one/stage/1")
    assert stage is not None
    history = store.client.get_metric_history(stage.info.run_id, "loss")
    assert [(entry.step, entry.value) for entry in history] == [(step, 100.0 - step) for step in range(500)]
    assert len(store.client.list_artifacts(stage.info.run_id)) == 1
    assert not (runs / "one").exists()


def test_points_that_are_sent_twice_are_in_mlflow_once(runs: Path) -> None:
    with closing(TrackingStore(runs)) as store, store.start("a", key="one") as tracker:
        message = {
            "do": "metrics",
            "key": "one",
            "metrics": [["loss", value, 7, step] for step, value in ((1, 2.0), (2, 1.0))],
        }
        for _ in range(2):  # as after a kill between the call and its mark
            store.send([message])
        history = store.client.get_metric_history(tracker.run_id, "loss")
    assert [(entry.step, entry.value) for entry in history] == [(1, 2.0), (2, 1.0)]


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

    for sitting in range(2):
        with closing(store_of_server(True)) as store, store.start("a", key="one") as tracker:
            if sitting:
                tracker.resume()
            for step in range(20 * sitting, 20 * sitting + 20):
                tracker.log_metrics({"good": 1.0, "bad": float(step)}, step=step)
    run = store.find("one")
    assert run is not None
    assert run.info.status == "FINISHED"
    assert len(store.client.get_metric_history(run.info.run_id, "good")) == 40
    number, left = store_of_server(True).send_refused("one")
    assert number >= left > 0, "points of one metric become one message"
    assert store_of_server(False).send_refused("one") == (left, 0)
    history = store.client.get_metric_history(run.info.run_id, "bad")
    assert sorted(entry.value for entry in history) == list(range(40))
    assert store.send_refused("one") == (0, 0)


def test_steps_that_a_resumed_run_repeats_are_in_mlflow_once(runs: Path) -> None:
    for sitting, (first, last) in enumerate(((0, 11), (6, 16), (3, 13), (12, 20))):
        with closing(TrackingStore(runs)) as store, store.start("a", key="one") as tracker:
            if sitting:
                tracker.resume()
            for step in range(first, last):
                tracker.log_metrics({"loss": 100.0 * sitting + step, f"of {sitting}": 1.0}, step=step)
            tracker.log_metrics({"seconds": sitting})
    history = {
        name: [(entry.step, entry.value) for entry in store.client.get_metric_history(tracker.run_id, name)]
        for name in ("loss", "of 3", "seconds")
    }
    sittings = [0] * 11 + [1] * 5 + [3] * 4
    assert history["loss"] == [(step, 100.0 * sitting + step) for step, sitting in enumerate(sittings)]
    assert [step for step, _ in history["of 3"]] == list(range(12, 20)), "another metric has another last step"
    assert [value for _, value in history["seconds"]] == [0.0, 1.0, 2.0, 3.0]


def test_the_machines_metrics_are_points_of_the_run(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "0.05")
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_NODE_ID", "head")
    limit = time.monotonic() + 60
    with closing(TrackingStore(runs)) as store, store.start("a", key="one") as tracker:
        with system_metrics(tracker, time.time() - 100):
            name = "system/head/cpu_utilization_percentage"
            while name not in store.newest_metrics("one"):
                assert time.monotonic() < limit
                time.sleep(0.05)
            assert "system metrics" in [thread.name for thread in threading.enumerate()]
        found = store.newest_metrics("one")
        history = store.client.get_metric_history(tracker.run_id, name)
    assert found["system/head/system_memory_usage_megabytes"] > 0
    assert all(100 <= point.step < 1000 for point in history), "seconds since the run was begun first"
