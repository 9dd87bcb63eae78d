"""Runs as they are tracked while they work: what they log goes to an outbox, which sends it to MLflow later."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from suphx_platform.storage.objects import file_digest
from suphx_platform.tracking import logged_models
from suphx_platform.tracking.event_files import EventFiles
from suphx_platform.tracking.logged_models import keep_nets, nets_digest
from suphx_platform.tracking.mlflow_client import FILES, USUAL, TrackingError
from suphx_platform.tracking.mlflow_store import MAX_TAG_LENGTH, NOTE_TAG, MlflowStore
from suphx_platform.tracking.outbox import CLOSE_SECONDS, STOP_SECONDS, Message, Outbox
from suphx_platform.tracking.outbox import FILES as OF_FILES

if TYPE_CHECKING:
    from mlflow.entities import Metric

_QUEUE = ".mlflow-queue"
"""In the run's folder: what MLflow has not got yet."""
_MODELS = "models"
"""In the queue: nets that MLflow has not got yet."""
_MAX_DIGEST_LENGTH = 36
TRAINING, EVALUATION = "training", "evaluation"
"""What data are used for, in MLflow's words."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedData:
    """Data that a run uses, as MLflow shows them."""

    name: str
    digest: str
    """At most 36 characters."""
    source: str
    """An address, or in words how they are made."""
    profile: Mapping[str, int]
    """Counts, such as ``{"games": 100}``."""
    columns: Mapping[str, str]
    """Name of a column, or of a part of a sample -> its type in MLflow, such as ``long``."""

    def to_json(self) -> dict[str, str]:
        """Return the texts of MLflow's dataset."""
        columns = [{"name": name, "type": kind, "required": True} for name, kind in self.columns.items()]
        return {
            "name": self.name,
            "digest": self.digest[:_MAX_DIGEST_LENGTH],
            "source": json.dumps({"uri": self.source}),
            "profile": json.dumps(dict(self.profile)),
            "schema": json.dumps({"mlflow_colspec": columns}),
        }


class Tracker:
    """One run in the store: a pipeline, or a stage nested in it. Its calls return at once; the outbox makes them later.

    Usage::

        store = TrackingStore(Path("runs"))
        with store.closed(), store.start("laptop-1f2e", key="laptop-1f2e") as tracker:
            with tracker.start("report", key="laptop-1f2e/report/77aa", params={"seed": 1}) as stage:
                stage.log_metrics({"train_loss": 1.9}, step=100)
                stage.log_artifact(Path("report.html"))
    """

    def __init__(
        self, store: TrackingStore, outbox: Outbox, key: str, parent: Tracker | None = None, stage: str = ""
    ) -> None:
        self.store = store
        self._stage = stage
        self.parent = parent
        self._outbox = outbox
        self.key = key
        self._session: int | None = None
        self._evaluated: list[str] | None = None
        """Name and digest of the data of the last evaluation."""

    @property
    def root(self) -> Tracker:
        """The pipeline of a stage; of a pipeline itself."""
        return self if self.parent is None else self.parent.root

    @property
    def run_id(self) -> str:
        """MLflow's id of the run, which may have to be waited for; TrackingError if MLflow does not give one now."""
        if self.key not in self.store.run_ids:
            self._outbox.flush(lambda: self.key in self.store.run_ids)
        if self.key not in self.store.run_ids:
            raise TrackingError(f"MLflow has refused the run {self.key}: its warning says why")
        return self.store.run_ids[self.key]

    @property
    def is_continued(self) -> bool:
        """Whether MLflow had messages to get from an earlier start when this one began."""
        return self._outbox.num_before > 0

    def start(
        self, name: str, *, key: str, tags: Mapping[str, str] | None = None, params: Mapping[str, object] | None = None
    ) -> Tracker:
        """Start, or continue, the run with this ``key`` nested in this one; ``params`` as for TrackingStore."""
        self._outbox.put(begin_message(name, key=key, tags=tags, params=params, parent=self.key))
        return Tracker(self.store, self._outbox, key, parent=self, stage=name)

    def resume(self) -> None:
        """Note that the work continues from a saved state, and so repeats steps.

        From now on, points of ``log_metrics`` are left out if MLflow has the metric at this step or a later one already
        from before. Numbers without a step are always logged.
        """
        self._session = time.time_ns()

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None, *, model: str = "") -> None:
        """Log numbers at ``step``; without one, at 0 as numbers that belong to no curve.

        ``model``: key of the model that they are of, which gets them too, with the data of the last evaluation.
        """
        now = _now_milliseconds()
        points = [[name, float(value), now, int(step or 0)] for name, value in metrics.items()]
        more: dict[str, object] = {} if step is None or self._session is None else {"session": self._session}
        if model:
            more |= {"model": model, "data": self._evaluated}
        self._put("metrics", metrics=points, **more)
        if self.store.events is not None:
            self.store.events.add(self._stage, metrics, int(step or 0), is_curve=step is not None)

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

    def log_dataset(self, data: TrackedData, context: str) -> None:
        """Name data that the run uses; ``context``: what for, ``training`` or ``evaluation``."""
        values = data.to_json()
        if context == EVALUATION:
            self._evaluated = [values["name"], values["digest"]]
        self._put("dataset", context=context, **values)

    def log_model(
        self,
        name: str,
        nets: Mapping[str, Path],
        *,
        step: int = 0,
        has_code: bool = True,
    ) -> str:
        """Make nets, by file name, a model of the whole run, which the pages of run and stage show; return its key.

        The same nets of a name are one model, however often they are logged. Without code (a megabyte) it can only be
        loaded where this project is installed. Empty, with a warning, if the disk does not keep the nets until then.
        """
        root = self.root
        digest = nets_digest({file: file_digest(path)[1] for file, path in nets.items()})
        key = f"{root.key}/{_MODELS}/{name}-{digest}"
        folder = self.store.folder / root.key / _QUEUE / _MODELS / f"{name}-{digest}"
        try:
            keep_nets(nets, folder)
        except OSError as error:
            _logger.warning("MLflow does not get the model %s: %s", name, error)
            return ""
        self._put("model", model=key, run=root.key, name=name, step=step, nets=str(folder))
        self._put("model_files", model=key, nets=str(folder), has_code=has_code)
        return key

    def publish(self, model: str, registered: str = "") -> None:
        """Note the model with this key as what the run has made; ``registered``: of which model it is a version."""
        self._put("model_result", model=model, registered=registered)

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
        self._put("end", status="FINISHED" if error is None else failed, time=_now_milliseconds())

    def _put(self, what: str, **values: object) -> None:
        self._outbox.put({"do": what, "key": self.key, **values})


def begin_message(
    name: str,
    *,
    key: str,
    tags: Mapping[str, str] | None,
    params: Mapping[str, object] | None,
    parent: str | None = None,
) -> Message:
    """Return the message that has a run started, or continued."""
    texts = {parameter: str(value) for parameter, value in (params or {}).items()}
    run = {"name": name, "tags": dict(tags or {}), "params": texts, "parent": parent}
    return {"do": "begin", "key": key, **run}


class TrackingStore(MlflowStore):
    """The MLflow store of a folder of runs that also starts runs and sends what they log."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.events: EventFiles | None = None
        """Where figures are written besides; None: nowhere."""
        self.run_ids: dict[str, str] = {}
        """MLflow's ids of the runs that were started, by their keys."""
        self._model_ids: dict[str, str] = {}
        self._steps: dict[str, tuple[int, dict[str, int]]] = {}
        self._outboxes: list[Outbox] = []

    def start(
        self, name: str, *, key: str, tags: Mapping[str, str] | None = None, params: Mapping[str, object] | None = None
    ) -> Tracker:
        """Start a run called ``name``, or continue the one that was started with the same ``key``.

        ``params`` are logged, long values cut. Raises ValueError, with nothing changed, if that run has others, and
        TrackingError if MLflow does not answer, unless the run has messages that wait for it.
        """
        is_there, message = self.check(key), begin_message(name, key=key, tags=tags, params=params)
        if is_there:
            self._begin(message)
        outbox = self._outbox(key)
        self._outboxes.append(outbox)
        if outbox.num_before or not is_there:  # after what an earlier start has left, which may end the run
            outbox.put(message)
        return Tracker(self, outbox, key)

    def check(self, key: str) -> bool:
        """Return whether MLflow answers. TrackingError if not, unless the run with this key has messages that wait."""
        try:
            self.reach()
        except TrackingError:
            if not self.has_left(key):
                raise
            return False
        return True

    def has_left(self, key: str) -> bool:
        """Tell whether the run with this key has messages that MLflow has not got, or has refused."""
        return self._queue(key).is_dir()

    def send_left(self, key: str) -> None:
        """Send what a killed process has left for the run with this ``key``, as far as MLflow takes it."""
        if self.has_left(key):
            self._outbox(key).close()

    def send_refused(self, key: str) -> tuple[int, int]:
        """Send what MLflow has not got of the run with this ``key``, also what it has refused before.

        Returns how many messages there were, and how many it has not taken now either. TrackingError if MLflow does
        not answer, OSError if a process works on the run.
        """
        if not self.has_left(key):
            return 0, 0
        self.reach()
        outbox = self._outbox(key, sends_refused=True)
        return outbox.num_before, outbox.close()

    def _outbox(self, key: str, *, sends_refused: bool = False) -> Outbox:
        return Outbox(self._queue(key), send=self.send, probe=self.reach_to_write, sends_refused=sends_refused)

    def _queue(self, key: str) -> Path:
        return self.folder / key / _QUEUE

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Close the store at the end of the block, after less time if the process was asked to stop."""
        seconds = CLOSE_SECONDS
        try:
            yield
        except KeyboardInterrupt:
            seconds = STOP_SECONDS
            raise
        finally:
            self.close(seconds)

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Send all waiting calls if MLflow answers, for at most ``seconds``; warn about those that cannot be sent."""
        while self._outboxes:
            self._outboxes.pop().close(seconds)
        if self.events is not None:
            self.events.close()

    # Calls: a run is known by its key

    def _begin(self, message: Message) -> None:
        """Make the call of a message that starts a run, or continues it; errors as of ``send``."""
        tags = dict(message["tags"])
        if message["parent"] is not None:
            tags["mlflow.parentRunId"] = self._run_id(message["parent"])
        key = message["key"]
        self.run_ids[key] = self.begin(message["name"], key=key, tags=tags, params=message["params"])

    def send(self, messages: Sequence[Message]) -> None:
        """Make one call for messages that belong together.

        TrackingError if MLflow does not take the call now; ValueError or MlflowException if it never will.
        """
        from mlflow.entities import Dataset, DatasetInput, InputTag, RunTag

        first = messages[0]
        if first["do"] == "begin":
            self._begin(first)
            return
        client, run_id = self.client, self._run_id(first["key"])
        with self.call(FILES if first["do"] in OF_FILES else USUAL):
            match first["do"]:
                case "metrics":
                    if points := self._new_points(run_id, messages):
                        client.log_batch(run_id, metrics=points)
                case "tags":
                    client.log_batch(run_id, tags=[RunTag(name, text) for name, text in first["tags"].items()])
                case "dataset":
                    names = ("name", "digest", "source", "profile", "schema")
                    texts: dict[str, Any] = {name: first.get(name) for name in names}
                    context = InputTag("mlflow.data.context", first.get("context", TRAINING))
                    data = DatasetInput(Dataset(**texts, source_type="local"), tags=[context])
                    client.log_inputs(run_id, datasets=[data])
                case "end":
                    client.set_terminated(run_id, first["status"], first["time"])
                case "artifact":
                    path = Path(first["path"])
                    if path.is_dir():
                        client.log_artifacts(run_id, str(path), path.name)
                    elif path.exists():
                        client.log_artifact(run_id, str(path))
                    else:
                        raise ValueError("the file was deleted before it could be sent")
                case "model" | "model_files" | "model_result":
                    self._send_of_model(first, run_id)
                case other:
                    raise ValueError(f"{other!r} is not a message")

    def _send_of_model(self, message: Message, run_id: str) -> None:
        """Make the calls of a message about a model. To be called inside of ``call``."""
        client, key = self.client, message["model"]
        if message["do"] == "model":
            made_by, step, nets = self._run_id(message["run"]), message["step"], Path(message["nets"])
            own = {"name": message["name"], "run_id": made_by, "params": {"step": step}}
            model_id = logged_models.make_model(client, self.experiment_id(), key, nets=nets, **own)
            for each in dict.fromkeys((run_id, made_by)):
                logged_models.add_output(client, each, model_id, step)
            self._model_ids[key] = model_id
            return
        found = self._model_id(key)
        if found is None:
            raise ValueError(f"MLflow has no model with the key {key}: it was deleted there, or refused")
        if message["do"] == "model_files":
            nets = Path(message["nets"])
            logged_models.store_nets(client, client.get_logged_model(found), nets, has_code=message["has_code"])
            shutil.rmtree(nets, ignore_errors=True)
        else:
            logged_models.publish(client, found, run_id, message["registered"], is_server=self.is_server)

    def _model_id(self, key: str) -> str | None:
        """Return MLflow's id of the model with this key; None if there is none."""
        if key not in self._model_ids and (found := logged_models.find_model(self.client, self.experiment_id(), key)):
            self._model_ids[key] = found
        return self._model_ids.get(key)

    def _new_points(self, run_id: str, messages: Sequence[Message]) -> list[Metric]:
        """Return the points of metrics that MLflow does not have from before this session.

        To be called inside of ``call``.
        """
        from mlflow.entities import Metric

        key, session = messages[0]["key"], messages[0].get("session")
        last: Mapping[str, int] = {}
        if session is not None:
            known, last = self._steps.get(key, (None, {}))
            if known != session:  # the steps that MLflow had when the first points of this session were sent
                run = self.client.get_run(run_id)
                last = {metric.key: metric.step for metric in run.to_proto().data.metrics}
                self._steps[key] = session, last
        points = (point for message in messages for point in message["metrics"])
        used: dict[str, Any] = {}
        if (model := messages[0].get("model")) and (model_id := self._model_id(model)):  # None: it was refused
            used["model_id"] = model_id
            used["dataset_name"], used["dataset_digest"] = messages[0].get("data") or (None, None)
        return [
            Metric(name, float(value), when, step, **used)
            for name, value, when, step in points
            if step > last.get(name, -1)
        ]

    def _run_id(self, key: str) -> str:
        if key not in self.run_ids:
            found = self.find(key)
            if found is None:
                raise ValueError(
                    f"MLflow has no run with the key {key}: it was deleted there, or refused; the command that started "
                    "it begins it again"
                )
            self.run_ids[key] = found.info.run_id
        return self.run_ids[key]


def _now_milliseconds() -> int:
    return int(time.time() * 1000)
