"""Runs, parameters, metrics and artifacts in MLflow. This file creates the only MLflow client.

A folder of runs has one store: a sqlite database and a folder of artifacts beside it. If MLFLOW_TRACKING_URI is set,
all folders use that server instead.
"""

from __future__ import annotations

import getpass
import json
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

from suphx_platform.tracking.mlflow_call import (
    FILES,
    FIRST,
    USUAL,
    Patience,
    TrackingError,
    mlflow_call,
    patient,
    quiet_environment,
)
from suphx_platform.tracking.same_settings import check_same_settings
from suphx_platform.tracking.tracking_experiment import find_experiment, make_experiment, remove_empty_default
from suphx_platform.tracking.tracking_outbox import Outbox

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

KEY_TAG = "suphx.key"
SERVER = "MLFLOW_TRACKING_URI"
MAX_VALUE_LENGTH, MAX_TAG_LENGTH = 6000, 8000  # MLflow's own limits of the texts of parameters and tags
_MAX_PARAMS = 100  # and of one batch of parameters
_MAX_DIGEST_LENGTH = 36
_NOTE_TAG = "mlflow.note.content"


class Tracker:
    """One run in the store: a pipeline, or a stage nested in it. Calls that MLflow cannot take now are retried later.

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
        """MLflow's id of the run; TrackingError if it has none yet and MLflow does not answer."""
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
        """Log numbers at ``step``."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        entries = [Metric(name, float(value), now, step) for name, value in metrics.items()]

        def log() -> None:
            with self.store.call():
                self.store.client.log_batch(self._known_id, metrics=entries)

        self.store.outbox.put(log, may_be_lost=True)

    def log_artifact(self, path: Path) -> None:
        """Copy a file, or a folder under its own name, to the run's artifacts; FileNotFoundError if it is missing."""
        path.stat()

        def log() -> None:
            with self.store.call(FILES):
                if path.is_dir():
                    self.store.client.log_artifacts(self._known_id, str(path), path.name)
                elif path.exists():  # it may be gone when this is retried
                    self.store.client.log_artifact(self._known_id, str(path))

        self.store.outbox.put(log)

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Set tags, which replace those of the same name."""
        from mlflow.entities import RunTag

        entries = [RunTag(name, text[:MAX_TAG_LENGTH]) for name, text in tags.items()]

        def log() -> None:
            with self.store.call():
                self.store.client.log_batch(self._known_id, tags=entries)

        self.store.outbox.put(log)

    def describe(self, text: str) -> None:
        """Replace the description, in Markdown, on the run's page."""
        self.set_tags({_NOTE_TAG: text})

    def log_dataset(self, name: str, digest: str, *, source: str, profile: Mapping[str, int]) -> None:
        """Name the data that the run learns from: where it comes from, and counts such as ``{"games": 100}``."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        where, counts = json.dumps({"uri": source}), json.dumps(dict(profile))
        dataset = Dataset(name, digest[:_MAX_DIGEST_LENGTH], source_type="local", source=where, profile=counts)
        entry = DatasetInput(dataset, tags=[InputTag("mlflow.data.context", "training")])

        def log() -> None:
            with self.store.call():
                self.store.client.log_inputs(self._known_id, datasets=[entry])

        self.store.outbox.put(log)

    def __enter__(self) -> Tracker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the run: FINISHED, KILLED after Ctrl-C or SIGTERM, FAILED after any other error."""
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
        assert self._run_id is not None, "calls are made in order, and the first one creates the run"
        return self._run_id


class TrackingStore:
    """The MLflow store of a folder of runs: ``mlflow.db`` and ``artifacts/``, both created at the first start.

    If MLFLOW_TRACKING_URI is set, it is the store of that server instead.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._server = os.environ.get(SERVER, "")
        self._client: MlflowClient | None = None
        self._experiment: str | None = None
        self.outbox = Outbox(self.reach)

    @property
    def uri(self) -> str:
        """The address that MLflow's own tools take."""
        return self._server or f"sqlite:///{self._folder / 'mlflow.db'}"

    @property
    def client(self) -> MlflowClient:
        """MLflow's client, connected at the first use. Make its calls inside of ``call``."""
        if self._client is None:
            if not self._server:
                _make_runs(self._folder)
            self._client = _quiet_client(self.uri)
        return self._client

    @property
    def is_there(self) -> bool:
        """Whether the store exists; a server's is taken to."""
        return self.is_server or (self._folder / "mlflow.db").is_file()

    @property
    def is_server(self) -> bool:
        """Whether a server has the runs."""
        return bool(self._server)

    def call(self, patience: Patience = USUAL) -> AbstractContextManager[None]:
        """Return a context for calls of the client: TrackingError if MLflow does not answer in time."""
        return mlflow_call(self.uri, patience)

    def reach(self) -> None:
        """Check that MLflow answers; TrackingError within seconds if it does not."""
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
        """Start or continue a run, as ``start`` does, and return MLflow's id of it."""
        texts = {parameter: str(value)[:MAX_VALUE_LENGTH] for parameter, value in params.items()}
        with self.call():
            experiment_id = self.experiment_id()
            found = self.client.search_runs([experiment_id], filter_string=f"tags.`{KEY_TAG}` = '{key}'", max_results=1)
            if found:
                check_same_settings(f"the run {name} in MLflow ({self.uri})", found[0].data.params, texts)
                run_id: str = found[0].info.run_id
                self.client.update_run(run_id, status="RUNNING")
            else:
                all_tags = {"mlflow.user": _user(), **tags, KEY_TAG: key}
                run_id = self.client.create_run(experiment_id, run_name=name, tags=all_tags).info.run_id
            self._log_params(run_id, texts)
        return run_id

    def close(self) -> None:
        """Send all waiting calls if MLflow answers; warn about those that cannot be sent."""
        self.outbox.close()

    def _log_params(self, run_id: str, texts: Mapping[str, str]) -> None:
        from mlflow.entities import Param

        entries = [Param(name, text) for name, text in texts.items()]
        for first in range(0, len(entries), _MAX_PARAMS):
            self.client.log_batch(run_id, params=entries[first : first + _MAX_PARAMS])

    def find(self, key: str) -> Run | None:
        """Return the run with this ``key``; None if there is none."""
        with self.call(FIRST):
            experiment = find_experiment(self.client)
            if experiment is None:
                return None
            mine = f"tags.`{KEY_TAG}` = '{key}'"
            found = self.client.search_runs([experiment.experiment_id], filter_string=mine, max_results=1)
            return found[0] if found else None

    def running(self) -> dict[str, str]:
        """Return name -> MLflow's id of the runs that MLflow shows as running, without their stages."""
        with self.call(FIRST):
            found = self.client.search_runs([self.experiment_id()], filter_string="attributes.status = 'RUNNING'")
        names = {run.data.tags.get(KEY_TAG, ""): run.info.run_id for run in found}
        return {name: run_id for name, run_id in names.items() if name and "/" not in name}

    def kill(self, key: str) -> None:
        """Mark the run with this ``key``, and those of its stages that are running, as killed."""
        run = self.find(key)
        for each in () if run is None else (*self._nested(run), run):
            if each.info.status == "RUNNING":
                with self.call():
                    self.client.set_terminated(each.info.run_id, "KILLED")

    def names(self) -> list[str]:
        """Return the names of up to 1,000 runs, the newest first, without their stages."""
        with self.call(FIRST):
            runs = self.client.search_runs([self.experiment_id()], max_results=1000)
        keys = [run.data.tags.get(KEY_TAG, "") for run in runs]
        return [key for key in keys if key and "/" not in key]

    def newest_metrics(self, key: str) -> dict[str, float]:
        """Return the newest figures of the run with this ``key`` and of its stages; a later stage's replace earlier."""
        run = self.find(key)
        figures: dict[str, float] = {}
        for each in () if run is None else (run, *self._nested(run)):
            figures |= each.data.metrics
        return figures

    def delete(self, key: str) -> int:
        """Delete the run with this ``key`` and its stages; return how many. `mlflow gc` then frees their space."""
        run = self.find(key)
        if run is None:
            return 0
        every = (*self._nested(run), run)
        with self.call():
            for each in every:
                self.client.delete_run(each.info.run_id)
        return len(every)

    def _nested(self, run: Run) -> list[Run]:
        """Return the stages of a run, the oldest first."""
        mine = f"tags.`mlflow.parentRunId` = '{run.info.run_id}'"
        with self.call(FIRST):
            place = [run.info.experiment_id]
            return list(self.client.search_runs(place, filter_string=mine, order_by=["attributes.start_time"]))

    def experiment_id(self) -> str:
        """Return the id of the experiment of all runs, which is created if it is missing."""
        if self._experiment is None:
            with self.call():
                place = None if self._server else (self._folder / "artifacts").as_uri()
                self._experiment = make_experiment(self.client, place)
                if not self._server:  # others may use that of a server
                    remove_empty_default(self.client)
        return self._experiment

    def make_model(self, name: str, description: str = "") -> None:
        """Create the registered model ``name`` unless it exists."""
        from mlflow.exceptions import MlflowException

        try:
            self.client.create_registered_model(name, description=description)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise

    def download(self, uri: str, folder: Path) -> None:
        """Copy the files below an artifact's address into the new ``folder``; OSError if that fails."""
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
    """Create the folder of runs; TrackingError with what to do if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrackingError(
            f"the folder of runs {folder} cannot be created ({error.strerror}): choose another with --runs"
        ) from error


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return "unknown"


def _quiet_client(uri: str) -> MlflowClient:
    os.environ.update(quiet_environment())  # before the import, in which MLflow decides on telemetry
    from mlflow import MlflowClient

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return MlflowClient(tracking_uri=uri)
