"""Runs, parameters, metrics and artifacts in MLflow. No other file has its client made.

One folder of runs has one store: a sqlite database and a folder of artifacts beside it. Where MLFLOW_TRACKING_URI is
set, all folders have that server's store.
"""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from suphx_platform.mlflow_call import (
    FILES,
    FIRST,
    USUAL,
    Patience,
    TrackingError,
    mlflow_call,
    patient,
    quiet_environment,
)
from suphx_platform.same_settings import check_same_settings
from suphx_platform.tracking_outbox import Outbox

if TYPE_CHECKING:
    from mlflow import MlflowClient

EXPERIMENT = "suphx"
KEY_TAG = "suphx.key"
SERVER = "MLFLOW_TRACKING_URI"
MAX_VALUE_LENGTH = 6000  # MLflow's own limit of a parameter's text
_MAX_PARAMS = 100  # and of one batch of parameters


class Tracker:
    """One run in the store: a pipeline, or a stage nested in it. What MLflow does not take now is said later.

    Usage::

        store = TrackingStore(Path("runs"))
        with closing(store), store.start("laptop-1f2e", key="laptop-1f2e") as tracker:
            with tracker.start("report", key="laptop-1f2e/report/77aa", params={"seed": 1}) as stage:
                stage.log_metrics({"train_loss": 1.9}, step=100)
                stage.log_artifact(Path("report.html"))
    """

    def __init__(self, store: TrackingStore, run_id: str | None = None) -> None:
        """``run_id``: None until MLflow has given one."""
        self.store = store
        self._run_id = run_id

    @property
    def run_id(self) -> str:
        """The name that MLflow gave it; TrackingError if it has not and does not answer now."""
        if self._run_id is None:
            self.store.outbox.send()
        return self._known_id

    def start(
        self, name: str, *, key: str, tags: Mapping[str, str] | None = None, params: Mapping[str, object] | None = None
    ) -> Tracker:
        """Start, or continue, the run with this ``key`` nested in this one; ``params`` as for TrackingStore."""
        nested = Tracker(self.store)

        def begin() -> None:
            all_tags = {**(tags or {}), "mlflow.parentRunId": self._known_id}
            nested._run_id = self.store.begin(name, key=key, tags=all_tags, params=params or {})

        self.store.outbox.put(begin)
        return nested

    def log_metrics(self, metrics: Mapping[str, float], step: int = 0) -> None:
        """Log numbers as of ``step``."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        entries = [Metric(name, float(value), now, step) for name, value in metrics.items()]

        def log() -> None:
            with self.store.call():
                self.store.client.log_batch(self._known_id, metrics=entries)

        self.store.outbox.put(log, may_be_lost=True)

    def log_artifact(self, path: Path) -> None:
        """Copy a file, or a folder under its own name, to the run's artifacts; FileNotFoundError if it is not there."""
        path.stat()

        def log() -> None:
            with self.store.call(FILES):
                if path.is_dir():
                    self.store.client.log_artifacts(self._known_id, str(path), path.name)
                elif path.exists():  # it may be gone where this is said later
                    self.store.client.log_artifact(self._known_id, str(path))

        self.store.outbox.put(log)

    def __enter__(self) -> Tracker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the run with the status that tells how the block ended."""
        if error is None:
            self._end("FINISHED")
        else:
            self._end("KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED")

    def _end(self, status: Literal["FINISHED", "FAILED", "KILLED"]) -> None:

        def close() -> None:
            with self.store.call():
                self.store.client.set_terminated(self._known_id, status)

        self.store.outbox.put(close)

    @property
    def _known_id(self) -> str:
        assert self._run_id is not None, "messages are said in order, and the first one gives it"
        return self._run_id


class TrackingStore:
    """The MLflow store of a folder of runs: ``mlflow.db`` and ``artifacts/``, both made at the first start.

    With MLFLOW_TRACKING_URI in the environment it is that of the server instead.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._server = os.environ.get(SERVER, "")
        self._client: MlflowClient | None = None
        self.outbox = Outbox(self.reach)

    @property
    def uri(self) -> str:
        """The address that MLflow's own tools take."""
        return self._server or f"sqlite:///{self._folder / 'mlflow.db'}"

    @property
    def client(self) -> MlflowClient:
        """MLflow's client, connected at the first use; what it is asked belongs into a ``call``."""
        if self._client is None:
            if not self._server:
                _make_runs(self._folder)
            self._client = _quiet_client(self.uri)
        return self._client

    @property
    def is_there(self) -> bool:
        """Tell whether anything can have been kept in it: a server's always."""
        return bool(self._server) or (self._folder / "mlflow.db").is_file()

    def call(self, patience: Patience = USUAL) -> AbstractContextManager[None]:
        """Return a context for questions to the client: TrackingError if MLflow does not answer in time."""
        return mlflow_call(self.uri, patience)

    def reach(self) -> None:
        """See that MLflow answers; TrackingError, soon, if it does not."""
        with self.call(FIRST):
            self.client.search_experiments(max_results=1)

    def start(
        self, name: str, *, key: str, tags: Mapping[str, str] | None = None, params: Mapping[str, object] | None = None
    ) -> Tracker:
        """Start a run called ``name``, or continue the one that was started with the same ``key``.

        ``params`` are logged, long values cut. Raises ValueError, with nothing changed, if that run has others, and
        TrackingError if MLflow does not answer.
        """
        self.reach()
        return Tracker(self, self.begin(name, key=key, tags=tags or {}, params=params or {}))

    def begin(self, name: str, *, key: str, tags: Mapping[str, str], params: Mapping[str, object]) -> str:
        """Do what ``start`` says and return MLflow's id of the run."""
        texts = {parameter: str(value)[:MAX_VALUE_LENGTH] for parameter, value in params.items()}
        with self.call():
            experiment_id = self._experiment_id()
            found = self.client.search_runs([experiment_id], filter_string=f"tags.`{KEY_TAG}` = '{key}'", max_results=1)
            if found:
                check_same_settings(f"the run {name} in MLflow ({self.uri})", found[0].data.params, texts)
                run_id: str = found[0].info.run_id
                self.client.update_run(run_id, status="RUNNING")
            else:
                all_tags = {**tags, KEY_TAG: key}
                run_id = self.client.create_run(experiment_id, run_name=name, tags=all_tags).info.run_id
            self._log_params(run_id, texts)
        return run_id

    def close(self) -> None:
        """Send what waits, if MLflow answers; tell what does not get through."""
        self.outbox.close()

    def _log_params(self, run_id: str, texts: Mapping[str, str]) -> None:
        from mlflow.entities import Param

        entries = [Param(name, text) for name, text in texts.items()]
        for first in range(0, len(entries), _MAX_PARAMS):
            self.client.log_batch(run_id, params=entries[first : first + _MAX_PARAMS])

    def newest_metrics(self, key: str) -> dict[str, float]:
        """Return the newest figures of the run with this ``key`` and of its stages, where several have one the last."""
        with self.call(FIRST):
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
        os.environ.update(quiet_environment())
        from mlflow.artifacts import download_artifacts
        from mlflow.exceptions import MlflowException

        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as space:
            try:
                with patient(FILES):
                    found = download_artifacts(artifact_uri=uri, dst_path=space, tracking_uri=self.uri)
            except (MlflowException, OSError) as error:
                raise OSError(f"{uri} cannot be fetched from {self.uri}: {error}") from error
            shutil.copytree(found, folder, dirs_exist_ok=True)


def _make_runs(folder: Path) -> None:
    """Make the folder of runs; TrackingError that says what to do if that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrackingError(
            f"the folder of runs {folder} cannot be made ({error.strerror}): name another with --runs"
        ) from error


def _quiet_client(uri: str) -> MlflowClient:
    os.environ.update(quiet_environment())  # before the import: MLflow decides on telemetry while it is imported
    from mlflow import MlflowClient

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return MlflowClient(tracking_uri=uri)
