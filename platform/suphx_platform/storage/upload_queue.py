"""Saves that hold nobody up: a storage takes the folder as it is now, and sends it while the work goes on."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Protocol

from suphx.growing_pause import GrowingPause
from suphx_platform.storage.manifest import CheckpointVersion
from suphx_platform.storage.storage import Storage

_SNAPSHOTS = ".uploads"  # begins with a dot: no part of what is stored
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds between two attempts."""
_SECONDS_BETWEEN_WARNINGS = 600.0

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

    @property
    def importance(self) -> tuple[bool, float, int]:
        return self.score is not None, self.score or 0.0, self.order


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
        self._outage = _Outage(3600 * storage.config.max_outage_hours, storage.config.address)
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
        job = _Job(order, name, self._new_snapshot(folder, order), number, score, then)
        with self._lock:
            self._waiting.append(job)
            self._drop_one_too_many(name)
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

    def _drop_one_too_many(self, name: str) -> None:
        """Of more saves of a name than may wait, drop the least important one. To be called with the lock."""
        waiting = [job for job in self._waiting if job.name == name]
        if len(waiting) > self._max_waiting:
            least = min(waiting, key=lambda job: job.importance)
            self._waiting.remove(least)
            shutil.rmtree(least.snapshot)
            text = "version %d of %s is not stored: newer or stronger ones are waiting, uploads are slow"
            _logger.warning(text, least.number, name)

    def _save_next(self) -> None:
        """Store the next save, however often it must be tried, unless more important ones take its place meanwhile."""
        version = None
        while version is None:
            with self._lock:
                if not self._waiting:  # one has given way
                    return
                job = self._waiting.pop(0)
            try:
                version = self._try(job)
            finally:
                if job not in self._waiting:
                    shutil.rmtree(job.snapshot, ignore_errors=True)
        if job.then is not None:
            job.then(version)

    def _try(self, job: _Job) -> CheckpointVersion | None:
        """Store a save; if the storage is away, put it back to those that wait, after a pause, and return None."""
        try:
            version = self._storage.save(job.name, job.snapshot, number=job.number, score=job.score)
        except OSError as error:
            is_lost = isinstance(error, FileNotFoundError) and not job.snapshot.is_dir()
            if is_lost or isinstance(error, FileExistsError):  # trying again would not help
                raise
            self._outage.wait_after(error)
            with self._lock:
                self._waiting.insert(0, job)
                self._drop_one_too_many(job.name)
            return None
        self._outage.end()
        return version

    def _raise_errors(self, futures: list[Future[None]]) -> None:
        """Wait for the futures, forget them, and raise the first error among them; others become log lines."""
        errors = [error for future in futures if (error := future.exception()) is not None]
        self._futures = [future for future in self._futures if future not in futures]
        for error in errors[1:]:
            _logger.error("another upload has failed too: %s", error)
        if errors:
            raise errors[0]


class _Outage:
    """How long a storage has been away, when it is asked again, and when it has been away for too long.

    Used by the thread that asks the storage; ``seconds`` and ``give_up`` also by others.
    """

    def __init__(self, limit: float, address: str) -> None:
        """``limit``: seconds without a success after which the storage's error is raised."""
        self._limit = limit
        self._address = address
        self._began: float | None = None
        self._warned = -_SECONDS_BETWEEN_WARNINGS
        self._pause = GrowingPause(_FIRST_PAUSE, _LONGEST_PAUSE)
        self._is_given_up = threading.Event()

    @property
    def seconds(self) -> float:
        """Seconds since the first failure after the last success; 0 while all is well."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def wait_after(self, error: OSError) -> None:
        """Wait before the next attempt; raise ``error``, with what it means, if there is to be none."""
        now = time.monotonic()
        if self._began is None:
            self._began = now
            self._pause.reset()
        left = self._limit - (now - self._began)
        if left <= 0 or self._is_given_up.is_set():
            raise OSError(
                f"{error}; nothing could be stored for {self.seconds / 60:.0f} min (storage.max_outage_hours): the "
                "results are in the run's folder on this machine, repeat the command there to store them"
            ) from error
        if now - self._warned >= _SECONDS_BETWEEN_WARNINGS:
            self._warned = now
            text = "%s does not take what the run saves; the run goes on and tries again for %.1f h: %s"
            _logger.warning(text, self._address, left / 3600, error)
        self._is_given_up.wait(min(self._pause.next(), left))

    def end(self) -> None:
        """Note that the storage has taken something."""
        if self._began is not None:
            _logger.warning("%s takes what is saved again, after %.0f min", self._address, self.seconds / 60)
        self._began = None
        self._warned = -_SECONDS_BETWEEN_WARNINGS

    def give_up(self) -> None:
        """Wait no longer: the next failure is raised."""
        self._is_given_up.set()


def copy_linked(source: Path, target: Path, *leave_out: str) -> None:
    """Give ``target``, which may exist, the files and folders of ``source`` except those that match a pattern.

    The copy costs no room: files are hard links where the disk allows. That is safe for files that are replaced as a
    whole (written under another name, then renamed), as all of ours are; one that is changed in place changes in both.
    """
    ignore = shutil.ignore_patterns(*leave_out)
    shutil.copytree(source, target, copy_function=_link_or_copy, ignore=ignore, dirs_exist_ok=True)


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        shutil.copy2(source, target)
    return target
