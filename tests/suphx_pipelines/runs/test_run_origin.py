"""What a run was made of is kept in its folder, in the storage and in MLflow."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from suphx_pipelines.runs import run_origin
from suphx_pipelines.runs.run_origin import installed_packages, provenance
from suphx_pipelines.runs.runner import Runner
from suphx_pipelines.runs.stage import Stage
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs.small_run import STAGES, SmallRecipe, small_runner


def test_recipe_and_provenance_are_in_the_folder_the_storage_and_mlflow(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (records := tmp_path / "records").mkdir()
    (records / "game.mjlog").write_bytes(b"a game")
    (records / os.fsdecode(b"\xe3.mjlog")).write_bytes(b"another")  # of a zip file in Shift-JIS
    storage = Storage(StorageConfig(address=str(tmp_path / "storage")))
    runner = small_runner(runs, records=records, storage=tmp_path / "storage")
    result = runner.run()
    content = json.loads((result.folder / "origin" / "provenance.json").read_text())
    assert content["records"] == {
        "game.mjlog": hashlib.sha256(b"a game").hexdigest(),
        "\udce3.mjlog": hashlib.sha256(b"another").hexdigest(),
    }
    assert content["packages"]["mlflow"] == "3.17.2"
    assert content["environment"]["python"].startswith("3.")
    (version,) = storage.versions(f"{runner.run_id}/origin")
    assert sorted(version.files) == ["provenance.json", "recipe.toml"]
    assert storage.read(version, "recipe.toml") == (result.folder / "recipe.toml").read_bytes()
    found = TrackingStore(runs).find(runner.run_id)
    assert found is not None
    names = ("packages_digest", "lock_digest", "records_digest")
    assert [found.data.tags[f"suphx.{name}"] for name in names] == [content[name] for name in names]
    small_runner(runs, records=records, storage=tmp_path / "storage").run()
    assert len(storage.versions(f"{runner.run_id}/origin")) == 1, "nothing has changed"
    monkeypatch.setattr(run_origin, "installed_packages", lambda: {"suphx": "99"})
    small_runner(runs, records=records, storage=tmp_path / "storage").run()
    newest = storage.versions(f"{runner.run_id}/origin")[-1]
    assert json.loads(storage.read(newest, "provenance.json") or b"")["packages"] == {"suphx": "99"}


def test_many_record_files_are_counted_and_have_one_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_origin, "_MAX_FILES", 1)
    content = provenance("run-1", {"a": "1", "b": "2"})
    assert (content["num_record_files"], content["records"]) == (2, None)
    assert content["records_digest"] == provenance("run-2", {"b": "2", "a": "1"})["records_digest"]
    assert "numpy" in installed_packages()


def test_no_stage_has_the_name_of_that_folder(runs: Path) -> None:
    stages = [*STAGES, Stage(name="origin", run=STAGES[0].run)]
    with pytest.raises(ValueError, match="a stage cannot be called origin"):
        Runner(SmallRecipe(), stages, runs=runs, records=None, console=Console())
