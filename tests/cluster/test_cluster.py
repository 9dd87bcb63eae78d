"""A cluster without Kubernetes: the chart's pods as hosts of their own, with real S3 and MLflow servers beside them.

One run on it: a pod of each role is deleted as a drained node deletes it, and killed; one loses its network for 30 s;
the head dies with its cluster and a new one continues from the storage; that one is deleted with all pods, saves first,
and a third one goes on. At the end everything is stored and counted. ``make cluster-test`` (root, 25 minutes).
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_platform.cluster.run_manifest import RunObjects, run_objects
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.tracking import TrackingStore
from tests.cluster.pod_cluster import PodCluster, wait
from tests.cluster.pod_network import GATEWAY, missing, pod_network
from tests.cluster.services import MLFLOW, SMALL_RUN, mlflow_server, run_template
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe
from tests.suphx_platform.storage.s3_server import BUCKET, missing_programs, s3_server

RECIPE = RECIPES / "reinforcement.toml"
RUN = "cluster-test"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.ray,
    pytest.mark.skipif(bool(missing()), reason=missing() or "-"),
    pytest.mark.skipif(
        bool(missing_programs()),
        reason="needs an S3 server: apt-get install --no-install-recommends radosgw ceph-mon ceph-osd",
    ),
]


def objects(endpoint: str) -> RunObjects:
    """What ``suphx launch`` would create with the chart's smallest preset."""
    recipe = to_toml(load_recipe(RECIPE, list(SMALL_RUN.items())))
    return run_objects(run_template(endpoint), preset=None, run_id=RUN, recipe=recipe, overrides=[])


def figures() -> dict[str, float]:
    """The newest figures of the run, from MLflow, which answers late where cores are few."""
    found: list[dict[str, float]] = []

    def is_read() -> bool:
        try:
            found.append(TrackingStore(Path("unused")).newest_metrics(RUN))
        except TrackingError:
            return False
        return True

    wait("MLflow answers", is_read, 120)
    return found[0]


def learns_on(cluster: PodCluster, updates: int = 4, seconds: float = 600) -> None:
    """Wait until so many updates more have been made."""
    until = figures().get("updates", 0.0) + updates

    def is_so() -> bool:
        assert cluster.client.status(cluster.job) in ("PENDING", "RUNNING"), cluster.client.log(cluster.job)[-3000:]
        return figures().get("updates", 0.0) >= until

    wait(f"{updates} more updates", is_so, seconds)


def test_a_run_survives_what_happens_to_its_pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", MLFLOW)
    with pod_network() as network, s3_server(tmp_path / "s3", host=GATEWAY) as s3, mlflow_server(tmp_path / "mlflow"):
        for name, value in s3.environment.items():
            monkeypatch.setenv(name, value)
        s3.client().create_bucket(Bucket=BUCKET)
        cluster = PodCluster(objects(s3.endpoint_url), s3.environment, tmp_path, network)
        try:
            cluster.start(1)
            learns_on(cluster, seconds=900)
            for role in ("simulator", "inference", "learner"):
                pod = cluster.pods[f"{role}-0"]
                pod.delete()
                pod.delete()  # its successor, while that starts
                learns_on(cluster)
                pod.kill()
                learns_on(cluster)
            network.cut("inference-0")
            time.sleep(30)
            network.join("inference-0")
            learns_on(cluster)
            before = figures()
            storage = Storage(StorageConfig(address=f"s3://{BUCKET}/runs"))
            wait("a checkpoint", lambda: storage.newest_path(RUN) is not None, 60)
            cluster.stop()  # the head dies, and its cluster with it
            cluster.start(2)
            learns_on(cluster, seconds=900)
            assert json.loads(cluster.delete()) == {"stopped": {RUN: "saved"}}
            saved = figures()
            cluster.start(3)
            wait("the end", lambda: cluster.client.status(cluster.job) in ("SUCCEEDED", "FAILED"), 900)
            log = cluster.client.log(cluster.job)
            assert cluster.client.status(cluster.job) == "SUCCEEDED", log[-3000:]
        finally:
            cluster.stop()
        assert "reinforcement: fetched from the storage" in log
        after = figures()
        assert after["updates"] >= saved["updates"] > before["updates"] - 10
        assert {"simulator_died_faults", "engine_died_faults", "learner_died_faults"} <= after.keys()
        assert storage.load_newest(f"{RUN}/reinforcement", tmp_path / "result") is not None
        assert (tmp_path / "result" / "discard.safetensors").is_file()
