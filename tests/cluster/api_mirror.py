"""What KubeRay's operator and the nodes would tell the API server of the pods and the job of a PodCluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.request import urlopen

from tests.cluster.pod_cluster import PodCluster
from tests.suphx_platform.cluster.fake_api_server import Cluster

_HEALTH = "http://{}:52365/api/local_raylet_healthz"
"""What KubeRay's probes ask of every pod."""


class ApiMirror:
    """Usage: ``mirror.look()``, again and again; then ``suphx status`` tells how the pods are now."""

    def __init__(self, api: Cluster, cluster: PodCluster, run: str) -> None:
        self._api, self._cluster, self._run = api, cluster, run
        self._submitter = f"{run}-submitter"

    def look(self) -> set[str]:
        """Write the state of all pods and of the job, and what the job has printed; return the names of ready pods."""
        ready = {plan.name for plan in self._cluster.plans if self._answers(plan.name)}
        for plan in self._cluster.plans:
            self._put_pod(f"{self._run}-{plan.name}", plan.role, is_ready=plan.name in ready)
        try:
            ray, log = self._cluster.client.status(self._cluster.job), self._cluster.client.log(self._cluster.job)
        except OSError:  # the head is not there yet
            ray, log = "", ""
        job = self._api.objects["rayjobs", self._run]
        status = {"jobDeploymentStatus": "Running" if ray else "Initializing", "jobStatus": ray}
        self._api.put("rayjobs", {**job, "status": status})
        if ray:
            self._put_pod(self._submitter, "submitter", is_ready=True)
            self._append(log.splitlines())
        return ready

    def _append(self, lines: list[str]) -> None:
        known = self._api.logs.setdefault(self._submitter, [])
        for line in lines[len(known) :]:
            known.append(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ} {line}")

    def _put_pod(self, name: str, role: str, *, is_ready: bool) -> None:
        body: dict[str, Any] = {
            "metadata": {"name": name, "labels": {"suphx/run": self._run, "suphx/role": role}},
            "spec": {"containers": [{"name": role}]},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": str(is_ready)}],
                "containerStatuses": [{"name": role, "state": {"running": {}}}],
            },
        }
        self._api.put("pods", body)

    def _answers(self, name: str) -> bool:
        try:
            with urlopen(_HEALTH.format(self._cluster.addresses[name]), timeout=5) as answer:
                return b"success" in answer.read()
        except OSError:
            return False
