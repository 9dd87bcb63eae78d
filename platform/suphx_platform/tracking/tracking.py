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
from typing import TYPE_CHECKING

from suphx_platform.tracking.client.mlflow_call import (
    FILES,
    FIRST,
    USUAL,
    Patience,
    TrackingError,
    mlflow_call,
    patient,
    quiet_environment,
    server_address,
)
from suphx_platform.tracking.client.tracking_experiment import find_experiment, make_experiment, remove_empty_default
from suphx_platform.tracking.same_settings import check_same_settings
from suphx_platform.tracking.tracking_calls import TrackingCalls, now_milliseconds
from suphx_platform.tracking.tracking_outbox import Outbox

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

KEY_TAG = "suphx.key"
_QUEUE = ".mlflow-queue"
"""In the run's folder: what MLflow has not got yet."""
MAX_VALUE_LENGTH, MAX_TAG_LENGTH = 6000, 8000  # MLflow's own limits of the texts of parameters and tags
_MAX_PARAMS = 100  # and of one batch of parameters
_MAX_DIGEST_LENGTH = 36
_PAGE = 1000  # runs of one answer
NOTE_TAG = "mlflow.note.content"


class Tracker:
    """One run in the store: a pipeline, or a stage nested in it. Its calls return at once; the outbox makes them later.

    Usage::

        store = TrackingStore(Path("runs"))
        with closing(store), store.start("laptop-1f2e", key="laptop-1f2e") as tracker:
            with tracker.start("report", key="laptop-1f2e/report/77aa", params={"seed": 1}) as stage:
                stage.log_metrics({"train_loss": 1.9}, step=100)
                stage.log_artifact(Path("report.html"))
    """

    def __init__(self, store: TrackingStore, outbox: Outbox, key: str, parent: Tracker | None = None) -> None:
        self.store = store
        self.parent = parent
        """The run that this one is nested in."""
        self._outbox = outbox
        self._key = key
        self._sitting: int | None = None

    @property
    def run_id(self) -> str:
        """MLflow's id of the run, which may have to be waited for; TrackingError if MLflow does not give one now."""
        if self._key not in self.store.run_ids:
            self._outbox.flush(files=False)
        if self._key not in self.store.run_ids:
            raise TrackingError(f"MLflow has refused the run {self._key}: its warning says why")
        return self.store.run_ids[self._key]

    def start(
        self, name: str, *, key: str, tags: Mapping[str, str] | None = None, params: Mapping[str, object] | None = None
    ) -> Tracker:
        """Start, or continue, the run with this ``key`` nested in this one; ``params`` as for TrackingStore."""
        begin(self._outbox, name, key=key, tags=tags, params=params, parent=self._key)
        return Tracker(self.store, self._outbox, key, parent=self)

    def resume(self) -> None:
        """Note that the work goes on from a saved state, and so repeats steps.

        From now on, points of ``log_metrics`` are left out if MLflow has the metric at this step or a later one already
        from before. Numbers without a step are always logged.
        """
        self._sitting = time.time_ns()

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Log numbers at ``step``; without one, at 0 as numbers that belong to no curve."""
        now = now_milliseconds()
        points = [[name, float(value), now, int(step or 0)] for name, value in metrics.items()]
        sitting = {} if step is None or self._sitting is None else {"sitting": self._sitting}
        curve = {} if step is None else {"is_curve": True}
        self._put("metrics", metrics=points, **sitting, **curve)

    def log_artifact(self, path: Path) -> None:
        """Copy a file, or a folder under its own name, to the run's artifacts, as it is when it is sent.

        FileNotFoundError if it is missing.
        """
        path.stat()
        self._put("artifact", path=str(path.resolve()))

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Set tags, which replace those of the same name."""
        self._put("tags", tags={name: text[:MAX_TAG_LENGTH] for name, text in tags.items()})

    def describe(self, text: str) -> None:
        """Replace the description, in Markdown, on the run's page."""
        self.set_tags({NOTE_TAG: text})

    def log_dataset(self, name: str, digest: str, *, source: str, profile: Mapping[str, int]) -> None:
        """Name the data that the run learns from: where it comes from, and counts such as ``{"games": 100}``."""
        where, counts = json.dumps({"uri": source}), json.dumps(dict(profile))
        self._put("dataset", name=name, digest=digest[:_MAX_DIGEST_LENGTH], source=where, profile=counts)

    def flush(self) -> None:
        """Wait until everything is sent; TrackingError if MLflow does not take it now."""
        self._outbox.flush()

    def figures(self) -> dict[str, float]:
        """Return ``tracking_waiting``, messages that wait, and ``tracking_outage_seconds``."""
        return self._outbox.figures()

    def __enter__(self) -> Tracker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the run: FINISHED, KILLED after Ctrl-C or SIGTERM, FAILED after any other error."""
        failed = "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
        self._put("end", status="FINISHED" if error is None else failed, time=now_milliseconds())

    def _put(self, what: str, **values: object) -> None:
        self._outbox.put({"do": what, "key": self._key, **values})


def begin(
    outbox: Outbox,
    name: str,
    *,
    key: str,
    tags: Mapping[str, str] | None,
    params: Mapping[str, object] | None,
    parent: str | None = None,
) -> None:
    """Have a run started, or continued, when MLflow takes the call."""
    texts = {parameter: str(value) for parameter, value in (params or {}).items()}
    run = {"name": name, "tags": dict(tags or {}), "params": texts, "parent": parent}
    outbox.put({"do": "begin", "key": key, **run})


class TrackingStore:
    """The MLflow store of a folder of runs: ``mlflow.db`` and ``artifacts/``, both created at the first start.

    If MLFLOW_TRACKING_URI is set, it is the store of that server instead.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._server = server_address()
        self._client: MlflowClient | None = None
        self._experiment: str | None = None
        self._calls = TrackingCalls(self)
        self._outboxes: list[Outbox] = []

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
            self._client = quiet_client(self.uri)
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
        TrackingError if MLflow does not answer, unless the run has messages that wait for it.
        """
        is_there = self.check(key)
        if is_there:
            self.run_ids[key] = self.begin(name, key=key, tags=tags or {}, params=params or {})
        outbox = Outbox(self._queue(key), send=self._calls.send)
        self._outboxes.append(outbox)
        if outbox.is_continued or not is_there:  # after what an earlier start has left, which may end the run
            begin(outbox, name, key=key, tags=tags, params=params)
        return Tracker(self, outbox, key)

    def check(self, key: str) -> bool:
        """Return whether MLflow answers. TrackingError if not, unless the run with this key has messages that wait."""
        try:
            self.reach()
        except TrackingError:
            if not self._queue(key).is_dir():
                raise
            return False
        return True

    def send_left(self, key: str) -> None:
        """Send what a killed process has left for the run with this ``key``, as far as MLflow takes it."""
        if self._queue(key).is_dir():
            Outbox(self._queue(key), send=self._calls.send).close()

    def _queue(self, key: str) -> Path:
        return self._folder / key / _QUEUE

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
        while self._outboxes:
            self._outboxes.pop().close()

    @property
    def run_ids(self) -> dict[str, str]:
        """MLflow's ids of the runs that were started, by their keys."""
        return self._calls.run_ids

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

    def kill(self, key: str, description: str | None = None) -> None:
        """Mark the run with this ``key``, and those of its stages that are running, as killed; describe the run."""
        run = self.find(key)
        for each in () if run is None else (*self._nested(run), run):
            if each.info.status == "RUNNING":
                with self.call():
                    self.client.set_terminated(each.info.run_id, "KILLED")
        if run is not None and description is not None:
            with self.call():
                self.client.set_tag(run.info.run_id, NOTE_TAG, description[:MAX_TAG_LENGTH])

    def names(self) -> list[str]:
        """Return the names of up to 1,000 runs, the newest first, without their stages."""
        with self.call(FIRST):
            runs = self.client.search_runs([self.experiment_id()], max_results=1000)
        keys = [run.data.tags.get(KEY_TAG, "") for run in runs]
        return [key for key in keys if key and "/" not in key]

    def ids_of(self, prefix: str) -> dict[str, str]:
        """Return key -> MLflow's id of the runs whose key begins with ``prefix``, without their stages."""
        ids: dict[str, str] = {}
        token: str | None = None
        while token != "":
            with self.call(FIRST):
                mine = f"tags.`{KEY_TAG}` LIKE '{prefix}%'"
                found = self.client.search_runs([self.experiment_id()], mine, max_results=_PAGE, page_token=token)
            ids |= {run.data.tags[KEY_TAG]: run.info.run_id for run in found}
            token = found.token or ""
        return {key: run_id for key, run_id in ids.items() if key.startswith(prefix) and "/" not in key}

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


def quiet_client(uri: str) -> MlflowClient:
    """Return a client of MLflow that sends no telemetry and prints nothing by itself."""
    os.environ.update(quiet_environment())  # before the import, in which MLflow decides on telemetry
    from mlflow import MlflowClient

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return MlflowClient(tracking_uri=uri)
