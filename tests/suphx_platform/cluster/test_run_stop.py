"""``suphx stop``: the head pod ends first and reports how its driver ended, then the RayJob goes."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from suphx_platform.cluster.run_status import STOP_NOTE
from tests.suphx_platform.cluster.fake_api_server import Cluster, Fault, Object, Reaction
from tests.suphx_platform.cluster.fake_operator import Command, Operator, put_pod, set_status


def report(outcome: str, run: str = "a-run") -> str:
    return json.dumps({"stopped": {run: outcome}})


def heads(cluster: Cluster) -> list[str]:
    return [name for name in cluster.names("pods") if "-head-" in name]


def test_the_run_is_saved_while_all_other_pods_are_there_and_resume_goes_on(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    before = cluster.found("rayjobs", run_id)
    seen: list[Any] = []

    def save(pod: Object) -> str:
        job = cluster.objects["rayjobs", run_id]
        roles = [cluster.objects["pods", name]["metadata"]["labels"]["suphx/role"] for name in cluster.names("pods")]
        seen.append((STOP_NOTE in job["metadata"]["annotations"], job["spec"]["backoffLimit"], sorted(set(roles))))
        operator.report(run_id, "FAILED")  # the driver ends with exit code 130, and no attempt is to follow
        return report("saved")

    cluster.pre_stop = save
    code, result, err = suphx("stop", run_id)
    assert (code, result["state"], result["outcome"]) == (0, "stopped", "saved"), err
    assert seen == [(True, 0, ["head", "inference", "learner", "simulator", "submitter"])]
    assert {pods["wanted"] for pods in result["pods"].values()} <= {0}
    assert [cluster.names(kind) for kind in ("rayjobs", "rayclusters", "pods")] == [[], [], []]
    code, result, err = suphx("stop", run_id)  # again
    assert (code, result["state"]) == (0, "stopped")
    assert "does not run, it is stopped" in err
    code, result, _ = suphx("resume", run_id)
    after = cluster.objects["rayjobs", run_id]
    assert (code, result["state"], after["spec"]) == (0, "running", before["spec"])
    assert STOP_NOTE not in after["metadata"]["annotations"]


def test_a_driver_that_works_on_after_its_deadline_is_stopped_like_any_other(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    def save(pod: Object) -> str:
        return report("saved")

    cluster.pre_stop = save
    set_status(cluster, run_id, "Failed", "RUNNING", reason="DeadlineExceeded")
    assert suphx("status", run_id)[1]["state"] == "failed"
    code, result, err = suphx("stop", run_id)
    assert (code, result["state"], result["outcome"]) == (0, "stopped", "saved"), err
    assert cluster.names("pods") == []


def test_a_run_that_finishes_while_it_is_stopped_has_succeeded(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    def finish(pod: Object) -> str:
        operator.report(run_id, "SUCCEEDED")
        return report("finished")

    cluster.pre_stop = finish
    code, result, err = suphx("stop", run_id)
    assert (code, result["state"]) == (0, "succeeded")
    assert "has succeeded before it was stopped" in err


@pytest.mark.parametrize("message", [report("killed"), "", "[1]", '{"stopped": 3}', "Killed"])
def test_a_driver_that_does_not_save_is_an_error_and_the_run_is_stopped(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str, message: str
) -> None:
    cluster.pre_stop = lambda pod: message
    code, _, err = suphx("stop", run_id)
    assert (code, "is stopped, but" in err) == (1, True)
    assert ("without a report" in err) == (message != report("killed"))
    assert suphx("status", run_id)[1]["state"] == "stopped"


def test_a_head_that_has_not_started_has_nothing_to_save(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    (head,) = heads(cluster)
    status = {"phase": "Pending", "containerStatuses": [{"name": "head", "state": {"waiting": {}}}]}
    cluster.put("pods", {**cluster.found("pods", head), "status": status})
    cluster.pre_stop = lambda pod: ""
    code, result, err = suphx("stop", run_id)
    assert (code, result["state"]) == (0, "stopped"), err


def test_a_driver_that_takes_too_long_goes_on_saving_until_it_is_killed(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    cluster.keeps_pods = True
    code, _, err = suphx("stop", run_id, "--wait", "0.3")
    assert code == 1
    assert "is still saving its state" in err
    assert "--now" in err
    _, result, _ = suphx("status", run_id)
    assert result["state"] == "running"
    assert any("StopRequested" in problem and f"suphx stop {run_id}" in problem for problem in result["problems"])
    (head,) = heads(cluster)
    cluster.reactions.append(Reaction("GET", "pods?", cluster.end_pods, after=2))
    code, result, _ = suphx("stop", run_id, "--now", "--wait", "300")
    assert (code, result["state"], head in cluster.names("pods")) == (0, "stopped", False)
    assert "outcome" not in result


def test_a_run_whose_stop_was_interrupted_makes_no_further_attempt_and_can_be_resumed(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    cluster.keeps_pods = True
    assert suphx("stop", run_id, "--wait", "0.3")[0] == 1
    cluster.end_pod(heads(cluster)[0], report("saved"))
    operator.report(run_id, "FAILED")
    assert suphx("status", run_id)[1]["state"] == "stopping"  # other pods are kept for run.ttlSecondsAfterFinished
    cluster.keeps_pods = False
    code, result, err = suphx("resume", run_id, "--wait", "300")
    assert (code, result["state"]) == (0, "running"), err
    assert cluster.objects["rayjobs", run_id]["spec"]["backoffLimit"] == 10


def test_stop_waits_until_the_last_pod_has_ended_and_no_driver_overlaps_the_next_one(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    cluster.keeps_pods = True
    code, _, err = suphx("stop", run_id, "--now", "--wait", "0.1")
    assert code == 1
    assert "are still terminating" in err
    assert suphx("status", run_id)[1]["state"] == "stopping"
    old = set(cluster.names("pods"))
    cluster.reactions.append(Reaction("GET", "pods?", cluster.end_pods, after=2))
    code, result, _ = suphx("resume", run_id, "--wait", "300")
    assert (code, result["state"]) == (0, "running")
    assert old
    assert not old & set(cluster.names("pods"))


def test_the_report_is_read_although_watches_break_and_somebody_else_writes(
    cluster: Cluster, suphx: Command, run_id: str
) -> None:
    set_status(cluster, run_id, "Running", "RUNNING")
    head = put_pod(cluster, run_id, "head")
    cluster.keeps_pods = True
    noticed: list[str] = []

    def be_quicker(found: Object) -> None:
        kind = {"RayJob": "rayjobs", "ConfigMap": "configmaps"}[found["kind"]]
        noticed.append(kind)
        labels = {**found["metadata"]["labels"], "somebody": "else"}
        cluster.put(kind, {**found, "metadata": {**found["metadata"], "labels": labels}})

    cluster.before_patch += [be_quicker, lambda _: None, be_quicker]  # each before a first patch
    cluster.faults.append(Fault("GET", "watch=", 0))
    # The first watch breaks, the second one is told that its version is gone, the third one sees the end.
    cluster.reactions += [
        Reaction("GET", "watch=", cluster.forget, after=1),
        Reaction("GET", "watch=", partial(cluster.end_pod, head, report("saved")), after=2),
    ]
    code, result, err = suphx("stop", run_id, "--wait", "300")
    assert (code, result["state"], result["outcome"]) == (0, "stopped", "saved"), err
    assert set(noticed) == {"rayjobs", "configmaps"}
