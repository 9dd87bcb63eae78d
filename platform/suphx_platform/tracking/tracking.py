"""Runs as they are tracked while they work: what they log goes to an outbox, which sends it to MLflow later."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from suphx_platform.tracking.client.mlflow_call import TrackingError
from suphx_platform.tracking.messages.message_log import Message
from suphx_platform.tracking.mlflow_store import MAX_TAG_LENGTH, NOTE_TAG, MlflowStore
from suphx_platform.tracking.tracking_calls import TrackingCalls, now_milliseconds
from suphx_platform.tracking.tracking_outbox import CLOSE_SECONDS, STOP_SECONDS, Outbox

_QUEUE = ".mlflow-queue"
"""In the run's folder: what MLflow has not got yet."""
_MAX_DIGEST_LENGTH = 36


class Tracker:
    """One run in the store: a pipeline, or a stage nested in it. Its calls return at once; the outbox makes them later.

    Usage::

        store = TrackingStore(Path("runs"))
        with store.closed(), store.start("laptop-1f2e", key="laptop-1f2e") as tracker:
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

    @property
    def is_continued(self) -> bool:
        """Whether MLflow had messages to get from an earlier start when this one began."""
        return self._outbox.num_before > 0

    def start(
        self, name: str, *, key: str, tags: Mapping[str, str] | None = None, params: Mapping[str, object] | None = None
    ) -> Tracker:
        """Start, or continue, the run with this ``key`` nested in this one; ``params`` as for TrackingStore."""
        self._outbox.put(begin_message(name, key=key, tags=tags, params=params, parent=self._key))
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
        self._calls = TrackingCalls(self)
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
            self._calls.begin(message)
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
        outbox.close()
        return outbox.num_before, outbox.num_left

    def _outbox(self, key: str, *, sends_refused: bool = False) -> Outbox:
        send, probe = self._calls.send, self.reach_to_write
        return Outbox(self._queue(key), send=send, probe=probe, sends_refused=sends_refused)

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

    @property
    def run_ids(self) -> dict[str, str]:
        """MLflow's ids of the runs that were started, by their keys."""
        return self._calls.run_ids
