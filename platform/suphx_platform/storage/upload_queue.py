"""Saves that hold nobody up: a storage takes the folder as it is now, and sends it while the work goes on."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Protocol

from suphx_platform.storage.linked_copy import copy_linked
from suphx_platform.storage.manifest import CheckpointVersion
from suphx_platform.storage.outage import Outage
from suphx_platform.storage.storage import Storage

_SNAPSHOTS = ".uploads"  # begins with a dot: no part of what is stored

_logger = logging.getLogger(__name__)


class Save(Protocol):
    """Stores a folder as it is now, with a number and, if it was measured, a score (larger is better)."""

    def __call__(self, number: int, score: float | None = None, then: Callable[[], None] | None = None) -> None:
        """Return at once; raises what went wrong with an earlier one. ``then`` is called when it is stored."""
        ...


@dataclass(frozen=True, slots=True)
class _Job:
    order: int
    name: str
    snapshot: Path
    number: int
    score: float | None
    then: Callable[[CheckpointVersion], None] | None


class UploadQueue:
    """Usage::

        with UploadQueue(storage) as uploads:
            uploads.save("run-1/reinforcement", folder, number=1200)  # returns at once
            ...

    Consumes: folders, as hard links, so their files must be replaced, not changed in place. Produces: versions, one
    after another, in a thread of its own. Waits for: nothing in ``save``; for all uploads in ``flush`` and at the end
    of the block. A storage that does not answer is asked again until it has been away for ``max_outage_hours`` of its
    config. Only then is the error raised, by the next call of any method; it is raised at once if another writer is in
    the way, or if somebody has removed what waits.
    """

    def __init__(self, storage: Storage, *, max_waiting: int = 2) -> None:
        """``max_waiting``: saves of one name that may wait while another is being sent."""
        self._storage = storage
        self._max_waiting = max_waiting
        self._outage = Outage(3600 * storage.config.max_outage_hours, storage.config.address)
        self._waiting: list[_Job] = []
        self._lock = threading.Lock()
        self._order = count()
        self._folders: set[Path] = set()
        self._futures: list[Future[None]] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="uploads")

    def save(
        self,
        name: str,
        folder: Path,
        *,
        number: int,
        score: float | None = None,
        then: Callable[[CheckpointVersion], None] | None = None,
    ) -> None:
        """Have ``folder``, as it is now, stored as ``Storage.save`` does; ``then`` is called in the queue's thread.

        When too many wait, one of them gives way with a warning: the oldest without a score, else that with the lowest.
        """
        self._raise_errors([future for future in self._futures if future.done()])
        order = next(self._order)
        snapshot = self._new_snapshot(folder, order)
        job = _Job(order, name, snapshot, number, score, then)
        with self._lock:
            others = [other for other in self._waiting if other.name == name]
            self._waiting.append(job)
            if len(others) >= self._max_waiting:
                self._give_up(min(others if score is None else [*others, job], key=_importance))
        self._futures.append(self._thread.submit(self._save_next))

    def flush(self) -> None:
        """Wait until everything is stored; raise what went wrong first."""
        self._raise_errors(list(self._futures))

    def figures(self) -> dict[str, float]:
        """Return what is watched: saves that are not stored yet, and for how long the storage has been away."""
        waiting = sum(not future.done() for future in list(self._futures))
        return {"uploads_waiting": float(waiting), "storage_outage_seconds": self._outage.seconds}

    def __enter__(self) -> UploadQueue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Store what waits, also when the block has failed: it is what another start goes on from.

        A block that ends as it should waits for a storage that is away; one that was stopped or has failed tries
        once more. What went wrong with an upload is raised unless the block has an error of its own; a wish to stop
        is none.
        """
        try:
            if error is not None:
                self._outage.give_up()
            if error is None or isinstance(error, KeyboardInterrupt):
                self.flush()
                return
        finally:  # also after Ctrl-C while it waits
            self._outage.give_up()
        for future in self._futures:
            if future.exception() is not None:
                _logger.error("an upload has failed too: %s", future.exception())

    def _new_snapshot(self, folder: Path, order: int) -> Path:
        place = folder / _SNAPSHOTS
        if folder not in self._folders:
            self._folders.add(folder)
            shutil.rmtree(place, ignore_errors=True)  # of a killed process
        snapshot = place / str(order)
        copy_linked(folder, snapshot, ".*")
        return snapshot

    def _give_up(self, job: _Job) -> None:
        self._waiting.remove(job)
        shutil.rmtree(job.snapshot)
        self._say_given_up(job)

    def _say_given_up(self, job: _Job) -> None:
        _logger.warning(
            "version %d of %s is not stored: newer or stronger ones are waiting, uploads are slow", job.number, job.name
        )

    def _save_next(self) -> None:
        with self._lock:
            if not self._waiting:  # one has given way
                return
            job = self._waiting.pop(0)
        try:
            version = self._stored(job)
        finally:
            shutil.rmtree(job.snapshot, ignore_errors=True)
        if version is not None and job.then is not None:
            job.then(version)

    def _stored(self, job: _Job) -> CheckpointVersion | None:
        """Store a save, however often it must be tried; None if too many wait meanwhile that are more important."""
        while True:
            try:
                version = self._storage.save(job.name, job.snapshot, number=job.number, score=job.score)
            except OSError as error:
                is_lost = isinstance(error, FileNotFoundError) and not job.snapshot.is_dir()
                if is_lost or isinstance(error, FileExistsError):  # trying again would not help
                    raise
                self._outage.wait_after(error)
            else:
                self._outage.end()
                return version
            with self._lock:
                others = [other for other in self._waiting if other.name == job.name]
                if len(others) >= self._max_waiting:
                    least = min([job, *others], key=_importance)
                    if least is job:
                        self._say_given_up(job)
                        return None
                    self._give_up(least)

    def _raise_errors(self, futures: list[Future[None]]) -> None:
        """Wait for the futures, forget them, and raise the first error among them; others become log lines."""
        errors = [error for future in futures if (error := future.exception()) is not None]
        self._futures = [future for future in self._futures if future not in futures]
        for error in errors[1:]:
            _logger.error("another upload has failed too: %s", error)
        if errors:
            raise errors[0]


def _importance(job: _Job) -> tuple[bool, float, int]:
    return job.score is not None, job.score or 0.0, job.order
