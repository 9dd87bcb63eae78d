"""The state of a run, and its pods by role, read from the objects in the cluster.

KubeRay's operator (1.7) writes two values into the status of a RayJob: ``jobDeploymentStatus``, its own progress, and
``jobStatus``, what Ray reports of the driver. docs/kubernetes.md lists all states and the commands that leave them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Object = Mapping[str, Any]
State = Literal[
    "queued",
    "starting",
    "running",
    "retrying",
    "stopping",
    "stopped",
    "succeeded",
    "failed",
    "deleting",
    "deleted",
]
STATES: tuple[State, ...] = get_args(State)

RUN_LABEL = "suphx/run"
ROLE_LABEL = "suphx/role"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
ELASTIC_NOTE = "kueue.x-k8s.io/elastic-job"
STOP_NOTE = "suphx/stop-requested"
"""Annotation of a RayJob that is to stop: since when."""
ROLES = ("head", "simulator", "inference", "learner")
REJECTED = "ValidationFailed"
"""``jobDeploymentStatus`` of a RayJob that the operator refuses; it never looks at that object again."""
_ENDED: tuple[State, ...] = ("stopped", "succeeded", "failed", "deleted")


@dataclass(frozen=True, slots=True)
class Pods:
    """How many pods of a role are ready and wanted."""

    ready: int
    wanted: int
    existing: int = 0
    """Pods that exist and have not ended, ready or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """The result of ``suphx status``."""

    run_id: str
    state: State
    pods: Mapping[str, Pods]
    """By role."""
    problems: Sequence[str]
    preset: str = ""
    last_checkpoint: str | None = None
    """Stage, number and time of the newest version in the storage; None if there is none, or it cannot be read."""
    progress: Mapping[str, float] = field(default_factory=dict)
    """The newest metrics in MLflow."""
    outcome: str = ""
    """Of ``suphx stop``: what the head reported of the driver's end; empty if there was no head, or no report."""

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        content: dict[str, object] = {
            "run_id": self.run_id,
            "state": self.state,
            "preset": self.preset,
            "pods": {role: {"ready": pods.ready, "wanted": pods.wanted} for role, pods in self.pods.items()},
            "progress": dict(self.progress),
            "last_checkpoint": self.last_checkpoint,
            "problems": list(self.problems),
        }
        return content | ({"outcome": self.outcome} if self.outcome else {})

    def to_text(self) -> dict[str, object]:
        """Return the same for a person, without empty entries."""
        pods = ", ".join(f"{role} {pods.ready}/{pods.wanted}" for role, pods in self.pods.items())
        progress = ", ".join(f"{name} {value:,.4g}" for name, value in self.progress.items())
        lines = {
            "run_id": self.run_id,
            "state": self.state,
            "preset": self.preset,
            "pods": pods,
            "progress": progress,
            "last_checkpoint": self.last_checkpoint,
            "problems": {f"{number}": text for number, text in enumerate(self.problems, 1)},
            "outcome": self.outcome,
        }
        return {name: value for name, value in lines.items() if value}


def is_ended(state: State) -> bool:
    """Return whether the run has ended for the operator: nothing will begin without a command."""
    return state in _ENDED


def is_stop_requested(job: Object | None) -> bool:
    """Return whether a RayJob is to stop."""
    return STOP_NOTE in ((job or {}).get("metadata", {}).get("annotations") or {})


def has_left_driver(job: Object | None) -> bool:
    """Return whether the operator gave a RayJob up whose driver Ray does not call ended, as after its deadline.

    Its pods stay for ``ttlSecondsAfterFinished``, and the driver works on in them.
    """
    status = (job or {}).get("status") or {}
    return status.get("jobDeploymentStatus") == "Failed" and status.get("jobStatus") in ("PENDING", "RUNNING")


def is_fixed_in_queue(job: Object) -> bool:
    """Return whether Kueue would stop a RayJob, and put it into its queue again, when its pods change in number."""
    metadata = job["metadata"]
    is_elastic = (metadata.get("annotations") or {}).get(ELASTIC_NOTE) == "true"
    return QUEUE_LABEL in (metadata.get("labels") or {}) and not is_elastic


def state_of(job: Object | None, pods: Sequence[Object] = ()) -> State:
    """Return the state of a run; ``job``: its RayJob, None if only the recipe exists; ``pods``: all pods of the run."""
    has_pods = any(is_active(pod) for pod in pods)
    if job is None:
        return "stopping" if has_pods else "stopped"
    if job["metadata"].get("deletionTimestamp"):
        return "deleting"
    status = job.get("status") or {}
    deployment, ray = str(status.get("jobDeploymentStatus") or ""), str(status.get("jobStatus") or "")
    if deployment == REJECTED:  # before `suspend`: the operator ignores it from here on
        return "failed"
    if deployment in ("Complete", "Failed"):
        return "succeeded" if ray == "SUCCEEDED" else _unfinished_state(job, has_pods=has_pods)
    if (job.get("spec") or {}).get("suspend"):
        return _suspended_state(job, has_pods=has_pods)
    if deployment == "Retrying":
        return "retrying"
    if deployment in ("Running", "Waiting"):
        return _running_state(job, ray)
    return "starting"


def _unfinished_state(job: Object, *, has_pods: bool) -> State:
    """Return the state of a RayJob whose driver has ended too early, maybe because it was asked to."""
    if not is_stop_requested(job):
        return "failed"
    return "stopping" if has_pods else "stopped"


def _suspended_state(job: Object, *, has_pods: bool) -> State:
    """Return the state of a RayJob with ``suspend``: it counts as stopped only when no pod is left."""
    status = job.get("status") or {}
    if has_pods:
        return "stopping"
    if QUEUE_LABEL in (job["metadata"].get("labels") or {}):
        return "queued"
    is_taken = bool(status.get("jobDeploymentStatus") or status.get("startTime"))
    return "stopped" if not is_taken or status.get("jobDeploymentStatus") == "Suspended" else "stopping"


def _running_state(job: Object, ray: str) -> State:
    """Return the state while the operator follows the driver; it notes a driver's end up to 300 s later."""
    if ray == "FAILED" and is_stop_requested(job):
        return "stopping"
    if ray == "FAILED":
        return "retrying" if _has_retries(job) else "failed"
    states: Mapping[str, State] = {"RUNNING": "running", "SUCCEEDED": "succeeded", "STOPPED": "stopping"}
    return states.get(ray, "starting")


def _has_retries(job: Object) -> bool:
    limit = (job.get("spec") or {}).get("backoffLimit")
    return limit is None or int((job.get("status") or {}).get("failed") or 0) < int(limit)


def pods_by_role(state: State, cluster: Object, pods: Sequence[Object]) -> dict[str, Pods]:
    """Return how many pods are ready and wanted; ``cluster``: the spec of the RayCluster."""
    groups = cluster.get("workerGroupSpecs") or ()
    wanted = {"head": 1} | {str(group["groupName"]): int(group.get("replicas") or 0) for group in groups}
    ready = [role_of(pod) for pod in pods if is_ready(pod)]
    existing = [role_of(pod) for pod in pods if is_active(pod)]
    wants_none = is_ended(state) or state in ("stopping", "deleting")
    return {
        role: Pods(ready.count(role), 0 if wants_none else wanted.get(role, 0), existing.count(role))
        for role in dict.fromkeys((*(role for role in ROLES if role in wanted), *wanted))
    }


def role_of(pod: Object) -> str:
    """Return the role of a pod in its run."""
    return str((pod["metadata"].get("labels") or {}).get(ROLE_LABEL, ""))


def is_ready(pod: Object) -> bool:
    """Return whether a pod is ready and not being deleted."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    is_leaving = bool(pod["metadata"].get("deletionTimestamp"))
    return not is_leaving and any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def is_active(pod: Object) -> bool:
    """Return whether a pod has not ended; one that terminates may still run its driver."""
    return (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
