"""What state a run is in, which of its pods are there, and what stands in its way, read from the cluster's objects.

Ray's own job status is the truth: the submitter's pod may fail while the run goes on, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Object = Mapping[str, Any]
State = Literal["starting", "queued", "running", "retrying", "stopping", "stopped", "succeeded", "failed"]

ROLE_LABEL = "suphx/role"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
ROLES = ("head", "simulator", "inference", "learner")
_ENDED: tuple[State, ...] = ("stopped", "succeeded", "failed")
_SUSPENDED = ("Suspending", "Suspended")
_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Pods:
    """How many pods of a role there are."""

    ready: int
    wanted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """What ``suphx status`` tells of a run."""

    run_id: str
    state: State
    pods: Mapping[str, Pods]
    """By role."""
    problems: Sequence[str]
    preset: str = ""
    last_checkpoint: str | None = None
    """Stage, number and time of the newest version in the storage; None if there is none, or it cannot be seen."""
    progress: Mapping[str, float] = field(default_factory=dict)
    """The newest figures in MLflow."""

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        return {
            "run_id": self.run_id,
            "state": self.state,
            "preset": self.preset,
            "pods": {role: {"ready": pods.ready, "wanted": pods.wanted} for role, pods in self.pods.items()},
            "progress": dict(self.progress),
            "last_checkpoint": self.last_checkpoint,
            "problems": list(self.problems),
        }

    def to_text(self) -> dict[str, object]:
        """Return the same for a person, without what there is none of."""
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
        }
        return {name: value for name, value in lines.items() if value}


def is_ended(state: State) -> bool:
    """Tell whether nothing runs any more, nor will by itself."""
    return state in _ENDED


def state_of(job: Object | None) -> State:
    """Return the state of a RayJob; None: only the recipe of the run is left."""
    if job is None:
        return "stopped"
    status = job.get("status") or {}
    deployment, ray = status.get("jobDeploymentStatus") or "", status.get("jobStatus") or ""
    if ray == "SUCCEEDED":
        return "succeeded"
    if deployment == "Retrying":
        return "retrying"
    if deployment == "Failed" or (ray in ("FAILED", "STOPPED") and deployment not in _SUSPENDED):
        return "failed"
    if (job.get("spec") or {}).get("suspend"):
        if deployment not in ("", "Suspended"):
            return "stopping"
        return "queued" if QUEUE_LABEL in (job["metadata"].get("labels") or {}) else "stopped"
    return "running" if ray == "RUNNING" and deployment not in _SUSPENDED else "starting"


def pods_by_role(state: State, cluster: Object, pods: Sequence[Object]) -> dict[str, Pods]:
    """Return how many pods are ready and wanted; ``cluster``: the spec of the RayCluster."""
    groups = cluster.get("workerGroupSpecs") or ()
    wanted = {"head": 1} | {str(group["groupName"]): int(group.get("replicas") or 0) for group in groups}
    ready = [role_of(pod) for pod in pods if is_ready(pod)]
    return {
        role: Pods(ready.count(role), 0 if is_ended(state) else wanted.get(role, 0))
        for role in dict.fromkeys((*(role for role in ROLES if role in wanted), *wanted))
    }


def problems_of(job: Object | None, pods: Sequence[Object], events: Sequence[Object]) -> list[str]:
    """Return a line for everything that keeps a run from going on, with what to do about it; each once."""
    found = list(_of_job(job or {}))
    for pod in pods:
        found += [_line(f"{role_of(pod) or 'pod'} {pod['metadata']['name']}", *fault) for fault in _of_pod(pod)]
    troubled = {pod["metadata"]["name"] for pod in pods if not is_ready(pod) and not _is_done(pod)}
    known = {pod["metadata"]["name"] for pod in pods}
    is_whole = bool(pods) and not troubled
    for event in events:
        subject = event.get("involvedObject") or {}
        name = str(subject.get("name"))
        if name in troubled or (name not in known and subject.get("kind") != "Pod" and not is_whole):
            found.append(_line(f"{subject.get('kind')} {name}", str(event.get("reason")), str(event.get("message"))))
    return list(dict.fromkeys(found))[:_MAX_PROBLEMS]


def role_of(pod: Object) -> str:
    """Return what a pod does in its run."""
    return str((pod["metadata"].get("labels") or {}).get(ROLE_LABEL, ""))


def is_ready(pod: Object) -> bool:
    """Tell whether a pod is ready and is to stay."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    is_leaving = bool(pod["metadata"].get("deletionTimestamp"))
    return not is_leaving and any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _is_done(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _of_job(job: Object) -> Iterator[str]:
    status = job.get("status") or {}
    if status.get("jobStatus") != "SUCCEEDED" and (status.get("reason") or status.get("jobStatus") == "FAILED"):
        name = job["metadata"]["name"]
        yield _line(f"RayJob {name}", str(status.get("reason") or "failed"), str(status.get("message") or ""))


def _of_pod(pod: Object) -> Iterator[tuple[str, str]]:
    """Yield reason and message of whatever is wrong with a pod."""
    status = pod.get("status") or {}
    if status.get("reason"):  # evicted by its node, …
        yield str(status["reason"]), str(status.get("message") or "")
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield str(condition.get("reason") or "Unschedulable"), str(condition.get("message") or "")
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        state = container.get("state") or {}
        waiting = state.get("waiting") or {}
        if waiting.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
            yield str(waiting["reason"]), str(waiting.get("message") or "")
        for past in (state, container.get("lastState") or {}):
            ended = past.get("terminated") or {}
            if ended.get("exitCode"):
                text = f"container {container['name']} ended with exit code {ended['exitCode']}"
                yield str(ended.get("reason") or "Error"), str(ended.get("message") or text)


_ADVICE: Mapping[str, str] = {
    "ErrImagePull": "check image.cpu, image.cuda and image.tag of the chart, and image.pullSecrets",
    "ImagePullBackOff": "check image.cpu, image.cuda and image.tag of the chart, and image.pullSecrets",
    "InvalidImageName": "check image.cpu, image.cuda and image.tag of the chart",
    "CreateContainerConfigError": "a secret or ConfigMap of the chart's values is missing",
    "FailedMount": "a volume, secret or ConfigMap of the chart's values is missing",
    "CrashLoopBackOff": "see suphx logs --role of this pod",
    "OOMKilled": "raise the memory of this role in the preset, or lower simulator.num_tables or buffer.capacity_bytes",
    "Evicted": "its node ran out of memory or disk: raise memory or disk of this role in the preset",
    "Unschedulable": "no node has room: wait for the autoscaler, add nodes, or take a smaller --preset",
    "FailedScheduling": "no node has room: wait for the autoscaler, add nodes, or take a smaller --preset",
    "FailedCreate": "see the message; a quota is raised in the ResourceQuota of the namespace",
    "FailedToCreateWorkerPod": "see the message; a quota is raised in the ResourceQuota of the namespace",
    "FailedToCreateHeadPod": "see the message; a quota is raised in the ResourceQuota of the namespace",
    "DeadlineExceeded": "raise run.activeDeadlineSeconds of the chart, then suphx resume",
    "AppFailed": "see suphx logs, then suphx resume",
    "SubmissionFailed": "the submitter could not reach the head: see suphx logs and suphx logs --role head",
    "JobDeploymentStatusTransitionGracePeriodExceeded": "see suphx logs --role head",
}


def _line(subject: str, reason: str, message: str) -> str:
    text = f"{subject}: {reason}" + (f": {' '.join(message.split())[:300]}" if message else "")
    return f"{text} ({_ADVICE[reason]})" if reason in _ADVICE else text
