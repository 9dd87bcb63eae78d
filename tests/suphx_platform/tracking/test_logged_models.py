"""Models of runs, with a real store: what arrives, also after an outage, and where something is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest
from mlflow.entities import LoggedModel
from mlflow.exceptions import MlflowException

from suphx.selfplay.agents.agent import load_agent
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.tracking import logged_models
from suphx_platform.tracking.model_registry import fetch_model
from suphx_platform.tracking.pyfunc_form import net_digests
from suphx_platform.tracking.tracking import EVALUATION, TrackedData, TrackingStore
from tests.selfplay.small_policy_set import save_random

WALLS = TrackedData(name="walls", digest="d1", source="suphx:walls", profile={"walls": 2}, columns={"wall": "long"})
METRICS = {"difference": -0.2}


def files(folder: Path) -> Mapping[str, Path]:
    return {path.name: path for path in folder.glob("*.safetensors")}


def models(store: TrackingStore) -> list[LoggedModel]:
    return list(store.client.search_logged_models([store.experiment_id()]))


def code_of(runs: Path, model: LoggedModel) -> list[str]:
    return sorted(path.name for path in (runs / "artifacts" / "models" / model.model_id).rglob("*.whl"))


def test_a_run_has_a_model_for_each_checkpoint_with_its_figures_and_the_last_one_is_registered(
    runs: Path, tmp_path: Path
) -> None:
    early, last = save_random(tmp_path / "early", seed=1), save_random(tmp_path / "last", seed=2)
    store = TrackingStore(runs)
    with closing(store), store.start("run", key="run") as run:
        with run.start("reinforcement", key="run/reinforcement/77") as stage:
            stage.log_dataset(WALLS, EVALUATION)
            checkpoint = stage.log_model("reinforcement-10", files(early), step=10, has_code=False)
            stage.log_metrics({"start_difference": 0.1}, step=10, model=checkpoint)
            model = stage.log_model("reinforcement", files(last), step=20)
            stage.log_metrics(METRICS, model=model)
        assert run.log_model("reinforcement", files(last), step=20) == model
        run.publish(model, "mahjong")
        run.publish(model, "mahjong")
    found = {each.name: each for each in models(store)}
    assert {name: each.status for name, each in found.items()} == dict.fromkeys(
        ["reinforcement", "reinforcement-10"], "READY"
    )
    result, first = found["reinforcement"], found["reinforcement-10"]
    for each, figure, step in ((first, ("start_difference", 0.1, 10), "10"), (result, ("difference", -0.2, 0), "20")):
        (metric,) = each.metrics or []
        assert (metric.key, metric.value, metric.step) == figure
        assert (metric.dataset_name, metric.dataset_digest) == ("walls", "d1")
        assert (each.source_run_id, each.params["step"]) == (run.run_id, step)
    assert (len(code_of(runs, result)), code_of(runs, first)) == (1, [])
    for tracker in (run, stage):
        outputs = store.client.get_run(tracker.run_id).outputs
        assert outputs is not None
        steps = {output.model_id: output.step for output in outputs.model_outputs}
        assert steps == {first.model_id: 10, result.model_id: 20} if tracker is stage else steps[result.model_id] == 20
    assert [point.value for point in store.client.get_metric_history(stage.run_id, "difference")] == [-0.2]
    (version,) = store.client.search_model_versions("name = 'mahjong'")
    assert (version.run_id, version.source) == (run.run_id, result.artifact_location)
    address = store.client.get_run(run.run_id).data.tags["suphx.model"]
    assert address == f"models:/{result.model_id}"
    for number, name in enumerate((address, "models:/mahjong/1")):
        place = AgentSource(store).fetch(name, tmp_path / f"fetched-{number}", "riichi")
        assert net_digests(Path(place)) == net_digests(last)
        assert load_agent(place).name == place
    assert not list(runs.rglob(".mlflow-queue"))
    assert store.delete("run") == 2
    assert [each.name for each in models(store)] == ["reinforcement"], "it has a registered version"


def test_nets_of_a_run_that_were_replaced_in_mlflow_are_not_loaded(runs: Path, tmp_path: Path) -> None:
    store = TrackingStore(runs)
    with closing(store), store.start("run", key="run") as run:
        run.log_model("last", files(save_random(tmp_path / "nets")))
    (model,) = models(store)
    (kept,) = (runs / "artifacts").rglob("discard.safetensors")
    kept.write_bytes(b"other nets")
    with pytest.raises(ValueError, match=r"not those that were registered: discard.safetensors has the SHA-256"):
        fetch_model(store, f"models:/{model.model_id}", tmp_path / "fetched")


RUN_WITHOUT_MLFLOW = """
import sys, time
from contextlib import contextmanager
from pathlib import Path
from suphx_platform.tracking.mlflow_client import USUAL, TrackingError
from suphx_platform.tracking.tracking import TrackingStore

@contextmanager
def nobody_answers(self, patience=USUAL):
    raise TrackingError("nobody answers")
    yield

store = TrackingStore(Path(sys.argv[1]))
run = store.start("run", key="run")
run.flush()
TrackingStore.call = nobody_answers
model = run.log_model("last", {path.name: path for path in Path(sys.argv[2]).glob("*.safetensors")}, step=3)
run.log_metrics({"difference": -0.2}, step=3, model=model)
run.publish(model)
print("ready", flush=True)
time.sleep(600)
"""


def test_a_model_arrives_as_it_was_although_mlflow_was_away_and_the_process_was_killed(
    runs: Path, tmp_path: Path
) -> None:
    nets = save_random(tmp_path / "nets")
    digests = net_digests(nets)
    command = [sys.executable, "-c", RUN_WITHOUT_MLFLOW, str(runs), str(nets)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    save_random(nets, seed=9)  # training goes on
    store = TrackingStore(runs)
    store.send_left("run")
    (found,) = models(store)
    assert (found.status, found.name) == ("READY", "last")
    assert [(metric.key, metric.value) for metric in found.metrics or []] == [("difference", -0.2)]
    assert json.loads(found.tags["suphx.nets"]) == digests
    stored = next((runs / "artifacts").rglob("discard.safetensors"))
    assert net_digests(stored.parent) == digests
    assert not (runs / "run").exists(), "nothing is left in the queue"


def test_figures_arrive_although_mlflow_refuses_the_model(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*arguments: Any, **more: Any) -> NoReturn:
        raise MlflowException("no models here", error_code=3)

    monkeypatch.setattr(logged_models, "make_model", refuse)
    store = TrackingStore(runs)
    with closing(store), store.start("run", key="run") as run:
        model = run.log_model("last", files(save_random(tmp_path / "nets")))
        run.log_metrics(METRICS, model=model)
        run.publish(model)
    assert store.client.get_run(run.run_id).data.metrics["difference"] == -0.2
    assert models(store) == []
    assert "no models here" in caplog.text
    monkeypatch.undo()
    assert TrackingStore(runs).send_refused("run") == (3, 0), "suphx runs send"
    assert [each.status for each in models(store)] == ["READY"]
