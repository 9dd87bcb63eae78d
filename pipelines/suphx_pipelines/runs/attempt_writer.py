"""What the driver of a Ray job keeps of its attempt at a run: when it began and ended, how, why, and on which commit.

KubeRay's operator deletes the pods of an attempt that has failed at once, and their logs with them. So the records are
kept in the run's folder, in the storage and in MLflow (suphx_platform/cluster/run_attempts.py). A run that is no
Ray job has its ``run.log``, and needs none.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from suphx.credentials import without_secrets
from suphx.json_text import parse_json
from suphx_pipelines.runs.provenance import environment
from suphx_platform.cluster import run_attempts
from suphx_platform.cluster.run_attempts import Notes, write_attempt
from suphx_platform.cluster.run_status import Attempt, Outcome
from suphx_platform.console.console import is_lost_output
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig

T = TypeVar("T")

_SECONDS = 15.0
"""For all requests to one place: the run waits for them."""
_REASON_LENGTH = 500
_NOTE = "suphx: kept as a failed attempt"
_LOST = "ended without a report: its head pod was lost, or its driver was killed, as when memory runs out"
_STOPPED = "it was asked to stop, and has saved its state: suphx stop, or its head pod was deleted or its node drained"

_logger = logging.getLogger(__name__)


class RunAttempt:
    """Consumes: how the driver ends. Produces: the record of this attempt, if the process is the driver of a Ray job.

    >>> with RunAttempt("laptop-1f2e3d4c5b", Path("runs"), recipe.storage) as attempt:
    ...     attempt.begin()
    ...     work()

    The first ``with`` block that ends decides. Nothing is raised if the record cannot be written: a warning says so.
    """

    def __init__(self, run_id: str, runs: Path, config: StorageConfig | None) -> None:
        self._run_id, self._runs, self._config = run_id, runs, config
        self._places: Mapping[str, Notes] = {}
        self._attempt = Attempt(number=0, started=_now())
        self._has_ended = not _is_ray_job()

    def begin(self) -> None:
        """Keep that this attempt has begun, and that earlier ones without an end were lost."""
        if not self._has_ended:
            earlier = self._number()
            self._write(self._attempt)
            for attempt in earlier.values():
                if attempt.outcome is None:
                    self._write(replace(attempt, outcome="lost", reason=_LOST))

    def fail(self, error: BaseException) -> None:
        """Keep that this attempt has ended with an error."""
        is_explained = isinstance(error, (ValueError, OSError)) or type(error).__module__.startswith("suphx")
        self._end("failed", f"{error}" if is_explained else f"{type(error).__name__}: {error}")
        error.add_note(_NOTE)

    def _end(self, outcome: Outcome, reason: str = "") -> None:
        if self._has_ended:
            return
        self._has_ended = True
        if not self._attempt.number:
            self._number()
        text = without_secrets(" ".join(reason.split()))[:_REASON_LENGTH]
        self._write(replace(self._attempt, ended=_now(), outcome=outcome, reason=text))

    def _number(self) -> dict[int, Attempt]:
        """Give this attempt its number, one more than every place knows; return the earlier attempts."""
        self._places = _all_places(self._runs, self._config)
        earlier: dict[int, Attempt] = {}
        for name, notes in self._places.items():
            known = _try(name, partial(run_attempts.read_attempts, notes, self._run_id)) or {}
            for number, attempt in known.items():
                if number not in earlier or earlier[number].outcome is None:  # an end counts more than a beginning
                    earlier[number] = attempt
        facts = environment()
        version = f"{facts['suphx']} ({facts['commit']})"
        self._attempt = replace(self._attempt, number=1 + max(earlier, default=0), version=version)
        return earlier

    def _write(self, attempt: Attempt) -> None:
        for name, notes in self._places.items():
            _try(name, partial(write_attempt, notes, self._run_id, attempt))

    def __enter__(self) -> RunAttempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._has_ended:
            return
        if error is None:
            self._end("finished")
        elif isinstance(error, KeyboardInterrupt) or is_lost_output(error):
            self._end("stopped", _STOPPED)
        else:
            self.fail(error)


def keep_early(error: Exception, run_id: str | None, runs: Path, overrides: Sequence[tuple[str, str]]) -> None:
    """Keep an error as a failed attempt, unless the run had begun and has kept it itself.

    ``overrides``: those of the command line, which name the storage.
    """
    if run_id is not None and _is_ray_job() and _NOTE not in getattr(error, "__notes__", ()):
        values = dict(overrides)
        address, endpoint = values.get("storage.address", ""), values.get("storage.endpoint_url", "")
        config = _try("storage.address", partial(StorageConfig, address=address, endpoint_url=endpoint))
        RunAttempt(run_id, runs, config).fail(error)


def _all_places(runs: Path, config: StorageConfig | None) -> Mapping[str, Notes]:
    """Return all places, that of this machine first; those outside give up early."""
    found: dict[str, Notes] = {"the folder of the run": Storage(StorageConfig(address=str(runs.resolve())))}
    impatient = None if config is None else replace(config, max_attempts=2)
    return found | (_try("the storage", lambda: run_attempts.places(impatient, runs)) or {})


def _try(name: str, work: Callable[[], T]) -> T | None:
    """Return what ``work`` returns; a warning, and None, if it fails or takes too long: the run matters more.

    It goes on in a thread of its own then, which the end of the process does not wait for.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:  # noqa: BLE001  # it is raised where the answer is waited for
            answer.set_exception(error)

    threading.Thread(target=run, name="limited call", daemon=True).start()
    try:
        return answer.result(_SECONDS)
    except Exception as error:  # noqa: BLE001 - whatever a client of MLflow or S3 raises
        text = without_secrets(" ".join(str(error).split())) or type(error).__name__
        _logger.warning("the record of this attempt is not complete: %s: %s", name, text)
        return None


def _is_ray_job() -> bool:
    """Tell whether this process is the driver of a Ray job."""
    try:
        return bool(parse_json(os.environ["RAY_JOB_CONFIG_JSON_ENV_VAR"])["metadata"]["job_submission_id"])
    except (KeyError, TypeError, ValueError):
        return False


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
