"""Every state is documented, is what it says, and can be left by a command."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from suphx_platform.cluster.cluster_api import ClusterApi
from suphx_platform.cluster.cluster_error import ClusterError
from suphx_platform.cluster.launcher import Launcher
from suphx_platform.cluster.run_manifest import run_objects
from suphx_platform.cluster.run_status import QUEUE_LABEL, STATES, STOP_NOTE, pods_by_role, state_of
from tests.repository import REPOSITORY
from tests.suphx_platform.cluster.fake_api_server import Cluster
from tests.suphx_platform.cluster.fake_operator import RECIPE, Command, Operator, set_status

DOCUMENT = (REPOSITORY / "docs" / "kubernetes.md").read_text(encoding="utf-8")
DOCUMENTED = {
    state: set(re.findall(r"`(\w+)`", exits))
    for state, exits in re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", DOCUMENT, re.MULTILINE)
}
DEPLOYMENTS = (
    "", "Initializing", "Running", "Waiting", "Complete", "Failed", "ValidationFailed", "Suspending", "Suspended",
    "Retrying", "FromTheFuture",
)  # fmt: skip
RAY = ("", "PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED")
RUN = "demo-1"


def test_the_document_lists_every_state_and_the_commands_that_leave_it() -> None:
    assert DOCUMENTED.keys() == set(STATES)
    for state, exits in DOCUMENTED.items():
        assert exits <= {"launch", "stop", "resume", "delete"}, state
        assert exits, state


def set_up(cluster: Cluster, *, deployment: str, ray: str, suspend: bool, has_pods: bool) -> None:
    """Bring the run into one combination, whether or not the operator would."""
    job = cluster.found("rayjobs", RUN)
    job["metadata"].pop("finalizers", None)
    job["spec"].pop("suspend", None)
    job["spec"] |= {"suspend": True} if suspend else {}
    job["status"] = {"jobDeploymentStatus": deployment, "jobStatus": ray, "startTime": "2026-01-01T00:00:00Z"}
    cluster.put("rayjobs", job)
    for name in cluster.names("pods"):
        cluster.remove("pods", name)
    if has_pods:
        labels = {"suphx/run": RUN, "suphx/role": "head"}
        status = {"phase": "Running", "conditions": []}
        cluster.put("pods", {"metadata": {"name": "head", "labels": labels}, "spec": {}, "status": status})


def leave(launcher: Launcher, command: str, objects: Any) -> str:
    """Give a command; return the state afterwards."""
    if command == "delete":
        launcher.delete(RUN, seconds=300, forces=True)
        return "deleted"
    if command == "launch":
        return launcher.launch(objects).state
    if command == "stop":
        return launcher.stop(RUN, saves=False, seconds=0.2).state
    return launcher.resume(RUN, seconds=0.2).state


def test_every_combination_has_a_documented_state() -> None:
    pod = {"metadata": {"name": "a-head"}, "status": {"phase": "Running"}}
    for deployment, ray, suspend, pods, queue in itertools.product(
        DEPLOYMENTS, RAY, (False, True), ([], [pod]), ("", "training")
    ):
        case = f"{deployment or 'New'} {ray} suspend={suspend} pods={len(pods)} queue={queue}"
        state = state_of(job(deployment, ray, suspend=suspend, queue=queue), pods)
        assert DOCUMENTED[state], case
        assert state != "stopped" or not pods, f"{case}: stopped is told while a pod runs"
        if deployment in ("Complete", "Failed", "ValidationFailed"):
            assert state in ("succeeded", "failed"), case
        elif ray == "FAILED" and deployment in ("Running", "Retrying"):
            assert state in ("retrying", "stopping", "queued"), case


@pytest.mark.parametrize("state", [state for state in STATES if state != "deleted"])
def test_each_documented_command_leaves_its_state(cluster: Cluster, template: dict[str, Any], state: str) -> None:
    objects = run_objects(template, preset="laptop-kind", run_id=RUN, recipe="seed = 1\n", overrides=[])
    launcher = Launcher(ClusterApi())
    for command in sorted(DOCUMENTED[state]):
        operator = Operator(cluster, starts_pods=state != "starting")
        cluster.operator = operator
        reach(cluster, launcher, operator, objects, state)
        assert launcher.status(RUN).state == state
        cluster.operator = Operator(cluster) if state != "deleting" else None
        cluster.keeps_pods = False
        for name in cluster.names("pods") if state == "stopping" else []:
            cluster.remove("pods", name)
        assert leave(launcher, command, objects) != state, command
        if cluster.names("rayjobs"):
            launcher.delete(RUN, seconds=300)
        elif f"{RUN}-recipe" in cluster.names("configmaps"):
            cluster.remove("configmaps", f"{RUN}-recipe")


def reach(cluster: Cluster, launcher: Launcher, operator: Operator, objects: Any, state: str) -> None:
    """Bring a run into a state as it comes into it in life."""
    launcher.launch(objects)
    job = cluster.objects["rayjobs", RUN]
    if state == "queued":
        cluster.operator = None
        labels = {**job["metadata"]["labels"], QUEUE_LABEL: "training"}
        cluster.put("rayjobs", {**job, "metadata": {**job["metadata"], "labels": labels}})
        set_up(cluster, deployment="Suspended", ray="", suspend=True, has_pods=False)
    elif state == "retrying":
        operator.ends_submitters = False
        operator.report(RUN, "FAILED")
    elif state == "stopped":
        launcher.stop(RUN, saves=False, seconds=300)
    elif state == "stopping":
        cluster.keeps_pods = True
        with pytest.raises(ClusterError, match="are still terminating"):
            launcher.stop(RUN, saves=False, seconds=0.1)
    elif state == "succeeded":
        operator.report(RUN, "SUCCEEDED")
    elif state == "failed":
        for _ in range(job["spec"]["backoffLimit"] + 1):
            operator.report(RUN, "FAILED")
    elif state == "deleting":
        cluster.operator = None
        with pytest.raises(ClusterError, match="finalizer"):
            launcher.delete(RUN, seconds=0.1)


def job(deployment: str, ray: str, *, suspend: bool = False, queue: str = "", **more: Any) -> dict[str, Any]:
    labels = {QUEUE_LABEL: queue} if queue else {}
    status = {"jobDeploymentStatus": deployment, "jobStatus": ray, **more}
    spec = {"suspend": suspend, "backoffLimit": 3}
    return {"metadata": {"name": "a", "labels": labels}, "spec": spec, "status": status}


@pytest.mark.parametrize(
    ("deployment", "ray", "suspend", "queue", "state"),
    [
        ("", "", False, "", "starting"),
        ("Initializing", "", False, "", "starting"),
        ("Running", "PENDING", False, "", "starting"),
        ("Running", "RUNNING", False, "", "running"),
        ("Running", "RUNNING", True, "", "stopping"),
        ("Running", "FAILED", False, "", "retrying"),
        ("Running", "STOPPED", False, "", "stopping"),
        ("Running", "SUCCEEDED", False, "", "succeeded"),
        ("Suspending", "RUNNING", True, "", "stopping"),
        ("Suspended", "", True, "", "stopped"),
        ("Suspending", "STOPPED", True, "", "stopping"),
        ("Suspended", "STOPPED", True, "", "stopped"),
        ("Suspended", "FAILED", True, "", "stopped"),
        ("Suspended", "STOPPED", True, "training", "queued"),
        ("Suspended", "", False, "", "starting"),
        ("", "", True, "", "stopped"),
        ("", "", True, "training", "queued"),
        ("Initializing", "", True, "training", "queued"),
        ("Retrying", "FAILED", False, "", "retrying"),
        ("Retrying", "SUCCEEDED", False, "", "retrying"),
        ("Complete", "SUCCEEDED", False, "", "succeeded"),
        ("Failed", "SUCCEEDED", False, "", "succeeded"),
        ("Complete", "FAILED", False, "", "failed"),
        ("Failed", "", False, "", "failed"),
        ("Failed", "RUNNING", True, "", "failed"),
        ("Complete", "STOPPED", False, "", "failed"),
        ("ValidationFailed", "", False, "", "failed"),
        ("ValidationFailed", "", True, "", "failed"),
        ("ValidationFailed", "", True, "training", "failed"),
    ],
)
def test_the_state_of_a_rayjob(deployment: str, ray: str, suspend: bool, queue: str, state: str) -> None:
    assert state_of(job(deployment, ray, suspend=suspend, queue=queue)) == state


@pytest.mark.parametrize(
    ("deployment", "ray", "state"),
    [
        ("Running", "RUNNING", "running"),
        ("Running", "FAILED", "stopping"),
        ("Running", "STOPPED", "stopping"),
        ("Running", "SUCCEEDED", "succeeded"),
        ("Failed", "FAILED", "stopped"),
        ("Complete", "STOPPED", "stopped"),
        ("Complete", "SUCCEEDED", "succeeded"),
        ("ValidationFailed", "", "failed"),
    ],
)
def test_a_run_that_is_to_stop_has_not_failed_when_its_driver_has_ended(deployment: str, ray: str, state: str) -> None:
    asked = job(deployment, ray)
    asked["metadata"]["annotations"] = {STOP_NOTE: "2026-01-01T00:00:00+00:00"}
    assert state_of(asked) == state
    pod = {"metadata": {"name": "a-simulator"}, "status": {"phase": "Running"}}
    assert state_of(asked, [pod]) == ("stopping" if state == "stopped" else state)


def test_the_last_failed_attempt_is_a_failed_run() -> None:
    assert state_of(job("Running", "FAILED", failed=2)) == "retrying"
    assert state_of(job("Running", "FAILED", failed=3)) == "failed"


def test_a_run_with_a_pod_is_not_stopped() -> None:
    pod = {"metadata": {"name": "a-head", "deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Running"}}
    assert state_of(job("Suspended", "", suspend=True), [pod]) == "stopping"
    assert state_of(None, [pod]) == "stopping"
    assert state_of(None, [{**pod, "status": {"phase": "Succeeded"}}]) == "stopped"
    assert state_of(job("", "", suspend=True, startTime="2026-01-01T00:00:00Z")) == "stopping", "between two attempts"


def test_a_pod_that_is_leaving_is_not_ready() -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    pods: list[dict[str, Any]] = [
        {"metadata": {"name": name, "labels": {"suphx/role": "simulator"}}, "status": ready} for name in "ab"
    ]
    pods[1]["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z"
    cluster = {"workerGroupSpecs": [{"groupName": "simulator", "replicas": 3}]}
    found = pods_by_role("running", cluster, pods)["simulator"]
    assert (found.ready, found.wanted) == (1, 3)


def problems(suphx: Command, run: str) -> list[str]:
    found: list[str] = suphx("status", run)[1]["problems"]
    return found


def test_a_quota_that_stops_some_pods_is_told_while_all_others_are_ready(
    cluster: Cluster, suphx: Command, operator: Operator
) -> None:
    cluster.quota["pods"] = 3
    _, result, _ = suphx("launch", str(RECIPE), "--preset", "small")
    run = result["run_id"]
    assert result["pods"]["inference"] == {"ready": 0, "wanted": 2}
    told = problems(suphx, run)
    assert any("RayCluster" in one and "exceeded quota" in one and "ResourceQuota" in one for one in told)
    assert any("A run that has ended keeps its pods for run.ttlSecondsAfterFinished" in one for one in told)
    assert any(one.startswith(f"Job {run}: FailedCreate") for one in told)  # nor was there room for the submitter


def test_events_of_objects_that_are_gone_are_not_told(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    gone = cluster.objects["rayjobs", run_id]["status"]["rayClusterName"]
    operator.warn(cluster.objects["rayclusters", gone], "FailedToCreateHeadPod", "the object has been modified")
    suphx("stop", run_id, "--now")
    assert problems(suphx, run_id) == []  # the operator's race after an ordinary stop
    cluster.quota["pods"] = 0
    suphx("resume", run_id)
    assert [one for one in problems(suphx, run_id) if "has been modified" in one] == []
    assert [one for one in problems(suphx, run_id) if "exceeded quota" in one]


def test_events_of_an_earlier_attempt_are_not_told(cluster: Cluster, suphx: Command, run_id: str) -> None:
    set_status(cluster, run_id, "Initializing", startTime="2999-01-01T00:00:00Z")
    Operator(cluster).warn(cluster.objects["rayjobs", run_id], "FailedToCreateRayCluster", "an hour ago")
    assert problems(suphx, run_id) == []
    set_status(cluster, run_id, "Initializing", startTime="2020-01-01T00:00:00Z")
    assert len(problems(suphx, run_id)) == 1


def test_what_only_an_event_explains_is_told_once(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    name = next(one for one in cluster.names("pods") if "learner" in one)
    waiting = {"name": "ray", "state": {"waiting": {"reason": "ContainerCreating"}}}
    pod = cluster.found("pods", name)
    pod["status"] = {"phase": "Pending", "conditions": [], "containerStatuses": [waiting]}
    cluster.put("pods", pod)
    for number in range(3):
        operator.warn(cluster.objects["pods", name], "FailedMount", f'configmap "x" not found, attempt {number}')
    (told,) = problems(suphx, run_id)
    assert "attempt 2" in told
    assert "is missing" in told


def age(cluster: Cluster, run: str, **metadata: Any) -> None:
    job = cluster.found("rayjobs", run)
    cluster.put("rayjobs", {**job, "metadata": {**job["metadata"], **metadata}})


def test_after_a_minute_status_says_that_no_operator_took_the_run(
    cluster: Cluster, suphx: Command, run_id: str
) -> None:
    assert problems(suphx, run_id) == []
    age(cluster, run_id, creationTimestamp="2026-01-01T00:00:00Z")
    (told,) = problems(suphx, run_id)
    assert "no operator has processed it" in told
    assert "kubectl get pods -n kuberay-system" in told
    code, result, _ = suphx("stop", run_id, "--wait", "300")  # and there is a way out
    assert (code, result["state"]) == (0, "stopped")
