"""A storage on a disk: a power cut leaves a version, or a folder that is fetched, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.disk_faults import Call, trace_disk

NAME = "run-1/supervised/discard"


def fill(folder: Path) -> Path:
    """Return a folder with files at two depths."""
    (folder / "nets").mkdir(parents=True)
    for name in ("state", "nets/policy"):
        (folder / name).write_text(f"the {name}")
    return folder


def test_the_disk_has_every_file_of_a_version_before_its_manifest_and_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage")))
    calls = trace_disk(monkeypatch)
    version = storage.save(NAME, fill(tmp_path / "a"), number=1)
    manifest = calls.index(Call("link", tmp_path / "storage" / version.path / MANIFEST))
    assert calls[manifest - 1].name == "fsync", "the manifest's content"
    for name in version.files:
        file = tmp_path / "storage" / version.key(name)
        renamed = calls.index(Call("rename", file))
        synced = [call.path for call in calls[:renamed] if call.name == "fsync" and call.path.parent == file.parent]
        assert any(path.name.startswith(f".{file.name}.") for path in synced), "the content"
        assert ("fsync", file.parent) in calls[renamed:manifest], "the name"
    assert ("fsync", tmp_path / "storage" / version.path) in calls[manifest:]
    assert version.files


def test_the_disk_has_a_folder_that_was_fetched_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(StorageConfig(address=str(tmp_path / "storage")))
    version = storage.save(NAME, fill(tmp_path / "a"), number=1)
    calls = trace_disk(monkeypatch)
    storage.load(version, tmp_path / "b")
    renamed = calls.index(Call("rename", tmp_path / "b"))
    synced = {call.path.name for call in calls[:renamed] if call.name == "fsync"}
    assert synced >= {Path(name).name for name in version.files}
    assert ("fsync", tmp_path) in calls[renamed:]
