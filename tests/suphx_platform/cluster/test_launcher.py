"""The commands against an API server over HTTP (fake_api_server.py) that holds what the real chart installs."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from suphx_cli import cli
from suphx_platform.cluster.run_manifest import setting
from tests.suphx_pipelines.recipe.small_recipe import load_recipe
from tests.suphx_platform.cluster.fake_api_server import Cluster, Fault, Reaction, kubeconfig
from tests.suphx_platform.cluster.fake_operator import RECIPE, Command, put_pod, set_status, without_storage


def test_a_launched_run_is_the_charts_rayjob_with_the_recipe_as_it_was_resolved(
    cluster: Cluster, suphx: Command, tmp_path: Path
) -> None:
    code, result, err = suphx("launch", str(RECIPE), "--preset", "paper", "--set", "reinforcement.max_updates=7")
    assert code == 0
    run = result["run_id"]
    assert f"suphx logs {run} -f" in err
    job, recipe = cluster.objects["rayjobs", run], cluster.objects["configmaps", f"{run}-recipe"]
    assert "RUN_ID" not in json.dumps(job)
    assert f"--run-id {run} --set reinforcement.max_updates=7" in job["spec"]["entrypoint"]
    assert recipe["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"]
    (tmp_path / "recipe.toml").write_text(recipe["data"]["recipe.toml"])
    assert load_recipe(tmp_path / "recipe.toml") == load_recipe(RECIPE, [("reinforcement.max_updates", "7")])
    assert result["pods"]["inference"] == {"ready": 0, "wanted": 40}
    assert result["state"] == "starting"


def test_the_storage_of_a_recipe_counts_more_than_that_of_the_chart(
    cluster: Cluster, suphx: Command, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "reinforcement"\n[storage]\naddress = "s3://mine/runs"\n', encoding="utf-8")
    for arguments, address in (((), "s3://mine/runs"), (("--set", "storage.address=s3://typed"), "s3://typed")):
        code, result, _ = suphx("launch", str(mine), "--set", f"seed={len(arguments)}", *arguments)
        assert code == 0
        assert setting(cluster.objects["rayjobs", result["run_id"]], "storage.address") == address


def test_the_same_recipe_is_never_launched_twice(cluster: Cluster, suphx: Command, run_id: str) -> None:
    code, result, err = suphx("launch", str(RECIPE), "--preset", "paper")
    assert (code, result["run_id"]) == (0, run_id)
    assert "already exists" in err
    assert cluster.names("rayjobs") == [run_id]
    for kind, name in (("rayjobs", run_id), ("configmaps", f"{run_id}-recipe")):
        cluster.objects[kind, name]["metadata"]["creationTimestamp"] = "2025-01-01T00:00:00Z"
    _, other, _ = suphx("launch", str(RECIPE), "--set", "seed=2")
    assert other["run_id"] != run_id
    _, listed, _ = suphx("jobs")
    assert [one["run_id"] for one in listed["runs"]] == [run_id, other["run_id"]]


@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST", "rayjobs", 503, times=2),
        Fault("POST", "rayjobs", 0),
        Fault("POST", "rayjobs", 0, is_done_first=True),
        Fault("POST", "configmaps", 0, is_done_first=True),
        Fault("POST", "configmaps", 500),
        Fault("GET", "configmaps", 429, times=3),
        Fault("GET", "rayjobs", 0, times=2),
    ],
    ids=str,
)
def test_a_server_that_stumbles_is_asked_again(cluster: Cluster, suphx: Command, fault: Fault) -> None:
    cluster.faults.append(fault)
    code, result, _ = suphx("launch", str(RECIPE))
    assert (code, fault.times) == (0, 0)
    assert cluster.names("rayjobs") == [result["run_id"]]
    assert cluster.objects["configmaps", f"{result['run_id']}-recipe"]["metadata"]["ownerReferences"]


def test_a_refused_launch_leaves_nothing_and_a_lost_recipe_is_made_again(cluster: Cluster, suphx: Command) -> None:
    before = cluster.names("configmaps")
    cluster.faults.append(Fault("POST", "rayjobs", 403))
    code, _, err = suphx("launch", str(RECIPE))
    assert (code, cluster.names("configmaps")) == (1, before)
    assert "launcher.subjects" in err
    _, result, _ = suphx("launch", str(RECIPE))
    name = f"{result['run_id']}-recipe"
    cluster.remove("configmaps", name)
    code, _, _ = suphx("launch", str(RECIPE))
    assert (code, cluster.names("rayjobs")) == (0, [result["run_id"]])
    assert cluster.objects["configmaps", name]["metadata"]["ownerReferences"]


def test_status_counts_pods_by_role_and_trusts_rays_word(cluster: Cluster, suphx: Command, run_id: str) -> None:
    set_status(cluster, run_id, "Running", "RUNNING")
    for role, number in (("head", 0), ("simulator", 0), ("simulator", 1), ("learner", 0)):
        put_pod(cluster, run_id, role, number)
    _, result, _ = suphx("status", run_id)
    assert (result["state"], result["preset"]) == ("running", "small")
    assert result["pods"] == {
        "head": {"ready": 1, "wanted": 1},
        "simulator": {"ready": 2, "wanted": 2},
        "inference": {"ready": 0, "wanted": 2},
        "learner": {"ready": 1, "wanted": 1},
    }
    set_status(cluster, run_id, "Failed", "SUCCEEDED")  # its submitter failed, the run did not
    _, result, _ = suphx("status", run_id)
    assert (result["state"], result["problems"]) == ("succeeded", [])


OOM = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"containerStatuses": [{"name": "ray", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]}, "image.tag"),
        ({"containerStatuses": [{"name": "ray", "state": {}, "lastState": OOM}]}, "exit code 137 (raise the memory"),
        ({"phase": "Failed", "reason": "Evicted", "message": "low on resource: memory"}, "Evicted: low on resource"),
    ],
)
def test_what_is_wrong_with_a_pod_is_said_with_a_remedy(
    cluster: Cluster, suphx: Command, run_id: str, status: dict[str, Any], text: str
) -> None:
    put_pod(cluster, run_id, "learner", **{"phase": "Pending", "conditions": [], "containerStatuses": [], **status})
    _, result, _ = suphx("status", run_id)
    assert any(text in problem and "learner" in problem for problem in result["problems"])


def test_a_run_that_was_deleted_is_not_launched_while_its_pods_terminate(
    cluster: Cluster, suphx: Command, run_id: str
) -> None:
    set_status(cluster, run_id, "Running", "RUNNING")
    put_pod(cluster, run_id, "head")
    for key in (("rayjobs", run_id), ("configmaps", f"{run_id}-recipe")):  # kubectl delete
        cluster.objects.pop(key)
    code, _, err = suphx("launch", str(RECIPE), "--preset", "paper")
    assert (code, cluster.names("rayjobs")) == (1, [])
    assert f"{run_id} was deleted, and its pods are still terminating" in err
    put_pod(cluster, run_id, "head", phase="Succeeded")
    assert suphx("launch", str(RECIPE), "--preset", "paper")[0] == 0


def test_a_run_without_a_storage_is_not_stopped_as_if_it_could_be_resumed(
    cluster: Cluster, suphx: Command, run_id: str
) -> None:
    without_storage(cluster, run_id)
    set_status(cluster, run_id, "Running", "RUNNING")
    put_pod(cluster, run_id, "head")
    code, _, err = suphx("stop", run_id)
    assert (code, cluster.names("rayjobs")) == (1, [run_id])
    assert f"{run_id} was not stopped: it has no storage, so its saved state would be lost with its head pod" in err


def test_a_followed_pod_that_is_deleted_ends_no_other_log(
    cluster: Cluster, run_id: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suphx_platform.cluster.run_log._PAUSE_SECONDS", 0.05)
    set_status(cluster, run_id, "Running", "RUNNING")
    pods = [put_pod(cluster, run_id, "simulator", number) for number in range(2)]
    for number, pod in enumerate(pods):
        cluster.logs[pod] = [f"2026-11-21T10:00:0{n}.000000001Z line {n} of {number}" for n in range(2)]
    cluster.logs[pods[1]].insert(1, "CONNECTION BREAKS")

    def lose() -> None:
        cluster.objects.pop(("pods", pods[0]))

    def end() -> None:
        put_pod(cluster, run_id, "simulator", 1, phase="Succeeded")
        set_status(cluster, run_id, "Complete", "SUCCEEDED")

    cluster.reactions += [Reaction("GET", "/log", lose, after=1), Reaction("GET", "/log", end, after=3)]
    assert cli.main(["logs", run_id, "-f", "--role", "simulator"]) == 0
    out, err = capsys.readouterr()
    assert {f"{pods[1]}: line {n} of 1" for n in range(2)} <= set(out.splitlines()), err


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_never_answers_is_named_after_two_attempts(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("suphx_platform.cluster.cluster_api._FIRST_TIMEOUT_SECONDS", (0.1, 0.1))
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts connections, nobody reads from them
        address = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}"
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig(address)))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        assert cli.main(["jobs"]) == 1
    assert capsys.readouterr().err.startswith(f"suphx: the API server {address} does not answer (timeout). Check")
