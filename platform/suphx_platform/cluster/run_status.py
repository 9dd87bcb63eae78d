"""The state of a run, and its pods by role, read from the objects in the cluster.

KubeRay's operator (1.7) writes two values into the status of a RayJob: ``jobDeploymentStatus``, its own progress, and
``jobStatus``, what Ray reports of the driver. docs/kubernetes.md lists all states and the commands that leave them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from suphx.printable_text import shortened

Object = Mapping[str, Any]
State = Literal[
    "queued", "starting", "running", "retrying", "stopping", "stopped", "succeeded", "failed", "deleting", "deleted"
]  # fmt: skip
STATES: tuple[State, ...] = get_args(State)
Outcome = Literal["finished", "stopped", "failed", "lost"]
"""lost: it ended without a report, as when its head pod is lost."""

RUN_LABEL = "suphx/run"
ROLE_LABEL = "suphx/role"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
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


@dataclass(frozen=True, slots=True)
class AttemptCount:
    """How many attempts a RayJob has had. ``suphx resume`` creates another RayJob, which has all of them again."""

    failed: int
    used: int
    """Those that failed, and the one that is under way or has succeeded."""
    allowed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt; the numbers of a run's attempts go on when it is resumed."""

    number: int
    started: str = ""
    """ISO 8601 with the time zone, as is ``ended``."""
    ended: str | None = None
    """None: it has not ended, or nobody knows when."""
    outcome: Outcome | None = None
    reason: str = ""
    """One line; empty if it has finished."""
    version: str = ""
    """Of Suphx, with the commit."""

    @property
    def line(self) -> str:
        """When it began and ended, and why, with the commit."""
        return f"{self.started} to {self.ended or 'an unknown time'}, suphx {self.version}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """The result of ``suphx status``."""

    run_id: str
    state: State
    pods: Mapping[str, Pods]
    problems: Sequence[str]
    preset: str = ""
    attempts: AttemptCount | None = None
    """None: there is no RayJob."""
    failed_attempts: Sequence[Attempt] = ()
    """What the drivers of failed attempts have kept, also before the run was resumed."""
    last_checkpoint: str | None = None
    """Stage, number and time of the newest version in the storage; None if there is none, or it cannot be read."""
    progress: Mapping[str, float] = field(default_factory=dict)
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
                {key: getattr(attempt, key) for key in ("number", "started", "ended", "outcome", "reason", "version")}
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

    Its pods stay until the operator deletes them, and the driver works on in them.
    """
    status = (job or {}).get("status") or {}
    return status.get("jobDeploymentStatus") == "Failed" and status.get("jobStatus") in ("PENDING", "RUNNING")


def state_of(job: Object | None, pods: Sequence[Object] = ()) -> State:
    """Return the state of a run; ``job``: its RayJob, None if only the recipe exists; ``pods``: all pods of the run."""
    ended: State = "stopping" if any(map(is_active, pods)) else "stopped"  # it counts as stopped only without any pod
    if job is None:
        return ended
    if job["metadata"].get("deletionTimestamp"):
        return "deleting"
    status, is_to_stop = job.get("status") or {}, is_stop_requested(job)
    deployment, ray = str(status.get("jobDeploymentStatus") or ""), str(status.get("jobStatus") or "")
    if deployment == REJECTED:  # before `suspend`: the operator ignores it from here on
        return "failed"
    if deployment in ("Complete", "Failed"):
        return "succeeded" if ray == "SUCCEEDED" else ended if is_to_stop else "failed"
    if (job.get("spec") or {}).get("suspend"):
        if ended == "stopped" and QUEUE_LABEL in (job["metadata"].get("labels") or {}):
            return "queued"
        is_taken = bool(deployment or status.get("startTime"))
        return ended if not is_taken or deployment == "Suspended" else "stopping"
    if deployment == "Retrying":
        return "retrying"
    attempts = attempts_of(job)
    if deployment in ("Running", "Waiting"):  # the operator notes a driver's end up to 300 s later
        if ray == "FAILED":
            return "stopping" if is_to_stop else "retrying" if attempts.failed < attempts.allowed else "failed"
        states: Mapping[str, State] = {"RUNNING": "running", "SUCCEEDED": "succeeded", "STOPPED": "stopping"}
        if ray in states:
            return states[ray]
    return "retrying" if attempts.failed else "starting"  # it goes through this again after a failed attempt


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


def pods_by_role(state: State, cluster: Object, pods: Sequence[Object]) -> dict[str, Pods]:
    """Return how many pods are ready and wanted; ``cluster``: the spec of the RayCluster."""
    groups = cluster.get("workerGroupSpecs") or ()
    wanted = {"head": 1} | {str(group["groupName"]): int(group.get("replicas") or 0) for group in groups}
    ready = [role_of(pod) for pod in pods if is_ready(pod)]
    wants_none = is_ended(state) or state in ("stopping", "deleting")
    return {
        role: Pods(ready.count(role), 0 if wants_none else wanted.get(role, 0))
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


_MAX_PROBLEMS = 20
_PATIENCE = timedelta(minutes=1)
"""An operator that runs takes a new RayJob, or one that is being deleted, within seconds."""
_STATES_WITH_EVENTS: tuple[State, ...] = ("queued", "starting", "running", "retrying")
"""In other states pods are not wanted, and what the operator met while it removed them is harmless."""


def problems_of(
    run: str,
    state: State,
    now: datetime,
    *,
    job: Object | None,
    cluster: Object | None,
    submitter: Object | None,
    pods: Sequence[Object],
    events: Sequence[Object],
    roles: Mapping[str, Pods],
) -> list[str]:
    """Return one line for each problem of a run, each once, with what to do.

    ``cluster``: the RayCluster of the current attempt; ``submitter``: its Kubernetes Job; ``events``: warnings of the
    namespace, of which the newest of each reason counts if it is of this attempt and of an object that lacks something.
    """
    found: list[tuple[str, str, str]] = []
    if job is not None:
        found += [(f"RayJob {run}", *fault) for fault in _job_faults(job, state, now)]
    for pod in pods:
        found += [(f"{role_of(pod) or 'pod'} {pod['metadata']['name']}", *fault) for fault in pod_faults(pod)]
    if state in _STATES_WITH_EVENTS:
        waiting = [pod for pod in pods if is_active(pod) and not is_ready(pod) and not any(pod_faults(pod))]
        lacking = [pod for pod in waiting if not pod["metadata"].get("deletionTimestamp")]
        if submitter is not None and not any(role_of(pod) == "submitter" for pod in pods):
            lacking.append(submitter)
        if any(count.ready < count.wanted for count in roles.values()):
            lacking += [one for one in (job, cluster) if one is not None]
        subjects = {str(one["metadata"].get("uid")) for one in lacking}
        began = _time(((job or {}).get("status") or {}).get("startTime"))
        newest: dict[tuple[str, str], tuple[str, str, str]] = {}
        for event in sorted(events, key=_event_time):
            of = event.get("involvedObject") or {}
            if str(of.get("uid")) in subjects and _event_time(event) >= began:
                reason, message = str(event.get("reason")), str(event.get("message") or "")
                newest[str(of["uid"]), reason] = (f"{of.get('kind')} {of.get('name')}", reason, message)
        found += newest.values()
    kept = [pod for pod in pods if is_active(pod) and role_of(pod) != "submitter"]
    if state == "failed" and kept:
        found.append((f"RayJob {run}", "PodsKept", f"pods that still use their nodes: {len(kept)}"))
    lines = []
    for subject, reason, message in found:
        text = f"{subject}: {reason}" + (f": {shortened(message)}" if message else "")
        advice = advice_for(reason, message).replace("RUN", run)
        lines.append(f"{text} ({advice})" if advice else text)
    return list(dict.fromkeys(lines))[:_MAX_PROBLEMS]


def _job_faults(job: Object, state: State, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield reason and message of what is wrong with a RayJob, or is waited for."""
    status, metadata = job.get("status") or {}, job["metadata"]
    reason, message = str(status.get("reason") or ""), str(status.get("message") or "")
    if state == "deleting":
        if now - _time(metadata["deletionTimestamp"]) > _PATIENCE:
            yield "DeletionPending", _DELETION
    elif not (status.get("jobDeploymentStatus") or status.get("startTime")):
        if now - _time(metadata.get("creationTimestamp")) > _PATIENCE:
            yield "NoOperator", "no operator has processed it"
    elif state == "retrying":
        count = attempts_of(job)
        text = f"attempt {count.failed} of {count.allowed}"  # the operator forgets its message for the next attempt
        yield "AttemptFailed", ": ".join(filter(None, (text, message)))
    elif state != "succeeded" and (reason or status.get("jobStatus") == "FAILED"):
        yield reason or "Failed", message
    if is_stop_requested(job) and state == "running":
        yield "StopRequested", "the driver saves, then its head pod ends"


def pod_faults(pod: Object) -> Iterator[tuple[str, str]]:
    """Yield reason and message of everything that is wrong with a pod."""
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


def advice_for(reason: str, message: str) -> str:
    """Return what to do; empty if the message is all there is to know."""
    if "exceeded quota" in message:
        return (
            "stop or delete another run, use a smaller --preset, or raise the ResourceQuota of the namespace. "
            "A run that has ended keeps its pods for run.ttlSecondsAfterFinished of the chart, one that has failed for "
            "run.ttlSecondsAfterFailure"
        )
    if "violates PodSecurity" in message:
        return "the namespace enforces a Pod Security level that this pod does not meet: use the chart's pod templates"
    return _ADVICE.get(reason, "")


def _event_time(event: Object) -> datetime:
    """Return when an event was last seen; older and newer clients fill in different fields."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return _time(next((each for each in times if each), event["metadata"].get("creationTimestamp")))


def _time(text: Any) -> datetime:
    """Return a time of the API; None: the beginning of all times."""
    return datetime.fromisoformat(str(text)) if text else datetime.min.replace(tzinfo=UTC)


_DELETION = "it is being deleted and waits for its finalizer, which the KubeRay operator removes"
_IMAGE = "check image.cpu, image.cuda and image.tag of the chart, and image.pullSecrets"
_NO_ROOM = "no node has enough capacity: wait for the cluster autoscaler, add nodes, or use a smaller --preset"
_ADVICE: Mapping[str, str] = {
    "ErrImagePull": _IMAGE,
    "ImagePullBackOff": _IMAGE,
    "InvalidImageName": _IMAGE,
    "CreateContainerConfigError": "a secret or ConfigMap that the chart's values name is missing",
    "FailedMount": "a volume, secret or ConfigMap that the chart's values name is missing",
    "CrashLoopBackOff": "see suphx logs RUN --role with the role of this pod",
    "OOMKilled": "raise the memory of this role in the preset, or lower simulator.num_tables or buffer.capacity_bytes",
    "Evicted": "its node ran out of memory or disk: raise memory or disk of this role in the preset",
    "Unschedulable": _NO_ROOM,
    "FailedScheduling": _NO_ROOM,
    "DeadlineExceeded": (
        "run.activeDeadlineSeconds of the chart was exceeded, or nightly.activeDeadlineSeconds of a tournament; suphx "
        "resume RUN continues it, with the same limit"
    ),
    "AttemptFailed": (
        "the operator starts a new cluster, which continues from the last checkpoint; suphx status RUN lists failed "
        "attempts with their errors"
    ),
    "AppFailed": "see suphx logs RUN, or suphx status RUN when its pods are gone, then suphx resume RUN",
    "SubmissionFailed": "the submitter could not reach the head: see suphx logs RUN and suphx logs RUN --role head",
    "JobDeploymentStatusTransitionGracePeriodExceeded": "see suphx logs RUN --role head",
    "PodsKept": (
        "see suphx logs RUN --role head; the operator deletes them after run.ttlSecondsAfterFailure of the chart, and "
        "suphx resume RUN or suphx delete RUN deletes them now"
    ),
    "NoOperator": "check that the KubeRay operator runs and watches this namespace: kubectl get pods -n kuberay-system",
    "DeletionPending": "check that the operator runs; suphx delete RUN --force removes the finalizer without it",
    "StopRequested": "suphx stop RUN waits for that and ends the other pods, suphx resume RUN lets it continue",
    REJECTED: (
        "the operator will not process this RayJob again: run suphx delete RUN, correct the chart's values with helm "
        "upgrade, then launch the recipe again"
    ),
}
