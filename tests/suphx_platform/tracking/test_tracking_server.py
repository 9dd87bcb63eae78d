"""Against a real MLflow server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from suphx_pipelines.engine.stage import Stage
from suphx_pipelines.runs.runner import Runner
from suphx_platform.console.console import Console
from suphx_platform.tracking.model_registry import ModelRegistry, RegistryConfig, fetch_model
from suphx_platform.tracking.promotion import Promotion
from suphx_platform.tracking.tracking import TrackingStore
from tests.free_port import free_port
from tests.suphx_pipelines.runs.small_run import Context, SmallRecipe
from tests.suphx_platform.storage.faulty_proxy import faulty_proxy

START_SECONDS = 180


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server, which keeps artifacts itself, as a chart's does."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    places = ["--backend-store-uri", f"sqlite:///{tmp_path / 'server.db'}", "--artifacts-destination", str(tmp_path)]
    options = [*places, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *options], stdout=log, stderr=log, env=os.environ | quiet
        )
    try:
        wait_for(f"{url}/health", process)
        yield url
    finally:
        process.terminate()
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit and process.poll() is None:
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.2)
    pytest.fail("the server did not start")


@pytest.mark.slow
def test_runs_and_models_are_the_servers_whatever_the_folder(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    nets = tmp_path / "nets"
    nets.mkdir()
    (nets / "discard.safetensors").write_bytes(b"weights")
    store = TrackingStore(tmp_path / "here")
    assert store.uri == address
    tracker = store.start("night", key="night")
    tracker.log_artifact(nets / "discard.safetensors")
    registry = ModelRegistry(store, RegistryConfig())
    assert registry.champion() is None
    assert registry.promote(nets, tracker, Promotion(digest="a", replaces=None, night="1")) == "1"
    there = TrackingStore(tmp_path / "there")
    assert there.start("night", key="night").run_id == tracker.run_id
    assert fetch_model(there, "models:/suphx@champion", tmp_path / "fetched") == "1"
    assert (tmp_path / "fetched" / "discard.safetensors").read_bytes() == b"weights"
    assert not (tmp_path / "here").joinpath("mlflow.db").exists()


@pytest.mark.slow
def test_a_run_goes_on_without_its_server_and_tells_it_all_later(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "2")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with faulty_proxy(int(address.rpartition(":")[2])) as proxy:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{proxy.port}")

        def play(context: Context) -> dict[str, float]:
            proxy.is_open.clear()
            context.tracker.log_metrics({"loss": 2.0}, step=1)
            return {"count": 1.0}

        def learn(context: Context) -> dict[str, float]:
            context.tracker.log_metrics({"loss": 1.0}, step=2)
            (context.folder / "curve.json").write_text("[]")
            proxy.is_open.set()
            return {"total": 2.0}

        stages = (Stage(name="play", run=play), Stage(name="learn", run=learn, artifacts=("*.json",)))
        result = Runner(SmallRecipe(), stages, runs=tmp_path / "runs", records=None, console=Console()).run()
        assert {stage.status for stage in result.stages.values()} == {"finished"}
        store = TrackingStore(tmp_path / "runs")
        figures = store.newest_metrics(result.run_id)
        assert {"loss": 1.0, "count": 1.0, "total": 2.0}.items() <= figures.items()
        runs = store.client.search_runs(["1"])
    assert {run.info.run_name: run.info.status for run in runs} == {
        result.run_id: "FINISHED",
        "play": "FINISHED",
        "learn": "FINISHED",
    }
    assert list(tmp_path.rglob("artifacts/curve.json"))
