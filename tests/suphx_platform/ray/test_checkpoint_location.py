"""Apart from the other tests of workers: Ray must be started after the keys of the bucket are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.ray.data_parallel import DataParallelConfig, checkpoint_location, train_on_workers
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_platform.storage.s3_server import S3Server
from tests.training.played_games import SHORT, job


def test_without_a_storage_checkpoints_are_in_the_stages_folder(tmp_path: Path) -> None:
    assert checkpoint_location(StorageConfig(), "run-1/discard", tmp_path).path == str(tmp_path)


def test_with_a_folder_as_storage_they_are_under_their_name(tmp_path: Path) -> None:
    location = checkpoint_location(StorageConfig(address=str(tmp_path)), "run-1/discard", tmp_path / "other")
    assert location.path == str(tmp_path / "run-1" / "discard")


@pytest.mark.slow
@pytest.mark.ray
def test_checkpoints_go_to_a_bucket_and_stay_until_the_storage_has_the_result(server: S3Server, tmp_path: Path) -> None:
    server.client().create_bucket(Bucket="checkpoints")
    client = server.client()
    seen: set[str] = set()

    def look(report: Mapping[str, Any]) -> None:
        seen.update(entry["Key"] for entry in client.list_objects_v2(Bucket="checkpoints").get("Contents", []))

    training = job(replace(SHORT, report_every=5, save_seconds=1000))
    storage = StorageConfig(address="s3://checkpoints/runs")
    location = checkpoint_location(storage, "run-1/discard", tmp_path)
    metrics = train_on_workers(training, tmp_path / "out", DataParallelConfig(num_workers=2), location, report=look)
    assert metrics["history"][-1]["step"] == 60
    assert any(key.startswith("runs/run-1/discard/workers/checkpoint_") for key in seen)
    place = {"Bucket": "checkpoints", "Prefix": "runs/run-1/discard/workers/checkpoint"}
    assert client.list_objects_v2(**place)["Contents"]
    assert location.has_checkpoints()
    Storage(storage).delete_under_way("run-1/discard")
    assert not location.has_checkpoints()
    assert "Contents" not in client.list_objects_v2(**place)
