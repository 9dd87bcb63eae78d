"""Against a real MLflow server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.runs.stage import Stage
from suphx_platform.console.console import Console
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig, fetch_model
from suphx_platform.tracking.tracking import TrackingStore
from suphx_platform.tracking.tracking_ui import page_address
from tests.suphx_pipelines.runs.small_run import STAGES, Context, SmallRecipe
from tests.suphx_platform.storage.faulty_proxy import faulty_proxy
from tests.suphx_platform.tracking.mlflow_outage import RUN, outage
from tests.suphx_platform.tracking.mlflow_server import mlflow_server


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with mlflow_server(tmp_path) as url:
        yield url


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
    files = {"discard.safetensors": nets / "discard.safetensors"}
    model = tracker.log_model("last", files, step=7)
    tracker.log_metrics({"difference": -0.2}, step=7, model=model)
    tracker.publish(model, "mahjong")
    tracker.publish(model, "mahjong")
    store.close()
    (version,) = store.client.search_model_versions("name = 'mahjong'")
    (logged,) = [each for each in store.client.search_logged_models([store.experiment_id()]) if each.name == "last"]
    assert (logged.status, version.source) == ("READY", logged.artifact_location)
    assert [(metric.key, metric.step) for metric in logged.metrics or []] == [("difference", 7)]
    there = TrackingStore(tmp_path / "there")
    assert fetch_model(there, f"models:/{logged.model_id}", tmp_path / "last") == logged.model_id
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
        summary = RunSummary.read(result.folder)
        assert summary is not None
        assert summary.tracking_page == page_address(store, store.uri, result.run_id)
        runs = store.client.search_runs(["1"])
    assert {run.info.run_name: run.info.status for run in runs} == {
        result.run_id: "FINISHED",
        "play": "FINISHED",
        "learn": "FINISHED",
    }
    assert list(tmp_path.rglob("artifacts/curve.json"))


@pytest.mark.slow
def test_a_run_waits_for_a_server_that_is_away_when_it_starts(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(max_wait_hours: float) -> RunResult:
        runner = Runner(
            SmallRecipe(), STAGES, runs=tmp_path / "runs", records=None, console=console, max_wait_hours=max_wait_hours
        )
        return runner.run()

    class ProxyOpener(Console):
        def say(self, text: str) -> None:
            super().say(text)
            said.append(text)
            proxy.is_busy.clear()

    said: list[str] = []
    console = ProxyOpener()
    with faulty_proxy(int(address.rpartition(":")[2])) as proxy:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{proxy.port}")
        proxy.is_busy.set()
        with pytest.raises(TrackingError, match="does not answer"):
            run(0.0)
        assert said == []
        assert not (tmp_path / "runs").exists()
        result = run(1.0)
        assert "does not answer" in said[0]
        assert said[0].endswith("trying again for up to 1 h (--wait-hours)")
        assert {stage.status for stage in result.stages.values()} == {"finished"}
        assert TrackingStore(tmp_path / "runs").find(result.run_id) is not None


@pytest.mark.slow
@pytest.mark.parametrize("is_killed", [False, True])
def test_every_point_of_a_training_arrives_once_though_mlflow_is_away_for_a_third_of_it(
    is_killed: bool, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "3")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    found = outage(tmp_path, address, seconds=45, is_killed=is_killed)
    assert found.is_complete, found
    assert found.steps > 20
    assert not (tmp_path / "runs" / RUN).exists(), "nothing is left to be sent"
