"""What keeps a run from going on, from the objects in the cluster and their events, each with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from suphx.printable_text import shortened
from suphx_platform.cluster.runs.run_status import (
    REJECTED,
    Pods,
    State,
    attempts_of,
    is_active,
    is_ready,
    is_stop_requested,
    role_of,
)

Object = Mapping[str, Any]

_MAX_PROBLEMS = 20
_PATIENCE = timedelta(minutes=1)
"""An operator that runs takes a new RayJob, or one that is being deleted, within seconds."""
_STATES_WITH_EVENTS: tuple[State, ...] = ("queued", "starting", "running", "retrying")
"""In other states pods are not wanted, and what the operator met while it removed them is harmless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunObservation:
    """All objects of one run at one time."""

    run_id: str
    state: State
    job: Object | None = None
    """The RayJob."""
    cluster: Object | None = None
    """The RayCluster of the RayJob's current attempt."""
    submitter: Object | None = None
    """The Kubernetes Job of the submitter."""
    pods: Sequence[Object] = ()
    events: Sequence[Object] = ()
    """Warnings of the namespace."""
    roles: Mapping[str, Pods]

    def problems(self, now: datetime) -> list[str]:
        """Return one line for each problem, each once."""
        found = [*self._of_job(now)]
        for pod in self.pods:
            found += [self._line(_subject(pod), *fault) for fault in pod_faults(pod)]
        if self.state in _STATES_WITH_EVENTS:
            found += [
                self._line(_event_subject(event), str(event.get("reason")), str(event.get("message") or ""))
                for event in self._relevant_events()
            ]
        return list(dict.fromkeys(found))[:_MAX_PROBLEMS]

    def _of_job(self, now: datetime) -> Iterator[str]:
        if self.job is None:
            return
        status, metadata = self.job.get("status") or {}, self.job["metadata"]
        name = f"RayJob {metadata['name']}"
        if self.state == "deleting":
            if now - _time(metadata["deletionTimestamp"]) > _PATIENCE:
                yield self._line(name, "DeletionPending", _DELETION)
        elif not (status.get("jobDeploymentStatus") or status.get("startTime")):
            age = now - _time(metadata.get("creationTimestamp"))
            if age > _PATIENCE:
                yield self._line(name, "NoOperator", f"no operator has taken it for {_minutes(age)}")
        elif self.state == "retrying":
            count = attempts_of(self.job)
            text = f"attempt {count.failed} of {count.allowed}"  # the operator forgets its message for the next attempt
            yield self._line(name, "AttemptFailed", ": ".join(filter(None, (text, str(status.get("message") or "")))))
        elif self.state != "succeeded" and (status.get("reason") or status.get("jobStatus") == "FAILED"):
            yield self._line(name, str(status.get("reason") or "Failed"), str(status.get("message") or ""))
        if is_stop_requested(self.job) and self.state == "running":
            yield self._line(f"run {self.run_id}", "StopRequested", "the driver saves, then its head pod ends")

    def _relevant_events(self) -> Iterator[Object]:
        """Yield the newest event of each reason of objects that exist and lack something, none before this attempt."""
        began = _time(((self.job or {}).get("status") or {}).get("startTime"))
        newest: dict[tuple[str, str], Object] = {}
        for event in sorted(self.events, key=_event_time):
            if _event_time(event) >= began and self._explains(event):
                newest[_uid_of(event), str(event.get("reason"))] = event
        yield from newest.values()

    def _explains(self, event: Object) -> bool:
        """Return whether an event may explain that a pod is not there, or not ready."""
        uid = _uid_of(event)
        pods = {str(pod["metadata"].get("uid")): pod for pod in self.pods}
        if not uid or uid in pods:
            return uid in pods and _is_unexplained(pods[uid])
        if self.submitter is not None and uid == self.submitter["metadata"].get("uid"):
            return not any(role_of(pod) == "submitter" for pod in self.pods)
        owners = [one["metadata"].get("uid") for one in (self.job, self.cluster) if one is not None]
        if uid not in owners:
            return False
        if "Pod" in str(event.get("reason")):  # FailedToCreateWorkerPod and so on: of no interest once all exist
            return any(pods.existing < pods.wanted for pods in self.roles.values())
        return any(pods.ready < pods.wanted for pods in self.roles.values())

    def _line(self, subject: str, reason: str, message: str) -> str:
        text = f"{subject}: {reason}" + (f": {shortened(message)}" if message else "")
        advice = advice_for(reason, message).replace("RUN", self.run_id)
        return f"{text} ({advice})" if advice else text


def pod_faults(pod: Object) -> Iterator[tuple[str, str]]:
    """Yield reason and message of everything that is wrong with a pod."""
    status = pod.get("status") or {}
    if status.get("reason"):  # evicted by its node, …
        yield str(status["reason"]), str(status.get("message") or "")
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield str(condition.get("reason") or "Unschedulable"), str(condition.get("message") or "")
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        yield from _container_faults(container)


def _container_faults(container: Object) -> Iterator[tuple[str, str]]:
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
            "stop or delete another run, take a smaller --preset, or raise the ResourceQuota of the namespace. "
            "A run that has ended keeps its pods for run.ttlSecondsAfterFinished of the chart"
        )
    if "violates PodSecurity" in message:
        return "the namespace enforces a Pod Security level that this pod does not meet: use the chart's pod templates"
    return _ADVICE.get(reason, "")


def _is_unexplained(pod: Object) -> bool:
    """Return whether a pod waits and its own status does not say why."""
    is_waiting = is_active(pod) and not is_ready(pod) and not pod["metadata"].get("deletionTimestamp")
    return is_waiting and not any(pod_faults(pod))


def _subject(pod: Object) -> str:
    return f"{role_of(pod) or 'pod'} {pod['metadata']['name']}"


def _event_subject(event: Object) -> str:
    subject = event.get("involvedObject") or {}
    return f"{subject.get('kind')} {subject.get('name')}"


def _uid_of(event: Object) -> str:
    return str((event.get("involvedObject") or {}).get("uid") or "")


def _event_time(event: Object) -> datetime:
    """Return when an event was last seen; older and newer clients fill in different fields."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return _time(next((each for each in times if each), event["metadata"].get("creationTimestamp")))


def _time(text: Any) -> datetime:
    """Return a time of the API; None: the beginning of all times."""
    return datetime.fromisoformat(str(text)) if text else datetime.min.replace(tzinfo=UTC)


def _minutes(age: timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    return "over a day" if minutes >= 24 * 60 else f"{minutes} minute{'s' if minutes != 1 else ''}"


_DELETION = "it is being deleted and waits for its finalizer, which the KubeRay operator removes"
_IMAGE = "check image.cpu, image.cuda and image.tag of the chart, and image.pullSecrets"
_NO_ROOM = "no node has room: wait for the cluster autoscaler, add nodes, or take a smaller --preset"
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
        "run.activeDeadlineSeconds of the chart is over, or nightly.activeDeadlineSeconds of a tournament; suphx "
        "resume RUN continues, for as long"
    ),
    "AttemptFailed": (
        "the operator starts a new cluster, which continues from the last checkpoint; suphx status RUN lists failed "
        "attempts, suphx logs RUN --attempt N prints the last lines of one"
    ),
    "AppFailed": "see suphx logs RUN, or suphx logs RUN --attempt N when its pods are gone, then suphx resume RUN",
    "SubmissionFailed": "the submitter could not reach the head: see suphx logs RUN and suphx logs RUN --role head",
    "JobDeploymentStatusTransitionGracePeriodExceeded": "see suphx logs RUN --role head",
    "NoOperator": "check that the KubeRay operator runs and watches this namespace: kubectl get pods -n kuberay-system",
    "DeletionPending": "check that the operator runs; suphx delete RUN --force removes the finalizer without it",
    "StopRequested": "suphx stop RUN waits for that and ends the other pods, suphx resume RUN lets it continue",
    REJECTED: (
        "the operator never looks at this RayJob again: run suphx delete RUN, correct the chart's values with helm "
        "upgrade, then launch the recipe again"
    ),
}
