"""What the commands tell while attempts fail: the sequence that KubeRay's operator 1.7.0 was seen to go through."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from suphx_cli import cli
from suphx_platform.cluster.cluster_api import ClusterApi
from suphx_platform.cluster.launcher import Launcher
from suphx_platform.cluster.run_attempts import with_progress
from suphx_platform.cluster.run_status import RunStatus, attempts_of, state_of
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs.attempted_run import REASON, drive
from tests.suphx_platform.cluster.fake_api_server import Cluster
from tests.suphx_platform.cluster.fake_operator import RECIPE, Command, Operator


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return tmp_path / "storage"


@pytest.fixture
def run_id(suphx: Command, operator: Operator, storage: Path) -> str:
    """A run that is launched, and whose states are kept in a folder."""
    code, result, err = suphx("launch", str(RECIPE), "--set", f"storage.address={storage}")
    assert code == 0, err
    return str(result["run_id"])


def end_attempt(cluster: Cluster, operator: Operator, run: str, storage: Path, how: str) -> None:
    """Let the real driver of the present attempt run to its end on a node of its own, and Ray report it."""
    status = cluster.found("rayjobs", run)["status"]
    job = str(status["jobId"])
    code = drive(storage.parent / job, str(storage), run, how, job=job)
    log = (storage.parent / job / f"job-driver-{job}.log").read_text().splitlines()
    cluster.logs[submitter(cluster)] = [f"2026-11-29T10:00:{n % 60:02}Z {line}" for n, line in enumerate(log)]
    operator.report(run, "FAILED" if code else "SUCCEEDED")


def submitter(cluster: Cluster) -> str:
    pods = [cluster.found("pods", name) for name in cluster.names("pods")]
    return next(str(pod["metadata"]["name"]) for pod in pods if pod["metadata"]["labels"]["suphx/role"] == "submitter")


def go_on(operator: Operator, run: str, waits_in: str = "") -> None:
    operator.waits_in = waits_in
    operator("rayjobs", {"metadata": {"name": run}})


def line_of(run: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what ``suphx jobs`` shows a person of a run."""
    assert cli.main(["jobs"]) == 0
    return next(line for line in capsys.readouterr().out.splitlines() if run in line)


def test_every_step_of_a_retry_is_told(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str, storage: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, status, _ = suphx("status", run_id)
    assert (status["state"], status["failed_attempts"]) == ("running", [])
    assert status["attempts"] == {"failed": 0, "used": 1, "allowed": 11}
    operator.ends_submitters, operator.waits_in = False, "Retrying"

    end_attempt(cluster, operator, run_id, storage, "fails")  # Ray says so; the operator still waits for the submitter
    _, status, _ = suphx("status", run_id)
    assert (status["state"], status["attempts"]) == ("retrying", {"failed": 1, "used": 1, "allowed": 11})
    operator.ends_submitters = True

    for step, attempts in (
        ("Retrying", {"failed": 1, "used": 1, "allowed": 11}),  # RayCluster, submitter and its pod are deleted
        ("Initializing", {"failed": 1, "used": 2, "allowed": 11}),  # jobId and rayClusterName are new
    ):
        go_on(operator, run_id, waits_in=step)
        job = cluster.found("rayjobs", run_id)["status"]
        assert (job["jobDeploymentStatus"], job["failed"]) == (step, 1)
        assert not any("submitter" in str(cluster.objects["pods", name]) for name in cluster.names("pods"))
        _, status, _ = suphx("status", run_id)
        assert (status["state"], status["attempts"]) == ("retrying", attempts), step
        assert any("AttemptFailed" in one and "1 of 11" in one for one in status["problems"]), step
        (failed,) = status["failed_attempts"]
        assert (failed["number"], failed["outcome"]) == (1, "failed")
        assert failed["ended"]
        assert REASON in failed["reason"]
        (listed,) = suphx("jobs")[1]["runs"]
        assert (listed["state"], listed["attempts"]) == ("retrying", attempts)
        assert "1 failed" in line_of(run_id, capsys)
        code, _, err = suphx("logs", run_id)
        assert code == 1
        assert REASON in err

    operator.report(run_id, "PENDING")
    go_on(operator, run_id)
    assert cluster.found("rayjobs", run_id)["status"]["jobDeploymentStatus"] == "Running"
    assert suphx("status", run_id)[1]["state"] == "retrying"
    operator.report(run_id, "RUNNING")
    _, status, _ = suphx("status", run_id)
    assert (status["state"], status["problems"]) == ("running", [])
    assert status["attempts"] == {"failed": 1, "used": 2, "allowed": 11}
    assert REASON in status["failed_attempts"][0]["reason"]

    end_attempt(cluster, operator, run_id, storage, "finishes")
    _, status, _ = suphx("status", run_id)
    assert (status["state"], status["attempts"]) == ("succeeded", {"failed": 1, "used": 2, "allowed": 11})
    assert [one["number"] for one in status["failed_attempts"]] == [1]


def test_reasons_that_cannot_be_read_from_here_are_looked_for_where_they_are(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str, storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_attempt(cluster, operator, run_id, storage, "fails")
    monkeypatch.setattr("suphx_platform.cluster.run_attempts._storage_config", lambda _: None)
    _, status, _ = suphx("status", run_id)
    assert (status["attempts"]["failed"], status["failed_attempts"]) == (1, [])
    assert any(f"{run_id}/attempts" in one and "MLFLOW_TRACKING_URI" in one for one in status["problems"])


def test_a_log_is_followed_into_the_next_attempt(
    cluster: Cluster, operator: Operator, run_id: str, storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suphx_platform.cluster.run_log._PAUSE_SECONDS", 0.05)
    seen: list[str] = []
    cluster.logs[submitter(cluster)] = ["2026-11-29T10:00:00Z first attempt"]

    def read() -> None:
        for line in Launcher(ClusterApi()).log(run_id, "submitter").lines(follow=True, tail=None):
            with cluster.changed:
                seen.append(line)
                cluster.changed.notify_all()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    cluster.wait_for(lambda: "first attempt" in seen)
    operator.waits_in = "Initializing"
    operator.report(run_id, "FAILED")
    cluster.wait_for(lambda: len(seen) == 2)
    go_on(operator, run_id)
    cluster.logs[submitter(cluster)] = ["2026-11-29T10:02:00Z second attempt"]
    cluster.wait_for(lambda: "second attempt" in seen)
    operator.report(run_id, "SUCCEEDED")
    reader.join(30)
    assert not reader.is_alive()
    assert [seen[0], seen[2]] == ["first attempt", "second attempt"]
    assert "attempt 1 of 11 has failed" in seen[1]


@pytest.mark.parametrize("step", ["Retrying", "Initializing"])
def test_a_run_is_stopped_and_resumed_while_it_is_retried(
    cluster: Cluster, suphx: Command, operator: Operator, run_id: str, step: str
) -> None:
    operator.waits_in = step
    operator.report(run_id, "FAILED")
    uid = cluster.found("rayjobs", run_id)["metadata"]["uid"]
    assert suphx("resume", run_id)[1]["state"] == "retrying"  # it is left alone
    assert cluster.found("rayjobs", run_id)["metadata"]["uid"] == uid
    code, result, err = suphx("stop", run_id, "--wait", "300")
    assert (code, result["state"], cluster.names("pods")) == (0, "stopped", []), err
    operator.waits_in = ""
    _, result, _ = suphx("resume", run_id)
    assert (result["state"], result["attempts"]["failed"]) == ("running", 0)


@pytest.mark.parametrize(
    ("status", "limit", "expected"),
    [
        ({}, 2, (0, 0, 3)),
        ({"jobDeploymentStatus": "Initializing", "failed": 0}, 2, (0, 1, 3)),
        ({"jobDeploymentStatus": "Running", "jobStatus": "FAILED", "failed": 1}, 2, (2, 2, 3)),
        ({"jobDeploymentStatus": "Retrying", "failed": 2}, 2, (2, 2, 3)),
        ({"jobDeploymentStatus": "", "failed": 2}, 2, (2, 2, 3)),
        ({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED", "failed": 2, "succeeded": 1}, 2, (2, 3, 3)),
        ({"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "failed": 3}, 2, (3, 3, 3)),
        ({"jobDeploymentStatus": "Running", "jobStatus": "RUNNING", "failed": 1}, 0, (1, 2, 2)),  # it is to stop
        ({"jobDeploymentStatus": "Running", "jobStatus": "FAILED", "failed": 0}, None, (1, 1, 1)),
    ],
)
def test_attempts_are_counted_as_the_operator_does(
    status: dict[str, object], limit: int | None, expected: tuple[int, int, int]
) -> None:
    job = {"metadata": {"name": "a"}, "spec": {"backoffLimit": limit}, "status": status}
    count = attempts_of(job)
    assert (count.failed, count.used, count.allowed) == expected
    if status.get("jobStatus") == "FAILED":
        assert state_of(job) == ("failed" if count.failed == count.allowed else "retrying")


pytestmark = pytest.mark.usefixtures("own_environment")
STATUS = RunStatus(run_id="run-1", state="running", pods={}, problems=["a pod is missing"])


@pytest.fixture
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command sets for its own process does not stay for other tests."""
    for name in ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "MLFLOW_HTTP_REQUEST_TIMEOUT"):
        monkeypatch.setenv(name, "1")


def test_progress_is_that_of_the_newest_stage_in_mlflow(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TrackingStore(runs)
    tracker = store.start("run-1", key="run-1")
    for stage, updates in (("supervised/discard", 0), ("reinforcement", 120)):
        nested = tracker.start(stage, key=f"run-1/{stage}")
        nested.log_metrics({"updates": updates, "loss": 0.5}, step=updates)
    store.start("run-2", key="run-2").log_metrics({"updates": 7})
    store.close()
    assert with_progress(STATUS, None).progress == {}  # nobody named a server
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)
    found = with_progress(STATUS, None)
    assert (found.progress, found.problems) == ({"updates": 120.0}, ["a pod is missing"])
