"""What ``suphx status`` says is wrong: all that is so, each once, and nothing that is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.suphx_platform.cluster.runs.cluster_store import Cluster
from tests.suphx_platform.cluster.runs.fake_operator import Operator
from tests.suphx_platform.cluster.runs.launched_run import RECIPE, Command, set_status


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


def test_a_quota_of_before_is_not_told_once_all_pods_exist(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    name = cluster.objects["rayjobs", run_id]["status"]["rayClusterName"]
    operator.warn(cluster.objects["rayclusters", name], "FailedToCreateWorkerPod", "exceeded quota: pods")
    assert problems(suphx, run_id) == []


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


def test_events_of_a_deleted_run_of_the_same_id_are_not_told(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    operator.warn(cluster.objects["rayjobs", run_id], "FailedToCreateRayCluster", "of the first run")
    suphx("delete", run_id, "--yes")
    cluster.operator = None
    suphx("launch", str(RECIPE), "--preset", "small")
    assert problems(suphx, run_id) == []


def test_events_of_an_earlier_attempt_are_not_told(cluster: Cluster, suphx: Command, run_id: str) -> None:
    set_status(cluster, run_id, "Initializing", startTime="2999-01-01T00:00:00Z")
    Operator(cluster).warn(cluster.objects["rayjobs", run_id], "FailedToCreateRayCluster", "an hour ago")
    assert problems(suphx, run_id) == []
    set_status(cluster, run_id, "Initializing", startTime="2020-01-01T00:00:00Z")
    assert len(problems(suphx, run_id)) == 1


@pytest.mark.parametrize(("deployment", "ray"), [("Complete", "SUCCEEDED"), ("Failed", "FAILED")])
def test_ended_runs_have_no_problems_from_events(
    cluster: Cluster, suphx: Command, run_id: str, deployment: str, ray: str
) -> None:
    set_status(cluster, run_id, deployment, ray)
    Operator(cluster).warn(cluster.objects["rayjobs", run_id], "FailedToDeleteRayCluster", "a harmless race")
    assert [one for one in problems(suphx, run_id) if "harmless" in one] == []


def test_a_pod_without_a_place_is_told_once(cluster: Cluster, suphx: Command, operator: Operator, run_id: str) -> None:
    name = next(one for one in cluster.names("pods") if "inference" in one)
    message = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu"
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    pod = cluster.found("pods", name)
    pod["status"] = {"phase": "Pending", "conditions": [condition]}
    cluster.put("pods", pod)
    for _ in range(2):
        operator.warn(cluster.objects["pods", name], "FailedScheduling", message)
    assert [name in one for one in problems(suphx, run_id)] == [True]


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


def test_pods_that_the_namespace_forbids_are_told(cluster: Cluster, suphx: Command, run_id: str) -> None:
    set_status(cluster, run_id, "Initializing", startTime="2020-01-01T00:00:00Z")
    name = f"{run_id}-abcde"
    made = cluster.put("rayclusters", {"metadata": {"name": name}, "spec": {}})
    made["spec"] = cluster.objects["rayjobs", run_id]["spec"]["rayClusterSpec"]
    Operator(cluster).warn(made, "FailedToCreateHeadPod", 'pods "x" is forbidden: violates PodSecurity "restricted"')
    (told,) = problems(suphx, run_id)
    assert "Pod Security level" in told


def age(cluster: Cluster, run: str, **metadata: Any) -> None:
    job = cluster.found("rayjobs", run)
    cluster.put("rayjobs", {**job, "metadata": {**job["metadata"], **metadata}})


def test_after_a_minute_status_says_that_no_operator_took_the_run(
    cluster: Cluster, suphx: Command, run_id: str
) -> None:
    assert problems(suphx, run_id) == []
    age(cluster, run_id, creationTimestamp="2026-01-01T00:00:00Z")
    (told,) = problems(suphx, run_id)
    assert "no operator has taken it" in told
    assert "kubectl get pods -n kuberay-system" in told
    code, result, _ = suphx("stop", run_id, "--wait", "300")  # and there is a way out
    assert (code, result["state"]) == (0, "stopped")


def test_a_deletion_that_hangs_is_told(cluster: Cluster, suphx: Command, run_id: str) -> None:
    age(cluster, run_id, finalizers=["x"], deletionTimestamp="2026-01-01T00:00:00Z")
    (told,) = problems(suphx, run_id)
    assert f"suphx delete {run_id} --force" in told


def test_a_stop_that_was_asked_for_is_told(cluster: Cluster, suphx: Command, operator: Operator, run_id: str) -> None:
    cluster.keeps_pods = True  # the driver saves
    assert suphx("stop", run_id, "--wait", "0.1")[0] == 1
    (told,) = problems(suphx, run_id)
    assert "the driver saves" in told
    assert f"suphx resume {run_id}" in told
    cluster.end_pods()
    assert suphx("resume", run_id)[1]["state"] == "running"
    assert problems(suphx, run_id) == []
