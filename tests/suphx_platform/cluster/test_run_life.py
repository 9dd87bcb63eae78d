"""The whole life of a run, with an operator that does what KubeRay's does (fake_operator.py)."""

from __future__ import annotations

import io
import json
import logging
import threading
from functools import partial
from typing import Any

import pytest
import yaml
from helm_python import Chart

from suphx_platform.cluster import launcher as launcher_module
from suphx_platform.cluster.cluster_api import ClusterApi
from suphx_platform.cluster.launcher import Launcher
from suphx_platform.cluster.run_manifest import run_objects
from tests.repository import REPOSITORY
from tests.suphx_platform.cluster.fake_api_server import Cluster, Fault, Reaction
from tests.suphx_platform.cluster.fake_operator import FINALIZER, RECIPE, Command, Operator, set_status, without_storage


def test_a_run_goes_from_launch_to_its_end(cluster: Cluster, suphx: Command, operator: Operator, run_id: str) -> None:
    _, result, _ = suphx("status", run_id)
    assert (result["state"], result["problems"]) == ("running", [])
    assert result["pods"]["simulator"] == {"ready": 2, "wanted": 2}
    operator.report(run_id, "SUCCEEDED")
    _, result, _ = suphx("status", run_id)
    assert (result["state"], result["problems"]) == ("succeeded", [])
    code, result, err = suphx("resume", run_id)
    assert (code, result["state"]) == (0, "succeeded")
    assert "nothing to resume" in err


def test_a_rejected_run_has_failed_and_can_be_left(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    job = cluster.found("rayjobs", run_id)
    job["spec"]["rayClusterSpec"]["rayVersion"] = "2.40.0"
    cluster.put("rayjobs", {**job, "spec": {**job["spec"], "suspend": True}})
    _, result, _ = suphx("status", run_id)
    assert result["state"] == "failed"
    assert any("ValidationFailed" in one and "needs Ray 2.52.0 or later" in one for one in result["problems"])
    assert any(f"suphx delete {run_id}" in one for one in result["problems"])
    before = cluster.objects["rayjobs", run_id]["metadata"]["uid"]
    code, _, err = suphx("resume", run_id)
    assert code == 1
    assert f"suphx delete {run_id}" in err
    assert cluster.objects["rayjobs", run_id]["metadata"]["uid"] == before
    _, result, err = suphx("launch", str(RECIPE))
    assert result["state"] == "failed"
    assert f"suphx delete {run_id}" in err
    _, _, err = suphx("stop", run_id)
    assert f"suphx delete {run_id}" in err
    assert suphx("delete", run_id, "--yes")[0] == 0
    assert suphx("launch", str(RECIPE))[1]["state"] == "running"


def test_a_failed_attempt_with_retries_left_is_no_failed_run(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    operator.ends_submitters = False  # for up to 300 s Ray says FAILED and the operator Running
    operator.report(run_id, "FAILED")
    _, result, _ = suphx("status", run_id)
    assert result["state"] == "retrying"
    before = cluster.objects["rayjobs", run_id]["metadata"]["uid"]
    assert suphx("resume", run_id)[1]["state"] == "retrying"
    assert cluster.objects["rayjobs", run_id]["metadata"]["uid"] == before
    operator.ends_submitters = True
    for attempt in range(1, cluster.objects["rayjobs", run_id]["spec"]["backoffLimit"] + 1):
        operator.report(run_id, "FAILED")
        status = cluster.objects["rayjobs", run_id]["status"]
        assert (status["failed"], suphx("status", run_id)[1]["state"]) == (attempt, "running")
    operator.report(run_id, "FAILED")
    _, result, _ = suphx("status", run_id)
    assert result["state"] == "failed"
    assert any("AppFailed" in one for one in result["problems"])
    code, result, _ = suphx("resume", run_id)
    assert (code, result["state"]) == (0, "running")
    assert cluster.objects["rayjobs", run_id]["metadata"]["uid"] != before


def test_a_recipe_without_a_run_is_not_listed_as_a_run(cluster: Cluster, suphx: Command, run_id: str) -> None:
    job = cluster.objects.pop(("rayjobs", run_id))
    _, listed, err = suphx("jobs")
    assert listed["runs"] == []
    assert f"suphx delete {run_id}" in err
    code, _, err = suphx("status", run_id)
    assert code == 1
    assert f"suphx delete {run_id}" in err
    cluster.objects["rayjobs", run_id] = job


def test_of_two_launches_at_once_one_says_that_it_created_the_run(
    cluster: Cluster,
    suphx: Command,
    template: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    both = threading.Barrier(2)
    create = launcher_module.create_run

    def at_once(api: ClusterApi, job: dict[str, Any], recipe: dict[str, Any]) -> bool:
        both.wait(120)
        return create(api, job, recipe)

    monkeypatch.setattr(launcher_module, "create_run", at_once)
    caplog.set_level(logging.INFO, "suphx_platform")
    presets = ("small", "paper")

    def launch(preset: str) -> None:
        objects = run_objects(template, preset=preset, run_id="demo-1", recipe="seed = 1\n", overrides=[])
        Launcher(ClusterApi()).launch(objects)

    threads = [threading.Thread(target=launch, args=(preset,)) for preset in presets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert sorted(text.split()[0] for text in caplog.messages) == ["Created", "demo-1"]
    assert any("already exists" in text for text in caplog.messages)
    job, kept = cluster.objects["rayjobs", "demo-1"], cluster.objects["configmaps", "demo-1-recipe"]
    assert yaml.safe_load(kept["data"]["rayjob.yaml"])["spec"] == job["spec"]  # not that of the other preset


def test_a_launch_that_cannot_be_undone_says_what_is_left(cluster: Cluster, suphx: Command) -> None:
    cluster.faults += [Fault("POST", "configmaps", 403), Fault("DELETE", "rayjobs", 403)]
    code, _, err = suphx("launch", str(RECIPE))
    (run,) = cluster.names("rayjobs")
    assert (code, f"RayJob {run} exists and cannot be deleted" in err) == (1, True), err
    assert suphx("launch", str(RECIPE))[0] == 0, "the next launch completes it"


@pytest.mark.parametrize("queue", ["", "training"])
def test_a_run_of_the_chart_is_stopped_and_resumed_like_any_other(
    cluster: Cluster, suphx: Command, operator: Operator, queue: str
) -> None:
    values = {"run": {"name": "first", "recipe": "seed = 1\n"}, "kueue": {"queueName": queue}}
    texts = Chart.load(REPOSITORY / "helm" / "suphx").render(values, name="suphx", namespace="suphx")
    for kind, path in (("configmaps", "run/recipe.yaml"), ("rayjobs", "run/rayjob.yaml")):
        cluster.put(kind, yaml.safe_load(texts[f"suphx/templates/{path}"]))
    code, result, _ = suphx("stop", "first", "--now")
    assert (code, result["state"], cluster.names("pods")) == (0, "stopped", [])
    assert cluster.names("rayjobs") == []
    code, result, err = suphx("resume", "first")
    assert (code, result["state"]) == (0, "running"), err
    assert result["preset"] == "small"
    annotations = cluster.objects["rayjobs", "first"]["metadata"].get("annotations") or {}
    assert annotations["meta.helm.sh/release-name"] == "suphx"  # helm upgrade takes it as its own


def test_delete_removes_the_run_and_says_what_stays(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    cluster.keeps_pods = True
    cluster.reactions.append(Reaction("GET", "pods?", cluster.end_pods, after=2))
    code, result, _ = suphx("delete", run_id, "--yes")
    assert (code, result["state"], result["pods"], result["problems"]) == (0, "deleted", {}, [])
    assert result["removed"] == [f"RayJob {run_id}", f"ConfigMap {run_id}-recipe"]
    assert result["kept"] == [f"checkpoints and results in s3://bucket/runs/{run_id}"]
    assert [cluster.names(kind) for kind in ("rayjobs", "rayclusters", "jobs", "pods")] == [[], [], [], []]
    assert cluster.names("configmaps") == ["suphx-run-template"]
    assert "no run" in suphx("status", run_id)[2]
    assert "no run" in suphx("delete", run_id, "--yes")[2]


def test_a_deletion_whose_time_was_over_waits_for_the_pods_when_it_is_repeated(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    cluster.keeps_pods = True
    code, _, err = suphx("delete", run_id, "--yes", "--now", "--wait", "0.1")
    assert code == 1
    assert "are still terminating" in err
    assert cluster.names("rayjobs") == []
    cluster.reactions.append(Reaction("GET", "pods?", cluster.end_pods, after=3))
    code, result, _ = suphx("delete", run_id, "--yes")
    assert (code, result["removed"]) == (0, [])
    assert cluster.names("pods") == []
    assert "no run" in suphx("delete", run_id, "--yes")[2]


def test_a_run_that_is_deleted_saves_first_while_all_its_pods_are_there(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    seen: list[list[str]] = []

    def save(pod: dict[str, Any]) -> str:
        roles = [cluster.objects["pods", name]["metadata"]["labels"]["suphx/role"] for name in cluster.names("pods")]
        seen.append(sorted(set(roles)))
        operator.report(run_id, "FAILED")  # the driver ends with exit code 130, and no attempt is to follow
        return json.dumps({"stopped": {run_id: "saved"}})

    cluster.pre_stop = save
    code, result, err = suphx("delete", run_id, "--yes")
    assert (code, result["state"], result["outcome"]) == (0, "deleted", "saved"), err
    assert seen == [["head", "inference", "learner", "simulator", "submitter"]]
    assert [cluster.names(kind) for kind in ("rayjobs", "rayclusters", "jobs", "pods")] == [[], [], [], []]


def test_a_run_that_does_not_save_is_deleted_with_a_warning(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    cluster.pre_stop = lambda pod: ""
    code, _, err = suphx("delete", run_id, "--yes")
    assert (code, cluster.names("rayjobs")) == (0, [])
    assert "without a report" in err


@pytest.mark.parametrize(("has_storage", "options"), [(True, ["--now"]), (False, [])])
def test_a_run_that_is_not_to_save_or_has_no_storage_is_deleted_at_once_after_a_question_that_says_so(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str, monkeypatch: pytest.MonkeyPatch,
    has_storage: bool, options: list[str],
) -> None:  # fmt: skip
    if not has_storage:
        without_storage(cluster, run_id)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    code, result, err = suphx("delete", run_id, *options)
    assert (code, cluster.names("rayjobs"), "outcome" in result) == (0, [], False), err
    assert not [path for method, path in cluster.requests if method == "DELETE" and "/pods/" in path]
    assert "is lost" in err
    assert ("no storage" in err) == (not has_storage)


@pytest.mark.parametrize(("answer", "is_deleted"), [("y\n", True), ("n\n", False), ("", False)])
def test_delete_asks_first(
    cluster: Cluster, suphx: Command, run_id: str, monkeypatch: pytest.MonkeyPatch, answer: str,
    is_deleted: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    code, _, err = suphx("delete", run_id)
    assert f"Delete {run_id} (starting)" in err
    assert "saves its state first" in err
    assert (code == 0, cluster.names("rayjobs") == []) == (is_deleted, is_deleted)
    assert is_deleted or "--yes" in err


def test_without_an_operator_a_run_is_deleted_by_force_only(cluster: Cluster, suphx: Command, run_id: str) -> None:
    cluster.objects["rayjobs", run_id]["metadata"]["finalizers"] = [FINALIZER]
    code, _, err = suphx("delete", run_id, "--yes", "--wait", "0.1")
    assert code == 1
    assert "--force" in err
    assert suphx("status", run_id)[1]["state"] == "deleting"
    code, _, err = suphx("launch", str(RECIPE))
    assert code == 1
    assert "is being deleted" in err
    assert suphx("resume", run_id)[0] == 1
    assert suphx("delete", run_id, "--yes", "--force")[0] == 0
    assert cluster.names("rayjobs") == []


def test_a_rayjob_of_somebody_else_is_left_alone(cluster: Cluster, suphx: Command) -> None:
    cluster.put("rayjobs", {"metadata": {"name": "theirs"}, "spec": {}})
    for command in (["delete", "theirs", "--yes"], ["stop", "theirs"], ["status", "theirs"]):
        code, _, err = suphx(*command)
        assert code == 1
        assert "it is not a run of suphx" in err
    assert cluster.names("rayjobs") == ["theirs"]


def test_two_resumes_at_once_start_one_run(cluster: Cluster, suphx: Command, run_id: str) -> None:
    set_status(cluster, run_id, "Failed", "FAILED", reason="AppFailed")

    def be_quicker(recipe: dict[str, Any]) -> None:
        job = cluster.found("rayjobs", run_id)
        cluster.remove("rayjobs", run_id)
        del job["metadata"]["uid"], job["status"]
        made = cluster.put("rayjobs", job)
        owner = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": run_id, "uid": made["metadata"]["uid"]}
        cluster.put("configmaps", {**recipe, "metadata": {**recipe["metadata"], "ownerReferences": [owner]}})

    cluster.before_patch.append(be_quicker)
    code, _, err = suphx("resume", run_id)
    assert code == 1
    assert "at the same time" in err
    assert cluster.names("rayjobs") == [run_id]


def test_the_role_allows_what_the_commands_do_and_nothing_else(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str
) -> None:
    operator.warn(cluster.objects["rayjobs", run_id], "Anything", "of the whole life")

    def slow_operator(kind: str, body: dict[str, Any]) -> None:  # so that `stop` has to watch
        """Remove the finalizer of a RayJob that is deleted only when somebody watches it."""
        if "deletionTimestamp" not in body["metadata"]:
            operator(kind, body)
        elif kind == "rayjobs":
            cluster.reactions.append(Reaction("GET", "rayjobs?", partial(operator, kind, body)))

    for command in (
        ["jobs"],
        ["launch", str(RECIPE), "--set", "seed=2", "--dry-run"],
        ["stop", run_id],
        ["resume", run_id],
    ):
        cluster.operator = slow_operator if command[0] == "stop" else operator
        code, _, err = suphx(*command)
        assert code == 0, err
    submitter = next(name for name in cluster.names("pods") if "submitter" in json.dumps(cluster.objects["pods", name]))
    cluster.logs[submitter] = ["2026-11-21T10:00:00Z a line"]
    cluster.reactions.append(Reaction("GET", "/log", partial(operator.report, run_id, "SUCCEEDED")))
    assert suphx("logs", run_id, "-f")[0] == 0
    assert suphx("delete", run_id, "--yes")[0] == 0
    assert cluster.rules is not None
    allowed = {
        (group, resource, verb)
        for rule in cluster.rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert cluster.used_rights == allowed
