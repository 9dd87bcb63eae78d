from __future__ import annotations

from typing import Any

import pytest

from suphx_platform.run_status import QUEUE_LABEL, pods_by_role, problems_of, state_of

HEALTHY = {"conditions": [{"type": "Ready", "status": "True"}]}


def job(deployment: str, ray: str, *, suspend: bool = False, queue: str = "") -> dict[str, Any]:
    labels = {QUEUE_LABEL: queue} if queue else {}
    status = {"jobDeploymentStatus": deployment, "jobStatus": ray}
    return {"metadata": {"name": "a", "labels": labels}, "spec": {"suspend": suspend}, "status": status}


@pytest.mark.parametrize(
    ("deployment", "ray", "suspend", "queue", "state"),
    [
        ("", "", False, "", "starting"),
        ("Initializing", "", False, "", "starting"),
        ("Running", "PENDING", False, "", "starting"),
        ("Running", "RUNNING", False, "", "running"),
        ("Running", "RUNNING", True, "", "stopping"),
        ("Suspending", "RUNNING", True, "", "stopping"),
        ("Suspended", "", True, "", "stopped"),
        ("Suspended", "", False, "", "starting"),
        ("", "", True, "", "stopped"),
        ("", "", True, "training", "queued"),
        ("Retrying", "FAILED", False, "", "retrying"),
        ("Complete", "SUCCEEDED", False, "", "succeeded"),
        ("Failed", "SUCCEEDED", False, "", "succeeded"),
        ("Complete", "FAILED", False, "", "failed"),
        ("Failed", "", False, "", "failed"),
        ("Complete", "STOPPED", False, "", "failed"),
    ],
)
def test_rays_word_comes_before_that_of_the_submitter(
    deployment: str, ray: str, suspend: bool, queue: str, state: str
) -> None:
    assert state_of(job(deployment, ray, suspend=suspend, queue=queue)) == state


def test_a_pod_that_is_leaving_is_not_ready() -> None:
    pods: list[dict[str, Any]] = [
        {"metadata": {"name": name, "labels": {"suphx/role": "simulator"}}, "status": HEALTHY} for name in "ab"
    ]
    pods[1]["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z"
    cluster = {"workerGroupSpecs": [{"groupName": "simulator", "replicas": 3}]}
    found = pods_by_role("running", cluster, pods)
    assert (found["simulator"].ready, found["simulator"].wanted, found["head"].wanted) == (1, 3, 1)


def test_events_of_pods_that_are_well_or_gone_are_not_told() -> None:
    pod = {"metadata": {"name": "a-head"}, "status": HEALTHY}
    events = [
        {"involvedObject": {"kind": "Pod", "name": name}, "reason": "Unhealthy", "message": "was slow"}
        for name in ("a-head", "a-gone")
    ]
    assert problems_of(job("Running", "RUNNING"), [pod], events) == []
