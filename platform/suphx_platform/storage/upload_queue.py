"""Saves that hold nobody up: the queue takes the folder as it is now, and sends it while the work continues."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
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

_logger = logging.getLogger(__name__)


class Save(Protocol):
    """Stores a folder as it is now, with a number."""

    def __call__(self, number: int, then: Callable[[], None] | None = None) -> None:
        """Return at once; raises the error of an earlier call. ``then`` is called when the folder is stored."""
        ...


@dataclass(frozen=True, slots=True)
class _Job:
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
    of the block. Of each name only the newest save waits. If the storage does not answer, the save is retried until the
    storage has been away for ``max_outage_hours`` of its config. Only then is the error raised, by the next call of any
    method. If another writer is in the way, or somebody has removed what waits, the error is raised at once.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._waiting: dict[str, _Job] = {}
        self._is_sending = False
        self._errors: list[Exception] = []
        self._changed = threading.Condition()
        self._order = count()
        self._folders: set[Path] = set()
        self._thread: threading.Thread | None = None
        self._away_since: float | None = None
        """The first failure after the last success."""
        self._is_given_up = threading.Event()
        """Set: the next failure is raised."""

    def save(
        self,
        name: str,
        folder: Path,
        *,
        number: int,
        score: float | None = None,
        then: Callable[[CheckpointVersion], None] | None = None,
    ) -> None:
        """Have ``folder``, as it is now, stored as ``Storage.save`` does; ``then`` is called in the queue's thread."""
        self._raise_errors()
        job = _Job(name, self._new_snapshot(folder), number, score, then)
        with self._changed:
            older = self._waiting.pop(name, None)
            self._waiting[name] = job
            self._changed.notify_all()
        if older is not None:
            _drop(older)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="uploads", daemon=True)
            self._thread.start()

    def flush(self) -> None:
        """Wait until everything is stored; raise the first error."""
        self._wait()
        self._raise_errors()

    def figures(self) -> dict[str, float]:
        """Return the metrics: saves that are not stored yet, and for how long the storage has been away."""
        since = self._away_since
        away = 0.0 if since is None else time.monotonic() - since
        return {"uploads_waiting": float(len(self._waiting) + self._is_sending), "storage_outage_seconds": away}

    def __enter__(self) -> UploadQueue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Store what waits, also when the block has failed: another start resumes from it.

        At the end of a block without an error the queue waits for a storage that is away; after an error, or a stop,
        it tries once more. The error of an upload is raised unless the block has one of its own other than a stop.
        """
        try:
            if error is not None:
                self._is_given_up.set()
            self._wait()
        finally:  # also after Ctrl-C while it waits
            self._is_given_up.set()
        if error is None or isinstance(error, KeyboardInterrupt):
            self._raise_errors()
        for each in self._errors:
            _logger.error("an upload has failed too: %s", each)

    def _wait(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._is_sending)

    def _raise_errors(self) -> None:
        """Raise the first error so far, log the others, and forget all."""
        errors, self._errors = self._errors, []
        for error in errors[1:]:
            _logger.error("another upload has failed too: %s", error)
        if errors:
            raise errors[0]

    def _new_snapshot(self, folder: Path) -> Path:
        place = folder / _SNAPSHOTS
        if folder not in self._folders:
            self._folders.add(folder)
            shutil.rmtree(place, ignore_errors=True)  # of a killed process
        snapshot = place / str(next(self._order))
        copy_linked(folder, snapshot, ".*")
        return snapshot

    # The thread that sends

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))
                job = self._waiting.pop(next(iter(self._waiting)))
                self._is_sending = True
            try:
                self._store(job)
            except Exception as error:  # noqa: BLE001 - the next call raises it
                self._errors.append(error)
            with self._changed:
                self._is_sending = False
                self._changed.notify_all()

    def _store(self, job: _Job) -> None:
        """Store a save, or a newer one of its name that comes while the storage is unavailable."""
        pause = GrowingPause(_FIRST_PAUSE, _LONGEST_PAUSE)
        try:
            while (version := self._try(job, pause)) is None:
                with self._changed:
                    newer = self._waiting.pop(job.name, None)
                if newer is not None:
                    _drop(job)
                    job = newer
        finally:
            shutil.rmtree(job.snapshot, ignore_errors=True)
        if job.then is not None:
            job.then(version)

    def _try(self, job: _Job, pause: GrowingPause) -> CheckpointVersion | None:
        """Store a save; if the storage is unavailable, return None after a pause."""
        try:
            version = self._storage.save(job.name, job.snapshot, number=job.number, score=job.score)
        except OSError as error:
            is_lost = isinstance(error, FileNotFoundError) and not job.snapshot.is_dir()
            if is_lost or isinstance(error, FileExistsError):  # a retry would not help
                raise
            self._wait_after(error, pause)
            return None
        if self._away_since is not None:
            minutes = (time.monotonic() - self._away_since) / 60
            _logger.warning("%s takes what is saved again, after %.0f min", self._storage.config.address, minutes)
        self._away_since = None
        return version

    def _wait_after(self, error: OSError, pause: GrowingPause) -> None:
        """Wait before the next attempt; raise ``error``, with what it means, if there is to be none."""
        now, config = time.monotonic(), self._storage.config
        is_first = self._away_since is None
        began = self._away_since = now if self._away_since is None else self._away_since
        left = began + 3600 * config.max_outage_hours - now
        if left <= 0 or self._is_given_up.is_set():
            raise OSError(
                f"{error}; nothing could be stored for {(now - began) / 60:.0f} min (storage.max_outage_hours): the "
                "results are in the run's folder on this machine, repeat the command there to store them"
            ) from error
        if is_first:
            text = "%s does not take what the run saves; the run continues, and saves are retried for %.1f h: %s"
            _logger.warning(text, config.address, left / 3600, error)
        self._is_given_up.wait(min(pause.next(), left))


def _drop(job: _Job) -> None:
    """Forget a save in whose place a newer one waits."""
    shutil.rmtree(job.snapshot, ignore_errors=True)
    text = "version %d of %s is not stored: uploads are slow, and a newer one is waiting"
    _logger.warning(text, job.number, job.name)


def copy_linked(source: Path, target: Path, *leave_out: str) -> None:
    """Give ``target``, which may exist, the files and folders of ``source`` except those that match a pattern.

    Files are hard links where the disk allows, so the copy takes no space. That is safe for files that are replaced as
    a whole (written under another name, then renamed), as all of ours are; one that is changed in place changes in
    both.
    """
    ignore = shutil.ignore_patterns(*leave_out)
    shutil.copytree(source, target, copy_function=_link_or_copy, ignore=ignore, dirs_exist_ok=True)


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        shutil.copy2(source, target)
    return target
