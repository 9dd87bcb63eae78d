"""The calls to MLflow that the messages of a run stand for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suphx_platform.tracking.client.mlflow_call import FILES
from suphx_platform.tracking.messages.message_log import Message
from suphx_platform.tracking.mlflow_store import MlflowStore

_logger = logging.getLogger(__name__)


class TrackingCalls:
    """Makes the calls of messages for one store. A run is known by its key; ``run_ids`` has MLflow's ids so far."""

    def __init__(self, store: MlflowStore) -> None:
        self._store = store
        self.run_ids: dict[str, str] = {}
        self._begun: dict[str, Message] = {}
        """By key: how runs were begun."""
        self._lock = threading.Lock()
        self._steps: dict[str, tuple[int, dict[str, int]]] = {}

    def send(self, messages: Sequence[Message]) -> None:
        """Make one call for messages that belong together.

        A run that MLflow has lost, as after a start with an empty database, is begun again. TrackingError if MLflow
        does not take the call now; ValueError or MlflowException if it never will.
        """
        from mlflow.exceptions import MlflowException

        key = messages[0].get("key", "")
        run_id = self.run_ids.get(key)
        try:
            self._call(messages)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST" or key not in self._begun:
                raise
            with self._lock:  # two threads send
                if self.run_ids.get(key) == run_id:
                    self._begin_again(key)
            self._call(messages)

    def _begin_again(self, key: str) -> None:
        """Begin a run, and first those that it is nested in, as if nothing were known of them."""
        self._store.forget_experiment()
        message = self._begun[key]
        if message["parent"] in self._begun:
            self._begin_again(message["parent"])
        self._steps.pop(key, None)
        self.begin(message)
        _logger.warning("MLflow did not have the run %s any more, and has it again from here on", key)

    def _call(self, messages: Sequence[Message]) -> None:
        first = messages[0]
        match first["do"]:
            case "begin":
                self.begin(first)
            case "metrics":
                run_id = self._run_id(first["key"])
                last = self._last_steps(first["key"], first["sitting"]) if "sitting" in first else {}
                entries = [entry for message in messages for entry in message["metrics"]]
                self._log_metrics(run_id, [entry for entry in entries if entry[3] > last.get(entry[0], -1)])
            case "tags":
                self._set_tags(self._run_id(first["key"]), first["tags"])
            case "dataset":
                self._log_dataset(self._run_id(first["key"]), first)
            case "artifact":
                self._log_artifact(self._run_id(first["key"]), Path(first["path"]))
            case "end":
                with self._store.call():
                    end_time = first["time"]
                    self._store.client.set_terminated(self._run_id(first["key"]), first["status"], end_time)
            case unknown:
                raise ValueError(f"{unknown!r} is no message")

    def _run_id(self, key: str) -> str:
        if key not in self.run_ids:
            found = self._store.find(key)
            self.run_ids[key] = found.info.run_id if found is not None else self._nested_again(key)
        return self.run_ids[key]

    def _nested_again(self, key: str) -> str:
        """Create the run of a stage that an earlier process has begun in a database that MLflow has lost since.

        ValueError if it was deleted in MLflow, or if it is no stage. Its parameters come when the stage is begun again.
        """
        parent, _, rest = key.partition("/")
        if not rest or self._store.is_deleted(key):
            raise ValueError(
                f"MLflow has no run with the key {key}: it was deleted there, or refused; the command that started "
                "it begins it again"
            )
        tags = {"mlflow.parentRunId": self._run_id(parent)}
        return self._store.begin(rest.rpartition("/")[0] or rest, key=key, tags=tags, params={})

    def _last_steps(self, key: str, sitting: int) -> Mapping[str, int]:
        """Return the last step of each metric that MLflow had when the first points of this sitting were sent."""
        known, steps = self._steps.get(key, (None, {}))
        if known != sitting:
            with self._store.call():
                run = self._store.client.get_run(self._run_id(key))
            steps = {metric.key: metric.step for metric in run.to_proto().data.metrics}
            self._steps[key] = sitting, steps
        return steps

    def begin(self, message: Message) -> None:
        """Make the call of a message that starts a run, or continues it; errors as of ``send``."""
        tags = dict(message["tags"])
        if message["parent"] is not None:
            tags["mlflow.parentRunId"] = self._run_id(message["parent"])
        key = message["key"]
        self._begun[key] = message
        self.run_ids[key] = self._store.begin(message["name"], key=key, tags=tags, params=message["params"])

    def _log_metrics(self, run_id: str, entries: Sequence[Sequence[Any]]) -> None:
        from mlflow.entities import Metric

        metrics = [Metric(name, float(value), when, step) for name, value, when, step in entries]
        if not metrics:
            return
        with self._store.call():
            self._store.client.log_batch(run_id, metrics=metrics)

    def _set_tags(self, run_id: str, tags: Mapping[str, str]) -> None:
        from mlflow.entities import RunTag

        with self._store.call():
            self._store.client.log_batch(run_id, tags=[RunTag(name, text) for name, text in tags.items()])

    def _log_dataset(self, run_id: str, message: Message) -> None:
        from mlflow.entities import Dataset, DatasetInput, InputTag

        texts = {name: message[name] for name in ("name", "digest", "source", "profile")}
        entry = DatasetInput(Dataset(**texts, source_type="local"), tags=[InputTag("mlflow.data.context", "training")])
        with self._store.call():
            self._store.client.log_inputs(run_id, datasets=[entry])

    def _log_artifact(self, run_id: str, path: Path) -> None:
        if not path.exists():
            raise ValueError("the file was deleted before it could be sent")
        with self._store.call(FILES):
            if path.is_dir():
                self._store.client.log_artifacts(run_id, str(path), path.name)
            else:
                self._store.client.log_artifact(run_id, str(path))


def now_milliseconds() -> int:
    """Return the time as MLflow counts it."""
    return int(time.time() * 1000)
