"""The client against a server in this process: what happens between a read and a write, and what a 404 means."""

from __future__ import annotations

import json
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from suphx_cli import cli
from suphx_platform.cluster.cluster_api import ClusterApi
from suphx_platform.cluster.cluster_error import ClusterError
from tests.suphx_platform.cluster.fake_api_server import Cluster, Fault, Reaction
from tests.suphx_platform.cluster.fake_operator import RECIPE, Command, Operator, put_pod, set_status


@pytest.fixture
def api(cluster: Cluster) -> ClusterApi:
    return ClusterApi()


def put_group(cluster: Cluster, names: list[str]) -> None:
    """Store a RayJob with these worker groups."""
    old = cluster.objects.get(("rayjobs", "run-1"), {"metadata": {"name": "run-1"}})
    metadata = {key: value for key, value in old["metadata"].items() if key != "resourceVersion"}
    spec = {"workerGroupSpecs": [{"groupName": name} for name in names]}
    cluster.put("rayjobs", {"metadata": metadata, "spec": {"rayClusterSpec": spec}})


def with_learner(one: dict[str, Any]) -> dict[str, Any]:
    """Return the patch that appends a group: a merge patch replaces the whole list."""
    groups = [*one["spec"]["rayClusterSpec"]["workerGroupSpecs"], {"groupName": "learner"}]
    return {"spec": {"rayClusterSpec": {"workerGroupSpecs": groups}}}


def groups(cluster: Cluster) -> list[str]:
    spec = cluster.found("rayjobs", "run-1")["spec"]["rayClusterSpec"]
    return [one["groupName"] for one in spec["workerGroupSpecs"]]


def test_a_change_keeps_what_another_client_added_to_the_same_list_meanwhile(cluster: Cluster, api: ClusterApi) -> None:
    put_group(cluster, ["simulator"])
    cluster.before_patch.append(lambda _: put_group(cluster, ["simulator", "evaluator"]))
    changed = api.change("rayjobs", "run-1", with_learner)
    assert groups(cluster) == ["simulator", "evaluator", "learner"]
    assert changed == cluster.found("rayjobs", "run-1")
    assert [method for method, _ in cluster.requests] == ["GET", "PATCH", "GET", "PATCH"]


def test_a_404_that_does_not_name_the_object_is_an_error(cluster: Cluster, api: ClusterApi) -> None:
    # A cluster that does not know ray.io, or a proxy in between, answers so for objects that exist.
    cluster.put("rayjobs", {"metadata": {"name": "run-1"}, "spec": {}})
    cluster.faults += [Fault("GET", "rayjobs", 404), Fault("DELETE", "rayjobs", 404), Fault("GET", "configmaps", 404)]
    with pytest.raises(ClusterError, match=r"RayJob run-1: .*install the KubeRay operator"):
        api.get("rayjobs", "run-1")
    with pytest.raises(ClusterError, match=r"RayJob run-1: .*install the KubeRay operator"):
        api.delete("rayjobs", "run-1")
    with pytest.raises(ClusterError, match=r"ConfigMap run-1: .*Check that it is in namespace suphx"):
        api.get("configmaps", "run-1")
    assert api.get("rayjobs", "run-1") is not None


def test_what_is_no_answer_of_kubernetes_is_an_error_that_names_the_server(
    cluster: Cluster, api: ClusterApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.put("rayjobs", {"metadata": {"name": "run-1"}, "spec": {}})
    monkeypatch.setattr("tests.suphx_platform.cluster.fake_api_server.json.dumps", lambda _: "<html>")
    with pytest.raises(ClusterError, match=r"http://127.* did not return JSON .*no proxy answers"):
        api.get("rayjobs", "run-1")


@pytest.fixture
def quick_outages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of hundredths of a second."""
    for name, seconds in (("_FIRST_PAUSE_SECONDS", 0.01), ("_LONGEST_PAUSE_SECONDS", 0.02)):
        monkeypatch.setattr(f"suphx_platform.cluster.cluster_api.{name}", seconds)


AWAY = 40
"""Requests that fail one after another: many more than the attempts of a command that does not wait."""


def go_away(cluster: Cluster, status: int = 0) -> None:
    cluster.faults.append(Fault("GET", "", status, times=AWAY))


def lines_of_outages(err: str) -> list[str]:
    said = " ".join(err.split())
    return [word for word in said.replace("answers again", "AGAIN").replace("does not answer", "AWAY").split()
            if word in ("AWAY", "AGAIN")]  # fmt: skip


@pytest.mark.usefixtures("quick_outages")
@pytest.mark.parametrize("status", [0, 503])
@pytest.mark.parametrize("command", ["logs", "launch"])
def test_a_log_that_is_followed_goes_on_after_an_outage(
    cluster: Cluster, run_id: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str,
    status: int,
) -> None:  # fmt: skip
    monkeypatch.setattr("suphx_platform.cluster.run_log._PAUSE_SECONDS", 0.05)
    set_status(cluster, run_id, "Running", "RUNNING")
    pod = put_pod(cluster, run_id, "submitter")
    lines = [f"2026-11-21T10:00:{n:02}.000000001Z line {n}" for n in range(60)]
    cluster.logs[pod] = [*lines[:3], "CONNECTION BREAKS"]

    def write_and_go_away() -> None:
        cluster.logs[pod] += lines[3:]  # long before the server is back
        go_away(cluster, status)

    def end_when_it_is_back() -> None:
        cluster.wait_for(lambda: bool(cluster.faults) and cluster.faults[0].times == 0, 30)
        put_pod(cluster, run_id, "submitter", phase="Succeeded")
        set_status(cluster, run_id, "Complete", "SUCCEEDED")

    cluster.reactions.append(Reaction("GET", f"pods/{pod}", write_and_go_away, after=1))
    ender = threading.Thread(target=end_when_it_is_back)
    ender.start()
    arguments = [run_id, "--wait", "60"] if command == "logs" else [str(RECIPE), "--preset", "small"]
    assert cli.main([command, *arguments, "--follow"]) == 0
    ender.join()
    out, err = capsys.readouterr()
    assert [line for line in out.splitlines() if line.startswith("line")] == [f"line {n}" for n in range(60)]
    assert lines_of_outages(err) == ["AWAY", "AGAIN"], err


@pytest.mark.usefixtures("quick_outages")
@pytest.mark.parametrize("command", ["stop", "resume", "delete"])
def test_a_command_that_waits_goes_on_after_an_outage(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str, command: str
) -> None:
    if command == "resume":
        assert suphx("stop", run_id, "--now")[0] == 0
    cluster.reactions.append(Reaction("GET", "pods?", partial(go_away, cluster)))
    cluster.pre_stop = lambda pod: f'{{"stopped": {{"{run_id}": "saved"}}}}'
    options = ["--yes"] if command == "delete" else []
    code, result, err = suphx(command, run_id, *options)
    assert (code, result.get("state")) == (0, {"stop": "stopped", "resume": "running", "delete": "deleted"}[command]), (
        err
    )
    assert lines_of_outages(err) == ["AWAY", "AGAIN"], err


@pytest.mark.usefixtures("quick_outages")
@pytest.mark.parametrize(
    "arguments", [["jobs"], ["status", "RUN"], ["logs", "RUN"], ["logs", "RUN", "-f", "--wait", "0"]]
)
def test_a_command_that_only_looks_or_is_not_to_wait_gives_up_soon(
    cluster: Cluster, suphx: Command, run_id: str, arguments: list[str]
) -> None:
    set_status(cluster, run_id, "Running", "RUNNING")
    put_pod(cluster, run_id, "submitter")
    cluster.reactions.append(Reaction("GET", "pods", partial(go_away, cluster)))
    code, _, err = suphx(*(run_id if one == "RUN" else one for one in arguments))
    assert (code, lines_of_outages(err)) == (1, ["AWAY"]), err
    assert cluster.faults[0].times > 0


@pytest.mark.usefixtures("quick_outages")
def test_an_outage_that_lasts_longer_than_the_wait_is_an_error(cluster: Cluster, suphx: Command, run_id: str) -> None:
    cluster.reactions.append(Reaction("GET", "rayjobs", lambda: cluster.faults.append(Fault("GET", "", 0, 10**6)), 1))
    code, _, err = suphx("logs", run_id, "-f", "--wait", "0.3")
    assert (code, lines_of_outages(err)) == (1, ["AWAY", "AWAY"]), err


@pytest.mark.usefixtures("quick_outages")
def test_a_server_that_has_just_started_may_not_know_its_roles_yet(cluster: Cluster) -> None:
    api = ClusterApi(outage_seconds=60)
    assert api.list("pods") == []
    cluster.faults += [Fault("GET", "", 0, times=AWAY), Fault("GET", "", 403, times=3)]
    assert api.list("pods") == []
    cluster.faults.append(Fault("GET", "", 403, times=2))
    with pytest.raises(ClusterError, match="launcher"):  # without an outage it is the answer
        api.list("pods")
    assert cluster.faults[-1].times == 1


def kubeconfig(**changes: Any) -> str:
    contexts = [
        {"name": "home", "context": {"cluster": "c", "user": "u"}},
        {"name": "work", "context": {"cluster": "c", "user": "u", "namespace": "mahjong"}},
    ]
    config = {
        "apiVersion": "v1",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": contexts,
        "current-context": "home",
    }
    return json.dumps(config | changes)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "kubeconfig"
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("contexts: [\n  {{{\n", r"while parsing a flow node .* line 3, column 1"),
        ("just text", "it is not a kubeconfig"),
        ("", "Invalid kube-config"),
        (kubeconfig(**{"current-context": "gone"}), "Expected object with name gone in .*contexts list"),
        (kubeconfig(clusters=[]), "Expected object with name c in .*clusters list"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(path: Path, text: str, cause: str) -> None:
    path.write_text(text)
    advice = r"Correct it, set KUBECONFIG to another file, or choose one of its contexts with --context"
    with pytest.raises(ClusterError, match=rf"kubeconfig cannot be used \(.*({cause}).*\)\. {advice}"):
        ClusterApi()


def test_an_unknown_context_lists_those_that_there_are(path: Path) -> None:
    path.write_text(kubeconfig())
    with pytest.raises(ClusterError, match=r"name nosuch in .*kubeconfig.* --context: home, work"):
        ClusterApi(context="nosuch")


def test_without_any_configuration_the_first_step_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ClusterError, match=r"^No cluster configured\. Set KUBECONFIG to your kubeconfig file "):
        ClusterApi()


@pytest.mark.parametrize("status", [403, 410, 0])
def test_watches_that_are_refused_are_repeated_ever_more_rarely(
    cluster: Cluster, api: ClusterApi, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("suphx_platform.cluster.cluster_api.time.sleep", pauses.append)
    cluster.put("rayjobs", {"metadata": {"name": "run-1"}, "spec": {}})
    cluster.faults.append(Fault("GET", "watch=true", status, times=12))
    changes = api.changes("rayjobs", "run-1", seconds=60)
    assert [next(changes) is not None for _ in range(12)] == [True] * 12
    assert pauses == [min(0.01 * 2**n, 5.0) for n in range(11)]
