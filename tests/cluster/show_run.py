"""Prints what ``suphx`` says of one run on a cluster without Kubernetes, as the README shows it.

``python -m tests.cluster.show_run`` (root, five minutes): ``suphx launch`` makes the chart's objects in an API server,
the pods that they ask for are started as hosts of their own, one of them is killed, and the commands are typed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from suphx_platform.cluster.run_manifest import RunObjects
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.cluster.api_mirror import ApiMirror
from tests.cluster.pod_cluster import PodCluster, wait
from tests.cluster.pod_network import GATEWAY, PodNetwork, pod_network
from tests.cluster.services import MLFLOW, SMALL_RUN, mlflow_server, run_template
from tests.repository import REPOSITORY
from tests.suphx_platform.cluster.fake_api_server import Cluster, api_server
from tests.suphx_platform.storage.s3_server import BUCKET, s3_server

RECIPE = "pipelines/recipes/reinforcement.toml"
_BEFORE, _AFTER = 100, 20
"""Updates before a simulator is killed, and from then to the commands."""


def main() -> None:
    """Have all servers, and print."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background would ignore it
    os.environ["MLFLOW_TRACKING_URI"] = MLFLOW
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        pod_network() as network,
        s3_server(Path(name) / "s3", host=GATEWAY) as s3,
        mlflow_server(Path(name) / "mlflow"),
        api_server(Path(name)) as (api, kubeconfig),
    ):
        os.environ |= {**s3.environment, "KUBECONFIG": str(kubeconfig)}
        s3.client().create_bucket(Bucket=BUCKET)
        api.put("configmaps", run_template(s3.endpoint_url))
        _show(api, network, s3.environment, Path(name))


def _show(api: Cluster, network: PodNetwork, secrets: dict[str, str], folder: Path) -> None:
    chosen = SMALL_RUN | {"reinforcement.max_minutes": "60"}  # it is ended before
    settings = [word for key, value in chosen.items() for word in ("--set", f"{key}={value}")]
    _suphx("launch", RECIPE, "--preset", "laptop-kind", hidden=settings)
    (run,) = api.names("rayjobs")
    job, recipe = api.objects["rayjobs", run], api.objects["configmaps", f"{run}-recipe"]
    cluster = PodCluster(RunObjects(run_id=run, job=job, recipe=recipe), secrets, folder, network)
    mirror = ApiMirror(api, cluster, run)

    def has_made(updates: float) -> bool:
        mirror.look()
        return TrackingStore(Path("unused")).newest_metrics(run).get("updates", 0.0) >= updates

    try:
        cluster.start(1)
        wait("updates", lambda: has_made(_BEFORE), 900)
        storage = Storage(StorageConfig(address=f"s3://{BUCKET}/runs"))
        wait("a checkpoint", lambda: storage.newest_path(run) is not None, 120)
        _suphx("status", run)
        _suphx("logs", run, "--tail", "3")
        cluster.pods["simulator-0"].kill()
        wait("a pod that is not ready", lambda: "simulator-0" not in mirror.look(), 60)
        _suphx("jobs")
        wait("more updates", lambda: has_made(_BEFORE + _AFTER), 600)
        _suphx("logs", run, "--tail", "12")
        _suphx("status", run)
    finally:
        cluster.stop()


def _suphx(*arguments: str, hidden: list[str] | None = None) -> None:
    """Type a command and show it, without the arguments that only make the run small."""
    print("$ suphx", *arguments, flush=True)
    program = [str(Path(sys.executable).parent / "suphx"), *arguments, *(hidden or [])]
    subprocess.run(program, check=True, cwd=REPOSITORY, stderr=subprocess.STDOUT)


if __name__ == "__main__":
    main()
