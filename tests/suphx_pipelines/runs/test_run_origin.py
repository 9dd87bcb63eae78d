"""What a run was made of is kept in its folder, in the storage and in MLflow."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from suphx_cli import cli
from suphx_pipelines.runs import run_origin
from suphx_pipelines.runs.stage import Stage
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs.small_run import STAGES, Context, SmallRecipe, make_numbers, small_runner


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


def test_what_a_run_copied_from_a_moving_address_is_its_own(runs: Path, tmp_path: Path) -> None:
    alias = tmp_path / "alias"

    def run(recipe: SmallRecipe) -> tuple[list[str], str]:
        def copy(context: Context) -> dict[str, float]:
            shutil.copy(alias, context.folder / "copy")
            return make_numbers(context)

        numbers, powers, total = STAGES
        stages = (replace(numbers, run=copy, reads_newest=lambda _: True), powers, total)
        result = small_runner(runs, recipe, stages=stages).run()
        return [stage.status for stage in result.stages.values()], (result.folder / "numbers" / "copy").read_text()

    alias.write_text("champion 1")
    assert run(SmallRecipe()) == (["finished"] * 3, "champion 1")
    alias.write_text("champion 2")
    assert run(SmallRecipe()) == (["kept"] * 3, "champion 1")
    assert run(SmallRecipe(name="renamed")) == (["finished"] * 3, "champion 2")


SECRET = "planted-0451"
WITH_SECRET = f"me:{SECRET}@"


def files_with_the_secret(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.fixture
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put secrets into the environment; nothing answers at the address."""
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://{WITH_SECRET}127.0.0.1:9")


@pytest.mark.usefixtures("_planted")
def test_a_run_leaves_no_secret_in_its_folder_in_mlflow_or_on_the_screen(
    runs: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["suphx", "run", "small", "--agent", f"http://{WITH_SECRET}host"])

    def fail(context: Context) -> dict[str, float]:
        context.warn(f"http://{WITH_SECRET}host is slow")
        context.tracker.log_metrics({"a": 1.0})
        Storage(StorageConfig(address="s3://bucket/x", max_attempts=1)).newest_path("a")
        return {}

    runner = small_runner(runs, stages=[Stage(name="fail", run=fail)])
    with pytest.raises(OSError, match="no answer") as caught:
        runner.run()
    printed = capfd.readouterr()
    assert "http://host is slow" in printed.err
    assert SECRET not in printed.out + printed.err + caplog.text + str(caught.value)
    assert (runner.folder / "run.json").is_file()
    assert files_with_the_secret(runs) == []


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (["run", "laptop"], "storage.endpoint_url"),
        (["run", "laptop"], "storage.address"),
        (["tournament", "nightly"], "pool.newest_from"),
        (["tournament", "nightly"], "decision.opponent"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"], ["--debug"]])
def test_a_recipe_with_a_password_is_refused_without_naming_it(
    command: list[str], key: str, options: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    setting = f"{key}=s3://{WITH_SECRET}bucket"
    assert cli.main([*command, "--runs", str(runs), "--set", setting, *options]) == 1
    printed = capfd.readouterr()
    assert "contains a user or a password" in printed.err
    assert SECRET not in printed.out + printed.err
    assert not runs.exists()


def test_the_password_of_mlflows_address_is_moved_to_its_own_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{closed.getsockname()[1]}"
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://me%40x:{SECRET}%2F1@{host}")
        monkeypatch.delenv("MLFLOW_TRACKING_USERNAME", raising=False)
        monkeypatch.delenv("MLFLOW_TRACKING_PASSWORD", raising=False)
        store = TrackingStore(tmp_path)
        assert store.uri == os.environ["MLFLOW_TRACKING_URI"] == f"http://{host}"
        assert os.environ["MLFLOW_TRACKING_USERNAME"] == "me@x"
        assert os.environ["MLFLOW_TRACKING_PASSWORD"] == f"{SECRET}/1"
        with pytest.raises(OSError, match="connection refused") as caught:
            store.reach()
    assert SECRET not in str(caught.value)
