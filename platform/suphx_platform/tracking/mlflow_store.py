"""The runs of MLflow: its client, the experiment, and calls that find, start, end and delete runs at once.

A folder of runs has one store: a sqlite database and a folder of artifacts beside it. If MLFLOW_TRACKING_URI is set,
all folders use the server, or the store in files, that it names instead.
"""

from __future__ import annotations

import getpass
import json
import os
import shlex
import shutil
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from suphx.credentials import without_credentials
from suphx_platform.tracking.mlflow_client import (
    EXISTS,
    FILES,
    FIRST,
    MISSING,
    QUIET,
    USUAL,
    Patience,
    TrackingError,
    TrackingRefusedError,
    is_of_carrier,
    make_database,
    mlflow_call,
    patient,
    quiet_client,
    server_address,
    without_error,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment, Run

KEY_TAG = "suphx.key"
_VERSIONS_TAG = "mlflow.modelVersions"
"""Of a model: the registered versions that it has become, JSON."""
_PROBE_TAG = "suphx.checked"
NOTE_TAG = "mlflow.note.content"
MAX_VALUE_LENGTH, MAX_TAG_LENGTH = 6000, 8000  # MLflow's own limits of the texts of parameters and tags
_DATABASE = "mlflow.db"
_PAGE = 1000  # runs of one answer
EXPERIMENT = "suphx"
"""Unless MLFLOW_EXPERIMENT_NAME or MLFLOW_EXPERIMENT_ID names another one."""
_NAME, _ID = "MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID"
_KIND_TAG, _KIND = "mlflow.experimentKind", "custom_model_development"
"""Without it, MLflow's pages ask whether this is a generative application or model training."""
PRIMARY_METRIC = "verdict/difference"
VIEW = "suphx-verdicts"
"""Key of a shared view of MLflow's list of runs: with the columns of the verdict, the best agent first."""
_METRIC_KEYS = [f"metrics.`{PRIMARY_METRIC}{suffix}`" for suffix in ("", "_low", "_high")]
_TAGS = {
    f"mlflow.sharedViewState.{VIEW}": json.dumps(
        {"orderByKey": _METRIC_KEYS[0], "orderByAsc": True, "selectedColumns": _METRIC_KEYS}
    ),
    "mlflow.experiment.primaryMetric.name": PRIMARY_METRIC,
    "mlflow.experiment.primaryMetric.greaterIsBetter": "False",
    _KIND_TAG: _KIND,
    NOTE_TAG: """Runs of Suphx: one run for each recipe and its records, with its stages nested in it.

Where to look:

- **Which run made the strongest agent?** The link of `suphx ui` sorts the table by `verdict/difference`: the average
  placement of the agent minus 2.5, that of an agent as strong as its opponent; negative is better.
  `verdict/difference_low` and `_high` are its 95 % interval. Games that decide by points have `verdict/points`, the
  points per game, instead; positive is better.
- **What came out of a run?** Open it: its description begins with the verdict. Under *Artifacts*, `report.html` is the
  report; the SVG files are its pictures.
- **How did it learn?** Open the stages below the run. *Model metrics* of `supervised/…` has loss and accuracy, that of
  `reinforcement` the strength over self-play, entropy and throughput.
- **How do I repeat it?** The description has the command, and `recipe.toml` has all settings.
- **Which agent is the champion?** *Models*, `suphx`, alias `champion`.""",
}
_OWN_TAGS = (_KIND_TAG, NOTE_TAG)
"""Of them, those that somebody else's experiment does not get."""
_SHOWN_SETTINGS = 8


class MlflowStore:
    """The MLflow store of a folder of runs: ``mlflow.db`` and ``artifacts/``, both created at the first start.

    If MLFLOW_TRACKING_URI is set, it is the store that it names instead. Each call waits for MLflow's answer.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._server = server_address()
        self._client: MlflowClient | None = None
        self._experiment: str | None = None

    @property
    def uri(self) -> str:
        """The address that MLflow's own tools take."""
        return self._server or f"sqlite:///{self.folder / _DATABASE}"

    @property
    def client(self) -> MlflowClient:
        """MLflow's client, connected at the first use. Make its calls inside of ``call``."""
        if self._client is None:
            if not self._server:
                try:
                    self.folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    text = f"the folder of runs {self.folder} cannot be created ({error.strerror}): choose another with"
                    raise TrackingError(f"{text} --runs") from error
                make_database(self.folder / _DATABASE)
            self._client = quiet_client(self.uri)
        return self._client

    @property
    def is_there(self) -> bool:
        """Whether the store exists; one that MLFLOW_TRACKING_URI names is taken to."""
        return self.is_elsewhere or (self.folder / _DATABASE).is_file()

    @property
    def is_elsewhere(self) -> bool:
        """Whether MLFLOW_TRACKING_URI names the store: a server, or a store elsewhere."""
        return bool(self._server)

    @property
    def is_server(self) -> bool:
        """Whether a server has the runs, which then serves pages at its address."""
        return self._server.lower().startswith(("http://", "https://"))

    def call(self, patience: Patience = USUAL) -> AbstractContextManager[None]:
        """Return a context for calls of the client: TrackingError if MLflow does not answer in time."""
        return mlflow_call(self.uri, patience)

    def reach(self) -> None:
        """Check that MLflow answers; TrackingError within seconds if it does not."""
        with self.call(FIRST):
            self.client.search_experiments(max_results=1)

    def reach_to_write(self) -> None:
        """Check that MLflow takes a small change, of a tag of the experiment; TrackingError if it does not."""
        with self.call():
            self.client.set_experiment_tag(self.experiment_id(), _PROBE_TAG, str(time.time_ns()))

    def begin(self, name: str, *, key: str, tags: Mapping[str, str], params: Mapping[str, object]) -> str:
        """Start or continue a run, as ``start`` does, and return MLflow's id of it."""
        from mlflow.entities import Param

        texts = {parameter: str(value)[:MAX_VALUE_LENGTH] for parameter, value in params.items()}
        mine = f"tags.`{KEY_TAG}` = '{key}'"
        with self.call():
            experiment = self.experiment_id()
            found = self.client.search_runs([experiment], filter_string=mine)
            if found:
                check_same_settings(f"the run {name} in MLflow ({self.uri})", found[0].data.params, texts)
                run_id: str = found[0].info.run_id
                self.client.update_run(run_id, status="RUNNING")
            else:
                try:
                    user = getpass.getuser()
                except (KeyError, OSError):  # a container's user may have no name
                    user = "unknown"
                own, now = {"mlflow.user": user, **tags, KEY_TAG: key}, int(1000 * time.time())
                made = self.client.create_run(experiment, start_time=now, run_name=name, tags=own)
                # A request whose answer was lost is sent again and may have created two: of them the one `find` takes.
                run_id = [*self.client.search_runs([experiment], filter_string=mine), made][0].info.run_id
            self.client.log_batch(run_id, params=[Param(name, text) for name, text in texts.items()])
        return run_id

    def start_time(self, key: str) -> float | None:
        """Return when the run with this ``key`` was begun first, in seconds since 1970; None if there is none."""
        run = self.find(key)
        return None if run is None else run.info.start_time / 1000

    def find(self, key: str) -> Run | None:
        """Return the run with this ``key``; None if there is none."""
        if "'" in key:  # no run is called so, and MLflow could not search for it
            return None
        with self.call(FIRST):
            experiment = find_experiment(self.client)
            if experiment is None:
                return None
            mine = f"tags.`{KEY_TAG}` = '{key}'"
            found = self.client.search_runs([experiment.experiment_id], filter_string=mine, max_results=1)
            return found[0] if found else None

    def running(self) -> dict[str, str]:
        """Return name -> MLflow's id of the runs that MLflow shows as running, without their stages."""
        return self._runs("attributes.status = 'RUNNING'")

    def kill(self, key: str, description: str | None = None, *, status: str = "KILLED") -> None:
        """Mark the run with this ``key``, and those of its stages that are running, as killed; describe the run.

        ``status``: how the run itself had ended when its process was killed.
        """
        family = self._family(key)
        with self.call():
            for number, each in reversed(list(enumerate(family))):
                if each.info.status == "RUNNING":
                    self.client.set_terminated(each.info.run_id, "KILLED" if number else status)
            if family and description is not None:
                self.client.set_tag(family[0].info.run_id, NOTE_TAG, description[:MAX_TAG_LENGTH])

    def names(self) -> list[str]:
        """Return the names of all runs, the newest first, without their stages."""
        return list(self._runs(""))

    def ids_of(self, prefix: str) -> dict[str, str]:
        """Return key -> MLflow's id of the runs whose key begins with ``prefix``, without their stages."""
        found = self._runs(f"tags.`{KEY_TAG}` LIKE '{prefix}%'")  # which ignores case
        return {key: run_id for key, run_id in found.items() if key.startswith(prefix)}

    def _runs(self, condition: str) -> dict[str, str]:
        """Return key -> MLflow's id of all runs of a condition of MLflow, the newest first, without their stages."""
        ids: dict[str, str] = {}
        token: str | None = None
        while token != "":
            with self.call(FIRST):
                place = [self.experiment_id()]
                found = self.client.search_runs(place, condition, max_results=_PAGE, page_token=token)
            ids |= {run.data.tags.get(KEY_TAG, ""): run.info.run_id for run in found}
            token = found.token or ""
        return {key: run_id for key, run_id in ids.items() if key and "/" not in key}

    def newest_metrics(self, key: str) -> dict[str, float]:
        """Return the newest figures of the run with this ``key`` and of its stages; a later stage's replace earlier."""
        return {name: value for run in self._family(key) for name, value in run.data.metrics.items()}

    def delete(self, key: str) -> int:
        """Delete the run with this ``key``, its stages and models; return how many runs. `mlflow gc` frees their space.

        Models that have a registered version stay, and those that the server does not let this user delete.
        """
        family = self._family(key)
        with suppress(TrackingRefusedError), self.call():
            for run in family[:1]:
                mine = f"attributes.source_run_id = '{run.info.run_id}'"
                for model in self.client.search_logged_models([run.info.experiment_id], mine):
                    if KEY_TAG in model.tags and _VERSIONS_TAG not in model.tags:
                        self.client.delete_logged_model(model.model_id)
        with self.call():
            for run in reversed(family):
                self.client.delete_run(run.info.run_id)
        return len(family)

    def stage_keys(self, key: str) -> set[str]:
        """Return the keys of the stages of the run with this ``key``."""
        return {stage.data.tags.get(KEY_TAG, "") for stage in self._family(key)[1:]}

    def _family(self, key: str) -> list[Run]:
        """Return the run with this ``key`` and then its stages, the oldest first; nothing if there is none."""
        run = self.find(key)
        if run is None:
            return []
        mine = f"tags.`mlflow.parentRunId` = '{run.info.run_id}'"
        with self.call(FIRST):
            place = [run.info.experiment_id]
            return [run, *self.client.search_runs(place, filter_string=mine, order_by=["attributes.start_time"])]

    def experiment_id(self) -> str:
        """Return the id of the experiment of all runs, which is created if it is missing."""
        if self._experiment is None:
            with self.call():
                place = None if self._server else (self.folder / "artifacts").as_uri()
                self._experiment = make_experiment(self.client, place)
        return self._experiment

    def download(self, uri: str, folder: Path) -> None:
        """Copy the files below an artifact's address into the new ``folder``; OSError if that fails."""
        os.environ.update(QUIET)
        from mlflow.artifacts import download_artifacts
        from mlflow.exceptions import MlflowException

        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as space:
            try:
                with patient(FILES):
                    found = download_artifacts(artifact_uri=uri, dst_path=space, tracking_uri=self.uri)
            except Exception as error:
                if not (isinstance(error, (MlflowException, OSError)) or is_of_carrier(error)):
                    raise
                raise OSError(f"{uri} cannot be fetched from {self.uri}: {error}") from error
            shutil.copytree(found, folder, dirs_exist_ok=True)


def experiment_name() -> str:
    """Return the name of the experiment of all runs, unless only its id is given."""
    return os.environ.get(_NAME) or EXPERIMENT


def find_experiment(client: MlflowClient) -> Experiment | None:
    """Return the experiment that the environment names, or else ``suphx``; None if it does not exist yet.

    ValueError if somebody deleted it, and for an id that does not exist or is not that of the name.
    """
    name, number = os.environ.get(_NAME), os.environ.get(_ID)
    found: Experiment | None = None
    if number and not name:
        with without_error(MISSING):
            found = client.get_experiment(number)
        if found is None:
            raise ValueError(f"{_ID} is {number}, but MLflow has no such experiment: unset it, or set {_NAME}")
    else:
        found = client.get_experiment_by_name(experiment_name())
    if number and name and (found is None or found.experiment_id != number):
        raise ValueError(f"{_ID} is {number}, which is not the experiment {name} of {_NAME}: unset one of them")
    if found is not None and found.lifecycle_stage != "active":
        store = shlex.quote(without_credentials(client.tracking_uri))
        raise ValueError(
            f"the experiment {found.name} was deleted in MLflow: restore it with `MLFLOW_TRACKING_URI={store} mlflow "
            f"experiments restore --experiment-id {found.experiment_id}`, or delete it for good with `mlflow gc`"
        )
    return found


def make_experiment(client: MlflowClient, place: str | None) -> str:
    """Return the id of the experiment, which is created, with its artifacts at ``place``, if it is missing."""
    found = find_experiment(client)
    if found is None:
        with without_error(EXISTS):
            return client.create_experiment(experiment_name(), artifact_location=place, tags=_TAGS)
        found = find_experiment(client)  # another process was first
        assert found is not None, "MLflow has just said that it exists"
    for name, text in _TAGS.items():
        if name not in found.tags and (found.name == EXPERIMENT or name not in _OWN_TAGS):
            client.set_experiment_tag(found.experiment_id, name, text)
    return found.experiment_id


def check_same_settings(what: str, before: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Raise ValueError, with the keys that differ, if ``what`` was made with other settings than those of ``now``.

    Both are ``{"a.b": value}``; a key that only one of them has is that of another version of this program.
    """
    differing = [key for key in now if key in before and before[key] != now[key]]
    if not differing:
        return
    told = [f"{key} is {before[key]!r} there, {now[key]!r} here" for key in differing[:_SHOWN_SETTINGS]]
    told += [f"and {len(differing) - _SHOWN_SETTINGS} more"] if len(differing) > _SHOWN_SETTINGS else []
    raise ValueError(
        f"{what} was made with other settings: {'; '.join(told)}. Nothing was changed. Use another --run-id or none "
        "(the id is then derived from the settings), or resume it with its own settings"
    )
