"""Against a real MLflow server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
from tests.suphx_platform.tracking.mlflow_outage import outage
from tests.suphx_platform.tracking.mlflow_server import START_SECONDS, mlflow_server


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


LOGS_POINTS = """
import sys, time
from contextlib import closing
from pathlib import Path
from suphx_platform.tracking.tracking import TrackingStore

first, last = int(sys.argv[2]), int(sys.argv[3])
with closing(TrackingStore(Path(sys.argv[1]))) as store, store.start("a", key="one") as run:
    stage = run.start("stage", key="one/stage")
    for step in range(first, last):
        stage.log_metrics({"loss": 1000.0 - step}, step=step)
        print(step, flush=True)
        time.sleep(0.02)
"""


@contextmanager
def logging_points(runs: Path, first: int, last: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that logs these points and says each; it is killed at the end of the block if it still runs."""
    command = [sys.executable, "-c", LOGS_POINTS, str(runs), str(first), str(last)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[bytes], step: int) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) == step:
            return
    pytest.fail(f"the process ended before step {step}")


@pytest.mark.slow
def test_a_process_killed_during_an_outage_loses_no_point_and_the_next_starts_without_a_server(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "2")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    runs = tmp_path / "runs"
    with faulty_proxy(int(address.rpartition(":")[2])) as proxy:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{proxy.port}")
        with logging_points(runs, 0, 10_000) as first:
            read_until(first, 30)
            proxy.is_busy.set()
            read_until(first, 99)
            first.kill()
            assert first.stdout is not None
            told = [int(line) for line in first.stdout]
        start = (told or [99])[-1] + 1
        with logging_points(runs, start, start + 50) as second:
            read_until(second, start + 10)
            proxy.is_busy.clear()
            read_until(second, start + 49)
            assert second.wait(START_SECONDS) == 0
        store = TrackingStore(runs)
        stage = store.find("one/stage")
        assert stage is not None
        points = store.client.get_metric_history(stage.info.run_id, "loss")
        run = store.find("one")
        assert run is not None
        assert run.info.status == "FINISHED"
    steps = [point.step for point in points]
    assert sorted(set(steps)) == list(range(start + 50))
    assert len(steps) <= len(set(steps)) + 1, "the point that the kill cut off between the log and its word"
    assert [point.value for point in points] == [1000.0 - step for step in steps]
    assert not (runs / "one").exists()


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
