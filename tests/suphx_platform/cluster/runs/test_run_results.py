from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suphx_platform.cluster.runs.run_manifest import RESULTS_NOTE
from suphx_platform.cluster.runs.run_results import with_progress
from suphx_platform.cluster.runs.run_status import RunStatus
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.stored_versions import FINISHED
from suphx_platform.tracking.tracking import TrackingStore

pytestmark = pytest.mark.usefixtures("own_environment")
STATUS = RunStatus(run_id="run-1", state="running", pods={}, problems=["a pod is missing"])


@pytest.fixture
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command sets for its own process does not stay for other tests."""
    for name in ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "MLFLOW_HTTP_REQUEST_TIMEOUT"):
        monkeypatch.setenv(name, "1")


def job(address: str, **notes: str) -> dict[str, Any]:
    entrypoint = f"suphx run r.toml --set storage.address=elsewhere --set storage.address={address}"
    return {"metadata": {"name": "run-1", "annotations": notes}, "spec": {"entrypoint": entrypoint}}


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


def test_the_last_checkpoint_is_that_of_the_work_under_way(tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "store")))
    (tmp_path / "stage").mkdir()
    (tmp_path / "stage" / "weights").write_text("w")
    assert with_progress(STATUS, job(str(tmp_path / "store"))).last_checkpoint is None
    storage.save("run-1/supervised/discard", tmp_path / "stage", number=FINISHED)
    for number in (40, 120):
        storage.save("run-1/reinforcement", tmp_path / "stage", number=number)
    storage.save("run-11/reinforcement", tmp_path / "stage", number=999)
    found = with_progress(STATUS, job(str(tmp_path / "store")))
    assert found.last_checkpoint == "run-1/reinforcement/000000000120.001"


def test_the_results_of_a_tournament_have_an_id_of_their_own(tmp_path: Path) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "store")))
    (tmp_path / "stage").mkdir()
    (tmp_path / "stage" / "games.json").write_text("{}")
    storage.save("night_1/leaderboard", tmp_path / "stage", number=7)
    found = with_progress(STATUS, job(str(tmp_path / "store"), **{RESULTS_NOTE: "night_1"}))
    assert found.last_checkpoint == "night_1/leaderboard/000000000007.001"


def test_an_address_that_may_have_a_password_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:se/cret@host")
    problem = with_progress(STATUS, None).problems[-1]
    assert problem.startswith("MLflow cannot be read from here (MLFLOW_TRACKING_URI has an @ behind its host")
    assert "cret" not in problem


def test_what_cannot_be_reached_from_here_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    first, mlflow, storage = with_progress(STATUS, job("s3://bucket/runs")).problems
    assert first == "a pod is missing"
    assert "MLflow http://127.0.0.1:9 cannot be read from here" in mlflow
    assert mlflow.endswith("MLFLOW_HTTP_REQUEST_MAX_RETRIES (now 1))"), "the advice is not cut off"
    assert "the storage s3://bucket/runs cannot be read from here" in storage
