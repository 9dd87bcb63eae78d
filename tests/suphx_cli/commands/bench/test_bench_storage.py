from __future__ import annotations

from pathlib import Path

import pytest

from suphx_platform.bench.storage import bench_storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.suphx_cli.commands.bench.bench_command import bench


def test_a_training_state_is_saved_loaded_and_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "storage"
    options = ["--address", str(place), "--size", "tiny", "--encoder", "mini", "--rounds", "2"]
    found = bench(capsys, "storage", *options)
    assert found["save_mib_per_second"] > 0
    assert found["load_mib_per_second"] > 0
    assert found["mib"] > 1
    assert (found["peer"], found["ratio"]) == (None, None)
    assert not [path for path in place.rglob("*") if path.is_file()]


def test_a_peer_that_cannot_copy_there_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    config = StorageConfig(address=str(tmp_path / "storage"))
    with pytest.raises(ValueError, match="aws copies to buckets only"):
        bench_storage(config, size="tiny", encoder="mini", rounds=1, peer="aws", say=print)
    assert not (tmp_path / "storage").exists()
