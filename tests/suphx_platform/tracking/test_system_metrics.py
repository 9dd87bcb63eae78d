"""Against a real MLflow store."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from suphx_platform.tracking.system_metrics import system_metrics
from suphx_platform.tracking.tracking import TrackingStore

THREAD = "system metrics"


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
            assert THREAD in [thread.name for thread in threading.enumerate()]
        found = store.newest_metrics("one")
        history = store.client.get_metric_history(tracker.run_id, name)
    assert found["system/head/system_memory_usage_megabytes"] > 0
    assert all(100 <= point.step < 1000 for point in history), "seconds since the run was begun first"


def test_mlflows_own_variable_turns_them_off(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING", "false")
    with (
        closing(TrackingStore(runs)) as store,
        store.start("a", key="one") as tracker,
        system_metrics(tracker, time.time() - 100),
    ):
        assert THREAD not in [thread.name for thread in threading.enumerate()]
