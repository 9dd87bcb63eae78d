"""The system metrics of all nodes of a real cluster, in MLflow under the name of each."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

from suphx_platform.ray.node_metrics import NodeMetrics
from suphx_platform.tracking.machine_metrics import system_metrics
from suphx_platform.tracking.tracking import TrackingStore

pytestmark = [pytest.mark.ray, pytest.mark.slow]


def test_every_node_of_a_cluster_has_its_metrics_in_mlflow(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "1")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False)
        store, others = TrackingStore(runs), NodeMetrics()
        with closing(store), store.start("run", key="run") as run:
            limit = time.monotonic() + 120
            while len(others()) < 2 and time.monotonic() < limit:
                time.sleep(0.5)
            names = set(others())
            assert len(names) == 2
            with system_metrics(run, time.time(), others):
                time.sleep(5)
            cluster.remove_node(nodes[0])
            while len(others()) != 1 and time.monotonic() < limit:
                time.sleep(0.5)
            assert len(others()) == 1, "a node that has gone is not asked"
        logged = set(store.client.get_run(run.run_id).data.metrics)
        assert "system/cpu_utilization_percentage" in logged
        assert {f"system/{name}/cpu_utilization_percentage" for name in names} <= logged
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert others() == {}
