"""What the driver of a Ray job keeps of its attempts, however they end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suphx_cli import cli
from suphx_pipelines.runs.provenance import git_commit
from suphx_pipelines.runs.runner import Runner
from suphx_pipelines.runs.stage import Interrupted, Stage
from suphx_platform.cluster.run_attempts import ATTEMPTS, has_failed, places, read_attempts
from suphx_platform.cluster.run_status import STOP_NOTE, Attempt
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs.attempted_run import REASON, drive, ray_job
from tests.suphx_pipelines.runs.small_run import Context, SmallRecipe, small_runner

RUN = "run-1"
SECRET = "planted-0451"


@pytest.fixture
def _ray_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process the driver of a Ray job."""
    for name, value in ray_job("job-1").items():
        monkeypatch.setenv(name, value)


def kept(storage: Path) -> list[Attempt]:
    return list(read_attempts(Storage(StorageConfig(address=str(storage))), RUN).values())


def runner(runs: Path, work: Callable[[Context], dict[str, float]], storage: Path | None = None) -> Runner[SmallRecipe]:
    return small_runner(runs, stages=[Stage(name="numbers", run=work)], storage=storage, run_id=RUN)


def fail(context: Context) -> dict[str, float]:
    raise RuntimeError(f"{REASON},\n see http://me:{SECRET}@host and {SECRET}")


def test_attempts_are_kept_outside_of_their_pods_with_reason_and_commit(runs: Path, tmp_path: Path) -> None:
    storage = tmp_path / "storage"
    assert drive(tmp_path / "pod-1", str(storage), RUN, "fails", job="job-1", runs=runs) == 1
    assert drive(tmp_path / "pod-2", str(storage), RUN, "finishes", job="job-2", runs=runs) == 0
    first, second = kept(storage)
    assert (first.number, first.outcome, first.reason) == (1, "failed", f"RuntimeError: {REASON}")
    assert git_commit() in first.version
    assert first.started
    assert first.ended
    assert first.ended >= first.started
    assert (second.number, second.outcome, second.reason) == (2, "finished", "")


@pytest.mark.slow
def test_a_killed_driver_is_reported_by_the_next_attempt(runs: Path, tmp_path: Path) -> None:
    storage, pod = tmp_path / "storage", tmp_path / "pod-1"
    assert drive(pod, str(storage), RUN, "is killed", job="job-1", runs=runs) == -9
    assert [attempt.outcome for attempt in kept(storage)] == [None]
    assert drive(tmp_path / "pod-2", str(storage), RUN, "finishes", job="job-2", runs=runs) == 0
    first, second = kept(storage)
    assert (first.outcome, second.outcome) == ("lost", "finished")
    assert "killed" in first.reason


@pytest.mark.usefixtures("_ray_job")
def test_no_secret_gets_into_a_record(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(RuntimeError):
        runner(runs, fail, tmp_path / "storage").run()
    (attempt,) = kept(tmp_path / "storage")
    assert attempt.reason == f"RuntimeError: {REASON}, see http://host and ***"
    texts = [path.read_text() for path in tmp_path.rglob(f"{ATTEMPTS}/*.json")]
    assert len(texts) == 4  # beginning and end, in the storage and in the folder of the run
    assert not any(SECRET in text for text in texts)


@pytest.mark.usefixtures("_ray_job")
def test_a_run_that_was_asked_to_stop_has_not_failed(runs: Path, tmp_path: Path) -> None:
    def stop(context: Context) -> dict[str, float]:
        raise Interrupted("step 7")

    with pytest.raises(KeyboardInterrupt):
        runner(runs, stop, tmp_path / "storage").run()
    (attempt,) = kept(tmp_path / "storage")
    assert attempt.outcome == "stopped"
    job: dict[str, Any] = {"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}}
    assert has_failed(attempt, job)  # nobody asked the RayJob to stop: the operator tries again
    job["metadata"]["annotations"] = {STOP_NOTE: "2026-01-02T00:00:00+00:00"}
    assert not has_failed(attempt, job)
    assert not has_failed(attempt, {"metadata": {"creationTimestamp": "2999-01-01T00:00:00Z"}})  # resumed since
    assert not has_failed(attempt, None)


@pytest.mark.usefixtures("_ray_job")
def test_without_a_storage_attempts_are_artifacts_in_mlflow(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", TrackingStore(runs).uri)
    monkeypatch.chdir(tmp_path)  # where MLflow keeps the artifacts of a store in files
    for number in (1, 2):
        (pod := tmp_path / f"pod-{number}").mkdir()
        with pytest.raises(RuntimeError):
            runner(pod, fail).run()
    (name,) = (found := places(None, tmp_path))
    attempts = read_attempts(found[name], RUN)
    assert [(number, attempt.outcome) for number, attempt in attempts.items()] == [(1, "failed"), (2, "failed")]
    assert REASON in attempts[1].reason


@pytest.mark.usefixtures("_ray_job")
def test_a_storage_that_does_not_answer_changes_nothing_but_a_warning(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def lose(*_: object) -> None:
        raise PermissionError("the keys are refused")

    monkeypatch.setattr(Storage, "put_note", lose)
    with pytest.raises(RuntimeError, match=REASON):
        runner(runs, fail, tmp_path / "storage").run()
    assert "the keys are refused" in caplog.text


@pytest.mark.usefixtures("_ray_job")
@pytest.mark.parametrize("key", ["no.such.key=1", "storage.keep_last=0"])
def test_an_error_before_the_run_has_begun_is_an_attempt_too(tmp_path: Path, key: str) -> None:
    storage = tmp_path / "storage"
    words = ["run", "laptop", "--runs", str(tmp_path / "runs"), "--run-id", RUN]
    settings = ["--set", f"storage.address={storage}", "--set", key]
    assert cli.main([*words, *settings]) == 1
    assert cli.main([*words, *settings]) == 1
    first, second = kept(storage)
    assert (first.number, second.number) == (1, 2)
    assert first.outcome == second.outcome == "failed"
    assert key.partition("=")[0].rpartition(".")[2] in first.reason
