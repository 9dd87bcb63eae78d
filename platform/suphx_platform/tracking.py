"""Runs, parameters, metrics and artifacts in MLflow. No other file imports mlflow.

One folder of runs has one store: a sqlite database and a folder of artifacts beside it. Where MLFLOW_TRACKING_URI is
set, all folders have that server's store.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from mlflow import MlflowClient

EXPERIMENT = "suphx"
KEY_TAG = "suphx.key"
MAX_VALUE_LENGTH = 6000  # MLflow's own limit of a parameter's text

EndStatus = Literal["FINISHED", "FAILED", "KILLED"]


class Tracker:
    """One run in the store: a pipeline, or a stage nested in it.

    Usage::

        tracker = TrackingStore(Path("runs")).start("laptop-1f2e", key="laptop-1f2e")
        stage = tracker.start("supervised/discard", key="laptop-1f2e/supervised/discard/77aa")
        stage.log_params({"learning_rate": 0.001})
        stage.log_metrics({"train_loss": 1.9}, step=100)
        stage.log_artifact(Path("report.html"))
        stage.end("FINISHED")
    """

    def __init__(self, store: TrackingStore, run_id: str) -> None:
        self.run_id = run_id
        self.store = store

    def start(self, name: str, *, key: str, tags: Mapping[str, str] | None = None) -> Tracker:
        """Start, or continue, the run with this ``key`` nested in this one."""
        return self.store.start(name, key=key, tags={**(tags or {}), "mlflow.parentRunId": self.run_id})

    def log_params(self, params: Mapping[str, object]) -> None:
        """Log parameters; the same value again is accepted, as after a restart. Long values are cut."""
        from mlflow.entities import Param

        entries = [Param(name, str(value)[:MAX_VALUE_LENGTH]) for name, value in params.items()]
        for first in range(0, len(entries), 100):
            self.store.client.log_batch(self.run_id, params=entries[first : first + 100])

    def log_metrics(self, metrics: Mapping[str, float], step: int = 0) -> None:
        """Log numbers as of ``step``."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        entries = [Metric(name, float(value), now, step) for name, value in metrics.items()]
        self.store.client.log_batch(self.run_id, metrics=entries)

    def log_artifact(self, path: Path) -> None:
        """Copy a file, or a folder under its own name, to the run's artifacts."""
        if path.is_dir():
            self.store.client.log_artifacts(self.run_id, str(path), path.name)
        else:
            self.store.client.log_artifact(self.run_id, str(path))

    def end(self, status: EndStatus) -> None:
        """Close the run."""
        self.store.client.set_terminated(self.run_id, status)


class TrackingStore:
    """The MLflow store of a folder of runs: ``mlflow.db`` and ``artifacts/``, both made at the first start.

    With MLFLOW_TRACKING_URI in the environment it is that of the server instead.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._server = os.environ.get("MLFLOW_TRACKING_URI", "")
        self._client: MlflowClient | None = None

    @property
    def uri(self) -> str:
        """The address that MLflow's own tools take."""
        return self._server or f"sqlite:///{self._folder / 'mlflow.db'}"

    @property
    def client(self) -> MlflowClient:
        """MLflow's client, connected at the first use."""
        if self._client is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._client = _quiet_client(self.uri)
        return self._client

    def start(self, name: str, *, key: str, tags: Mapping[str, str] | None = None) -> Tracker:
        """Start a run called ``name``, or continue the one that was started with the same ``key``."""
        experiment_id = self._experiment_id()
        found = self.client.search_runs([experiment_id], filter_string=f"tags.`{KEY_TAG}` = '{key}'", max_results=1)
        if found:
            run_id = found[0].info.run_id
            self.client.update_run(run_id, status="RUNNING")
        else:
            all_tags = {**(tags or {}), KEY_TAG: key}
            run_id = self.client.create_run(experiment_id, run_name=name, tags=all_tags).info.run_id
        return Tracker(self, run_id)

    def newest_metrics(self, key: str) -> dict[str, float]:
        """Return the newest figures of the run with this ``key`` and of its stages, where several have one the last."""
        experiment = self.client.get_experiment_by_name(EXPERIMENT)
        if experiment is None:
            return {}
        places = [experiment.experiment_id]
        found = self.client.search_runs(places, filter_string=f"tags.`{KEY_TAG}` = '{key}'", max_results=1)
        figures: dict[str, float] = {}
        for run in found:
            nested = f"tags.`mlflow.parentRunId` = '{run.info.run_id}'"
            stages = self.client.search_runs(places, filter_string=nested, order_by=["attributes.start_time"])
            for one in (run, *stages):
                figures |= one.data.metrics
        return figures

    def _experiment_id(self) -> str:
        experiment = self.client.get_experiment_by_name(EXPERIMENT)
        if experiment is not None:
            return experiment.experiment_id
        place = None if self._server else (self._folder / "artifacts").as_uri()
        return self.client.create_experiment(EXPERIMENT, artifact_location=place)

    def make_model(self, name: str) -> None:
        """See that there is a registered model ``name``, whoever makes it."""
        from mlflow.exceptions import MlflowException

        try:
            self.client.create_registered_model(name)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise

    def download(self, uri: str, folder: Path) -> None:
        """Copy the files below an artifact's address into ``folder``, which is made; OSError if they cannot be had."""
        os.environ.update(_quiet_environment())
        from mlflow.artifacts import download_artifacts
        from mlflow.exceptions import MlflowException

        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as space:
            try:
                found = download_artifacts(artifact_uri=uri, dst_path=space, tracking_uri=self.uri)
            except (MlflowException, OSError) as error:
                raise OSError(f"{uri} cannot be fetched from {self.uri}: {error}") from error
            shutil.copytree(found, folder, dirs_exist_ok=True)


@contextmanager
def serve_ui(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run MLflow's user interface over the store of ``folder`` on loopback while the block runs.

    Raises ValueError if the folder has no store.
    """
    store = TrackingStore(folder)
    if not (folder / "mlflow.db").is_file():
        raise ValueError(f"{folder} has no mlflow.db: name the folder of your runs (--runs), or run a recipe first")
    options = ["--backend-store-uri", store.uri, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command = [sys.executable, "-m", "mlflow", "ui", *options]
    # A session of its own: Ctrl-C is for us, the server is then asked to end and does so without tracebacks.
    process = subprocess.Popen(command, env=_quiet_environment(), start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(process.pid, signal.SIGTERM)  # its helpers too
        process.wait()


def _quiet_environment() -> dict[str, str]:
    return {
        **os.environ,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
        "GIT_PYTHON_REFRESH": "quiet",
        "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
        "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # processes for a feature that we do not use
    }


def _quiet_client(uri: str) -> MlflowClient:
    os.environ.update(_quiet_environment())  # before the import: MLflow decides on telemetry while it is imported
    from mlflow import MlflowClient

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return MlflowClient(tracking_uri=uri)
