from __future__ import annotations

from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from suphx_platform.tracking.mlflow_store import MlflowStore


def test_all_runs_are_found_however_many_one_answer_has(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MlflowStore(runs)
    ids = {key: store.begin(key, key=key, tags={}, params={}) for key in ("a-1", "a-1/stage", "a-2", "b-1", "a-3")}
    own = {key: run_id for key, run_id in ids.items() if "/" not in key}
    search = store.client.search_runs
    monkeypatch.setattr(
        store.client, "search_runs", lambda *given, **named: search(*given, **named | {"max_results": 2})
    )
    assert sorted(store.names()) == sorted(own)
    assert store.running() == own
    assert store.ids_of("a-") == {key: own[key] for key in ("a-1", "a-2", "a-3")}
    store.kill("a-2")
    assert store.running().keys() == own.keys() - {"a-2"}


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListObjectsV2"),
        EndpointConnectionError(endpoint_url="http://127.0.0.1:9"),
        ConnectionResetError("reset"),
    ],
)
def test_files_of_a_bucket_that_refuses_cannot_be_fetched(
    error: Exception, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> str:
        raise error

    monkeypatch.setattr("mlflow.artifacts.download_artifacts", refuse)
    with pytest.raises(OSError, match=r"s3://bucket/nets cannot be fetched from sqlite:.*") as told:
        MlflowStore(runs).download("s3://bucket/nets", tmp_path / "nets")
    assert str(error) in str(told.value)
    assert not (tmp_path / "nets").exists()


def test_a_fault_of_our_own_is_not_taken_for_one_of_mlflow(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> str:
        raise KeyError("a mistake")

    monkeypatch.setattr("mlflow.artifacts.download_artifacts", fail)
    with pytest.raises(KeyError, match="a mistake"):
        MlflowStore(runs).download("s3://bucket/nets", tmp_path / "nets")
