"""The state of a run, and its pods by role, read from the objects in the cluster.

KubeRay's operator (1.7) writes two values into the status of a RayJob: ``jobDeploymentStatus``, its own progress, and
``jobStatus``, what Ray reports of the driver. docs/kubernetes.md lists all states and the commands that leave them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from suphx_platform.cluster.runs.run_attempts import Attempt

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
_UNDER_WAY = ("Initializing", "Waiting", "Running", "Suspending", "Complete")
"""Values of ``jobDeploymentStatus`` with an attempt that is not one of the failed ones."""
_ENDED: tuple[State, ...] = ("stopped", "succeeded", "failed", "deleted")


@dataclass(frozen=True, slots=True)
class Pods:
    """How many pods of a role are ready and wanted."""

    ready: int
    wanted: int
    existing: int = 0
    """Pods that exist and have not ended, ready or not."""


@dataclass(frozen=True, slots=True)
class AttemptCount:
    """How many attempts a RayJob has had. ``suphx resume`` creates another RayJob, which has all of them again."""

    failed: int
    used: int
    """Those that failed, and the one that is under way or has succeeded."""
    allowed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """The result of ``suphx status``."""

    run_id: str
    state: State
    pods: Mapping[str, Pods]
    """By role."""
    problems: Sequence[str]
    preset: str = ""
    attempts: AttemptCount | None = None
    """None: there is no RayJob."""
    failed_attempts: Sequence[Attempt] = ()
    """What the drivers of failed attempts have kept, also before the run was resumed."""
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
            "attempts": asdict(self.attempts) if self.attempts else None,
            "failed_attempts": [
                {key: getattr(attempt, key) for key in ("number", "started", "ended", "outcome", "reason")}
                for attempt in self.failed_attempts
            ],
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
            "attempts": attempts_text(self.attempts),
            "failed_attempts": {f"{attempt.number}": attempt.line for attempt in self.failed_attempts},
            "progress": progress,
            "last_checkpoint": self.last_checkpoint,
            "problems": {f"{number}": text for number, text in enumerate(self.problems, 1)},
            "outcome": self.outcome,
        }
        return {name: value for name, value in lines.items() if value}


def attempts_text(attempts: AttemptCount | None) -> str:
    """Return ``2 of 11, 1 failed``; empty as long as the first attempt has not begun."""
    if attempts is None or not attempts.used:
        return ""
    return f"{attempts.used} of {attempts.allowed}" + (f", {attempts.failed} failed" if attempts.failed else "")


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
    return _starting_state(job)


def _starting_state(job: Object) -> State:
    """Return the state before a driver runs, which the operator goes through again after a failed attempt."""
    return "retrying" if attempts_of(job).failed else "starting"


def attempts_of(job: Object) -> AttemptCount:
    """Return how many attempts a RayJob has had.

    The operator counts a failed one (``failed``) when the submitter has ended too, up to 300 s later, and keeps the
    number while it resets all else for the next attempt.
    """
    status = job.get("status") or {}
    deployment = str(status.get("jobDeploymentStatus") or "")
    is_uncounted = deployment == "Running" and status.get("jobStatus") == "FAILED" and not is_stop_requested(job)
    failed = int(status.get("failed") or 0) + is_uncounted
    is_under_way = deployment in _UNDER_WAY and not is_uncounted
    used = failed + is_under_way
    return AttemptCount(failed, used, max(used, 1 + int((job.get("spec") or {}).get("backoffLimit") or 0)))


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
        attempts = attempts_of(job)
        return "retrying" if attempts.failed < attempts.allowed else "failed"
    states: Mapping[str, State] = {"RUNNING": "running", "SUCCEEDED": "succeeded", "STOPPED": "stopping"}
    return states.get(ray) or _starting_state(job)


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
