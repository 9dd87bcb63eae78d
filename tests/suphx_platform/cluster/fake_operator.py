"""KubeRay's operator 1.7 as far as a RayJob is concerned: the same states, in the same order, with the same events.

>>> cluster.operator = Operator(cluster)  # acts after every change of a RayJob, until there is nothing to do
>>> cluster.operator.report("a-run", "FAILED")  # what Ray says of the driver
"""

from __future__ import annotations

import copy
import itertools
import re
import threading
from collections.abc import Callable
from typing import Any

from tests.helm.operator_rules import broken_rules
from tests.repository import RECIPES
from tests.suphx_platform.cluster.fake_api_server import Cluster, Object, now

FINALIZER = "ray.io/rayjob-finalizer"


class Operator:
    """Consumes: changes of RayJobs. Produces: their status, RayClusters, pods, submitters, events."""

    def __init__(self, cluster: Cluster, *, starts_pods: bool = True) -> None:
        """``starts_pods``: all pods are ready at once, so that a RayJob is soon ``Running``."""
        self._cluster = cluster
        self._starts_pods = starts_pods
        self._ray: dict[str, str] = {}
        """By the ``jobId`` of the attempt."""
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()
        self._is_busy = False
        self.ends_submitters = True
        """Whether submitters end when Ray's job does; the operator waits for both, 300 s at most."""
        self.waits_in = ""
        """A value of ``jobDeploymentStatus`` which RayJobs do not leave: ``Retrying`` while what is deleted is still
        there, ``Initializing`` while pods start. The operator goes on at its next call."""

    def __call__(self, kind: str, body: Object) -> None:
        """Act on a change."""
        with self._lock:
            if kind == "rayjobs" and not self._is_busy:
                self._is_busy = True
                try:
                    while self._step(str(body["metadata"]["name"])):
                        pass
                finally:
                    self._is_busy = False

    def report(self, run: str, ray: str) -> None:
        """Let Ray say how the driver is."""
        status = self._cluster.found("rayjobs", run).get("status") or {}
        self._ray[str(status.get("jobId"))] = ray
        self(kind="rayjobs", body={"metadata": {"name": run}})

    def warn(self, subject: Object, reason: str, message: str, **more: Any) -> None:
        """Record a warning about an object, as events are: by kind, name and uid."""
        involved = {key: subject[key] for key in ("kind", "apiVersion")}
        involved |= {"name": subject["metadata"]["name"], "uid": subject["metadata"]["uid"]}
        body = {"type": "Warning", "reason": reason, "message": message, "involvedObject": involved}
        name = f"{involved['name']}.{next(self._numbers)}"
        self._cluster.put("events", {"metadata": {"name": name}, "lastTimestamp": now(), **body, **more})

    def _step(self, name: str) -> bool:
        """Do one reconciliation; return whether the RayJob has changed."""
        job = self._cluster.objects.get(("rayjobs", name))
        if job is None:
            return False
        job = copy.deepcopy(job)
        before = copy.deepcopy(job)
        if job["metadata"].get("deletionTimestamp"):
            job["metadata"]["finalizers"] = []
        else:
            fault = _fault(job)
            state = str((job.get("status") or {}).get("jobDeploymentStatus") or "New")
            if fault:
                self._reject(job, fault)
            elif state == self.waits_in == "Retrying":
                self._has_removed(job)
            else:
                getattr(self, f"_{state.lower()}", lambda _: None)(job)
        if job == before:
            return False
        self._cluster.put("rayjobs", job)
        return True

    def _reject(self, job: Object, fault: str) -> None:
        wanted = {"jobDeploymentStatus": "ValidationFailed", "reason": "ValidationFailed", "message": fault}
        status = job.setdefault("status", {})
        if status.get("jobDeploymentStatus") != "ValidationFailed":
            self.warn(job, "InvalidRayJobSpec", f"suphx/{job['metadata']['name']}: {fault}")
            status |= wanted

    def _new(self, job: Object) -> None:
        job["metadata"]["finalizers"] = [FINALIZER]
        status = job.setdefault("status", {})
        cluster = f"{job['metadata']['name']}-{next(self._numbers):05}"
        status |= {"jobDeploymentStatus": "Initializing", "jobStatus": "", "rayClusterName": cluster}
        status |= {"startTime": now(), "jobId": f"{cluster}-job"}
        status |= {key: status.get(key, 0) for key in ("failed", "succeeded")}  # with every other status, in fact

    def _initializing(self, job: Object) -> None:
        if self._suspends(job):
            return
        name = job["status"]["rayClusterName"]
        if ("rayclusters", name) not in self._cluster.objects:
            self._create_cluster(job, name)
        if self._starts_pods and self.waits_in != "Initializing" and any(is_ready_pod(pod) for pod in self._pods(name)):
            self._create_submitter(job)
            job["status"]["jobDeploymentStatus"] = "Running"

    def _running(self, job: Object) -> None:
        if self._suspends(job):
            return
        status, name = job["status"], job["metadata"]["name"]
        status["jobStatus"] = ray = self._ray.get(str(status.get("jobId")), "RUNNING")
        if ray not in ("SUCCEEDED", "FAILED", "STOPPED") or not self.ends_submitters:
            return
        self._end_submitters(name)
        if ray != "FAILED":
            status["jobDeploymentStatus"] = "Complete"
            status["succeeded"] += ray == "SUCCEEDED"
            return
        status["failed"] = int(status.get("failed") or 0) + 1
        is_over = status["failed"] > int(job["spec"].get("backoffLimit") or 0)
        status |= {"reason": "AppFailed", "message": "Job entrypoint command failed with exit code 1"}
        status["jobDeploymentStatus"] = "Failed" if is_over else "Retrying"

    def _end_submitters(self, run: str) -> None:
        for name in self._cluster.names("pods"):
            pod = self._cluster.found("pods", name)
            labels = pod["metadata"]["labels"]
            if (labels.get("suphx/role"), labels.get("suphx/run")) == ("submitter", run):
                self._cluster.put("pods", {**pod, "status": {**pod["status"], "phase": "Succeeded"}})

    def _suspending(self, job: Object) -> None:
        if self._has_removed(job):
            _reset(job, "Suspended")

    def _retrying(self, job: Object) -> None:
        if self._has_removed(job):
            _reset(job, "")

    def _suspended(self, job: Object) -> None:
        if not job["spec"].get("suspend"):
            _reset(job, "")

    def _suspends(self, job: Object) -> bool:
        if job["spec"].get("suspend"):
            job["status"]["jobDeploymentStatus"] = "Suspending"
        return bool(job["spec"].get("suspend"))

    def _has_removed(self, job: Object) -> bool:
        """Delete RayCluster and submitter; their pods may go on for a while, for which the operator does not wait."""
        for kind, name in (("rayclusters", job["status"].get("rayClusterName")), ("jobs", job["metadata"]["name"])):
            if (kind, name) in self._cluster.objects:
                self._cluster.delete(kind, str(name))
        return True

    def _create_cluster(self, job: Object, name: str) -> None:
        spec = copy.deepcopy(job["spec"]["rayClusterSpec"])
        cluster = self._cluster.put("rayclusters", {"metadata": {"name": name, **_owned(job)}, "spec": spec})
        groups = [("head", 1, spec["headGroupSpec"])]
        groups += [(one["groupName"], one["replicas"], one) for one in spec["workerGroupSpecs"]]
        for role, replicas, group in groups:
            for number in range(replicas):
                labels = group["template"]["metadata"]["labels"]
                reason = f"FailedToCreate{'Head' if role == 'head' else 'Worker'}Pod"
                self._create_pod(f"{name}-{role}-{number}", cluster, labels, reason, role)

    def _create_submitter(self, job: Object) -> None:
        name = job["metadata"]["name"]
        submitter = self._cluster.put("jobs", {"metadata": {"name": name, **_owned(job)}})
        labels = job["spec"]["submitterPodTemplate"]["metadata"]["labels"]
        self._create_pod(f"{name}-{next(self._numbers):05}", submitter, labels, "FailedCreate", "submitter")

    def _create_pod(self, name: str, owner: Object, labels: dict[str, str], reason: str, role: str) -> None:
        used, most = len(self._cluster.names("pods")), self._cluster.quota.get("pods")
        if most is not None and used >= most:
            quota = f"exceeded quota: suphx, requested: pods=1, used: pods={used}, limited: pods={most}"
            self.warn(owner, reason, f'Failed to create Pod suphx/{name}: pods "{name}" is forbidden: {quota}')
            return
        conditions = [{"type": "Ready", "status": "True"}] if self._starts_pods else []
        running = [{"name": role, "state": {"running": {}}}] if self._starts_pods else []
        status = {"phase": "Running" if self._starts_pods else "Pending", "conditions": conditions}
        metadata = {"name": name, "labels": dict(labels), **_owned(owner)}
        spec = {"containers": [{"name": role}]}
        body = {"metadata": metadata, "spec": spec, "status": {**status, "containerStatuses": running}}
        self._cluster.put("pods", body)

    def _pods(self, name: str) -> list[Object]:
        uid = self._cluster.objects["rayclusters", name]["metadata"]["uid"]
        pods = [one for (kind, _), one in self._cluster.objects.items() if kind == "pods"]
        return [one for one in pods if one["metadata"].get("ownerReferences", [{}])[0].get("uid") == uid]


def is_ready_pod(pod: Object) -> bool:
    """Tell whether a pod is a head that is ready."""
    is_head = pod["metadata"]["labels"].get("suphx/role") == "head"
    return is_head and any(one["type"] == "Ready" for one in pod["status"]["conditions"])


def _fault(job: Object) -> str:
    """Return for which of its rules the operator rejects a RayJob; empty for none."""
    return "; ".join(broken_rules(job))


def _owned(owner: Object) -> Object:
    metadata = owner["metadata"]
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    return {"ownerReferences": [{**reference, "name": metadata["name"], "uid": metadata["uid"]}]}


def _reset(job: Object, state: str) -> None:
    for key in ("rayClusterName", "jobId", "message", "reason"):
        job["status"].pop(key, None)
    job["status"] |= {"jobDeploymentStatus": state, "jobStatus": ""}


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


def without_storage(cluster: Cluster, run: str) -> None:
    """Let a run keep what it stores in its head pod only."""
    spec = cluster.objects["rayjobs", run]["spec"]
    spec["entrypoint"] = re.sub(r" --set storage\.address=\S*", "", spec["entrypoint"])
    volumes = spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["volumes"]
    volumes[:] = [one for one in volumes if one["name"] != "runs"] + [{"name": "runs", "emptyDir": {}}]
