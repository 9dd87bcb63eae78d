"""Runs in the fake API server: what a test reads of them, and what others do to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.repository import RECIPES
from tests.suphx_platform.cluster.runs.cluster_store import Cluster, now

RECIPE = RECIPES / "reinforcement.toml"
KEYS = {"run_id", "state", "pods", "last_checkpoint", "problems"}

Command = Callable[..., tuple[int, dict[str, Any], str]]


def set_status(cluster: Cluster, run: str, deployment: str, ray: str = "", **more: Any) -> None:
    """Do what the operator does to the status of a RayJob."""
    job = cluster.objects["rayjobs", run]
    status = {"jobDeploymentStatus": deployment, "jobStatus": ray, "rayClusterName": f"{run}-abcde", **more}
    cluster.put("rayjobs", {**job, "status": {"startTime": now(), **status}})


def put_pod(cluster: Cluster, run: str, role: str, number: int = 0, **status: Any) -> str:
    """Store a pod of a run, ready unless ``status`` says otherwise; return its name."""
    name = f"{run}-{role}-{number}"
    ready = [{"type": "Ready", "status": "True"}]
    running = [{"name": role, "state": {"running": {}}}]
    body = {
        "metadata": {"name": name, "labels": {"suphx/run": run, "suphx/role": role}},
        "spec": {"containers": [{"name": role}]},
        "status": {"phase": "Running", "conditions": ready, "containerStatuses": running, **status},
    }
    cluster.put("pods", body)
    return name
